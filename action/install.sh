#!/usr/bin/env bash
# Puts the binary in place: a released one with its digest checked, or a build of this action's own source.
# Gives the output `bin`.
set -euo pipefail

root=$PIPELINT_ACTION_PATH
destination=${RUNNER_TEMP:-/tmp}/pipelint-bin
mkdir -p "$destination"
version=${PIPELINT_VERSION:-}
if [ -z "$version" ]; then
  version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
fi

build_from_source() {
  echo "building pipelint from source"
  cargo build --release --locked --quiet --manifest-path "$root/Cargo.toml" --target-dir "$destination/target"
  cp "$destination/target/release/pipelint" "$destination/pipelint"
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
  curl --fail --silent --show-error --location --retry 3 --output "$destination/$archive" "$base/$archive" || return 1
  curl --fail --silent --show-error --location --retry 3 --output "$destination/SHA256SUMS" "$base/SHA256SUMS" || return 1
  # A digest that does not match is an attack or a broken release: never fall back from it.
  if ! (cd "$destination" && grep -F "  $archive" SHA256SUMS | sha256sum --check --status -); then
    echo "::error title=pipelint::the digest of $archive does not match SHA256SUMS; not installed"
    exit 2
  fi
  tar -xzf "$destination/$archive" -C "$destination"
}

if [ "$version" = source ]; then
  build_from_source
elif ! download; then
  echo "no released binary of version $version for this runner"
  build_from_source
fi

bin=$destination/pipelint
[ -x "$bin" ] || bin=$destination/pipelint.exe
"$bin" --version
echo "bin=$bin" >>"$GITHUB_OUTPUT"
