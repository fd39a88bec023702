#!/usr/bin/env bash
# Packs the binary of a target with its licences: dist/pipelint-VERSION-TARGET.tar.gz. A tag must be Cargo.toml's version.
set -euo pipefail

target=$1
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
case "${GITHUB_REF_NAME:-}" in
  v[0-9]*) [ "$GITHUB_REF_NAME" = "v$version" ] || { echo "::error::the tag $GITHUB_REF_NAME is not Cargo.toml's version $version"; exit 1; } ;;
esac
contents=$(mktemp -d)
binary=target/$target/dist/pipelint
[ -f "$binary" ] || binary=$binary.exe
cp "$binary" LICENSE-MIT LICENSE-APACHE README.md packaging/THIRD-PARTY.md "$contents/"
mkdir -p dist
tar -czf "dist/pipelint-$version-$target.tar.gz" -C "$contents" .
