#!/usr/bin/env bash
# Moves v1 and v1.2 to the commit of v1.2.3, for who writes `uses: …@v1`. Needs gh with a token that may write.
set -euo pipefail

tag=$1 commit=$2
[[ $tag =~ ^v([0-9]+)\.([0-9]+)\.[0-9]+$ ]] || { echo "$tag is no version"; exit 1; }
for moving in "v${BASH_REMATCH[1]}" "v${BASH_REMATCH[1]}.${BASH_REMATCH[2]}"; do
  if gh api "repos/$GITHUB_REPOSITORY/git/ref/tags/$moving" >/dev/null 2>&1; then
    gh api --method PATCH "repos/$GITHUB_REPOSITORY/git/refs/tags/$moving" -f "sha=$commit" -F force=true >/dev/null
  else
    gh api --method POST "repos/$GITHUB_REPOSITORY/git/refs" -f "ref=refs/tags/$moving" -f "sha=$commit" >/dev/null
  fi
  echo "$moving → $commit"
done
