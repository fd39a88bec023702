#!/usr/bin/env bash
# Puts the binary in place: `download` takes a released one with its digest checked, `build` this action's own source.
# Gives the output `bin`; where nothing is released, `download` gives `key` instead: what a cached build is kept under.
set -euo pipefail

root=$PIPELINT_ACTION_PATH
destination=${RUNNER_TEMP:-/tmp}/pipelint-bin
mkdir -p "$destination"
version=${PIPELINT_VERSION:-}
if [ -z "$version" ]; then
  version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
fi

# Linux has sha256sum, macOS shasum.
digest() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

found() {
  local bin=$destination/pipelint
  [ -x "$bin" ] || bin=$destination/pipelint.exe
  "$bin" --version
  echo "bin=$bin" >>"$GITHUB_OUTPUT"
}

build() {
  if [ -x "$destination/pipelint" ] || [ -x "$destination/pipelint.exe" ]; then
    echo "taking pipelint from the cache"
    return
  fi
  if ! command -v cargo >/dev/null 2>&1; then
    echo "::error title=pipelint::no released binary for this runner, and no cargo to build one; install Rust in an earlier step"
    exit 2
  fi
  echo "building pipelint from the source of this action: some minutes now, none once it is cached"
  cargo build --release --locked --manifest-path "$root/Cargo.toml" --target-dir "${RUNNER_TEMP:-/tmp}/pipelint-target"
  cp "${RUNNER_TEMP:-/tmp}"/pipelint-target/release/pipelint{,.exe} "$destination/" 2>/dev/null || true
}

download() {
  case "${RUNNER_OS:-Linux}-${RUNNER_ARCH:-X64}" in
    Linux-X64) target=x86_64-unknown-linux-gnu ;;
    Linux-ARM64) target=aarch64-unknown-linux-gnu ;;
    macOS-X64) target=x86_64-apple-darwin ;;
    macOS-ARM64) target=aarch64-apple-darwin ;;
    Windows-X64) target=x86_64-pc-windows-msvc ;;
    *) return 1 ;;
  esac
  archive=pipelint-$version-$target.tar.gz
  base=${PIPELINT_RELEASES:-${GITHUB_SERVER_URL:-https://github.com}/pipelint/pipelint/releases/download}/v$version
  curl --fail --silent --location --retry 3 --output "$destination/$archive" "$base/$archive" || return 1
  curl --fail --silent --location --retry 3 --output "$destination/SHA256SUMS" "$base/SHA256SUMS" || return 1
  # A digest that does not match is an attack or a broken release: never fall back from it.
  wanted=$(awk -v name="$archive" '$2 == name { print $1 }' "$destination/SHA256SUMS")
  if [ -z "$wanted" ] || [ "$(digest <"$destination/$archive" | cut -d' ' -f1)" != "$wanted" ]; then
    echo "::error title=pipelint::the digest of $archive does not match SHA256SUMS; not installed"
    exit 2
  fi
  tar -xzf "$destination/$archive" -C "$destination"
}

case "$1" in
  build)
    build
    found
    ;;
  download)
    if [ "$version" != source ] && download; then
      found
    else
      [ "$version" = source ] || echo "pipelint $version is not released for this runner"
      sources=$(cd "$root" && find Cargo.toml Cargo.lock src rules demo schema -type f | LC_ALL=C sort)
      key=$(cd "$root" && while IFS= read -r file; do digest "$file"; done <<<"$sources" | digest | cut -c1-32)
      echo "key=pipelint-${RUNNER_OS:-Linux}-${RUNNER_ARCH:-X64}-$key" >>"$GITHUB_OUTPUT"
    fi
    ;;
esac
