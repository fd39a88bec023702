#!/usr/bin/env bash
# Builds the documentation with mdBook into target/docs: the chapters of docs/src, and a page a rule generated from rules/.
set -euo pipefail
cd "$(dirname "$0")/.."

book=target/docs-book
rm -rf "$book"
mkdir -p "$book"
cp -r docs/book.toml docs/src "$book/"
cargo run --quiet -- rules --markdown "$book/src/rules"
# mdBook renders what its summary names: the rules below their categories.
for folder in "$book"/src/rules/*/; do
  echo "  - [$(basename "$folder")]()" >>"$book/src/SUMMARY.md"
  for page in "$folder"*.md; do
    echo "    - [$(basename "$page" .md)](${page#"$book/src/"})" >>"$book/src/SUMMARY.md"
  done
done
mdbook build "$book" --dest-dir "$PWD/target/docs"
