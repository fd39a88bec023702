#!/usr/bin/env bash
# Says which revisions to compare and makes sure that their merge base is here, also in a shallow checkout.
# Gives the output `range`.
set -euo pipefail

base=${PIPELINT_BASE:-}
head=${PIPELINT_HEAD:-}
if [ -z "$base" ]; then base=${PIPELINT_PR_BASE_SHA:-}; fi
if [ -z "$head" ]; then head=${PIPELINT_PR_HEAD_SHA:-HEAD}; fi
if [ -z "$base" ]; then
  echo "::error title=pipelint::no base to compare with: run on pull_request, or set the input base"
  exit 2
fi
case "$base$head" in
  -* | *[[:space:]]* | *..*)
    echo "::error title=pipelint::a revision must be a plain name, without spaces or dots in a row"
    exit 2
    ;;
esac

have() { git rev-parse --quiet --verify "$1^{commit}" >/dev/null 2>&1; }
have "$base" || git fetch --quiet --no-tags --depth=50 origin "$base" || true
have "$head" || git fetch --quiet --no-tags --depth=50 origin "$head" || true
# A name that only the remote knows is fetched as FETCH_HEAD; branch names are looked up under origin too.
if ! have "$base" && have "origin/$base"; then base=origin/$base; fi

depth=100
while ! git merge-base "$base" "$head" >/dev/null 2>&1; do
  if [ "$(git rev-parse --is-shallow-repository)" != true ]; then
    echo "::error title=pipelint::the two revisions have no common ancestor here; check out with fetch-depth: 0"
    exit 2
  fi
  if [ "$depth" -gt 10000 ]; then
    git fetch --quiet --no-tags --unshallow origin
  else
    git fetch --quiet --no-tags --deepen="$depth" origin
  fi
  depth=$((depth * 4))
done

echo "range=$base...$head" >>"$GITHUB_OUTPUT"
