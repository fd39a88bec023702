#!/usr/bin/env bash
# Builds the binary and the wheel for $TARGET inside a manylinux or musllinux image, so that both start on systems as old as it.
set -euo pipefail

export CARGO_HOME=/tmp/cargo RUSTUP_HOME=/tmp/rustup PATH=/tmp/cargo/bin:/opt/python/cp311-cp311/bin:$PATH
curl --fail --silent --show-error --proto '=https' https://sh.rustup.rs | sh -s -- -y --profile minimal --default-host "$TARGET" >/dev/null
pip install --quiet "maturin>=1.9,<2"
git config --global --add safe.directory "$PWD"
cargo build --profile dist --locked --target "$TARGET"
maturin build --profile dist --locked --target "$TARGET" --compatibility "$POLICY" --out dist
if ldd "target/$TARGET/dist/pipelint" 2>/dev/null | grep -E 'libz|libssl|libgit2|libpcre'; then
  echo "the binary needs a library that old systems may not have" >&2
  exit 1
fi
