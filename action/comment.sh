#!/usr/bin/env bash
# Keeps one comment on the pull request up to date: found by a hidden marker, edited in place, never more than one.
# A clean run edits an existing comment to "all clear" and starts none. Without a token that may write (a fork), it says so.
set -euo pipefail

marker='<!-- pipelint:report -->'
limit=65000
api=${GITHUB_API_URL:-https://api.github.com}/repos/$GITHUB_REPOSITORY
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The token goes to curl by a file, so that no process list shows it.
printf 'header = "Authorization: Bearer %s"\nheader = "Accept: application/vnd.github+json"\nheader = "X-GitHub-Api-Version: 2022-11-28"\n' \
  "${GITHUB_TOKEN:-}" >"$scratch/curl.conf"
chmod 600 "$scratch/curl.conf"
call() { curl --config "$scratch/curl.conf" --silent --show-error --fail --retry 2 "$@"; }

if [ "${PIPELINT_FORK:-}" = true ]; then
  echo "::notice title=pipelint::a pull request from a fork has no token that may comment; see the job summary"
  exit 0
fi

existing=
page=1
while [ -z "$existing" ]; do
  if ! call "$api/issues/$PIPELINT_PR_NUMBER/comments?per_page=100&page=$page" >"$scratch/comments.json"; then
    echo "::notice title=pipelint::the comments of this pull request cannot be read with this token; see the job summary"
    exit 0
  fi
  # Only a comment of a bot or app counts: anybody can paste the marker.
  existing=$(jq -r --arg marker "$marker" \
    '[.[] | select((.body // "") | startswith($marker)) | select(.user.type == "Bot") | .id] | first // empty' "$scratch/comments.json")
  count=$(jq length "$scratch/comments.json")
  [ "$count" -eq 100 ] || break
  page=$((page + 1))
done

if [ "${PIPELINT_EXIT_CODE:-2}" -eq 0 ] && [ "${PIPELINT_CLEAR:-false}" = true ]; then
  [ -n "$existing" ] || exit 0
  printf '%s\n**pipelint: all clear.** Nothing in this pull request changes what happens to data that is already there.\n' "$marker" >"$scratch/body.md"
elif [ -s "$PIPELINT_MARKDOWN" ]; then
  { echo "$marker"; cat "$PIPELINT_MARKDOWN"; } >"$scratch/body.md"
else
  printf '%s\n**pipelint could not judge this pull request.** See the log of the job.\n' "$marker" >"$scratch/body.md"
fi

jq --raw-input --slurp --argjson limit "$limit" \
  '{body: (if length > $limit then .[0:($limit - 200)] + "\n\n…\n\n_Cut here; the whole report is in the job summary._\n" else . end)}' \
  "$scratch/body.md" >"$scratch/payload.json"

if [ -n "$existing" ]; then
  call --request PATCH --data @"$scratch/payload.json" "$api/issues/comments/$existing" >/dev/null
else
  call --request POST --data @"$scratch/payload.json" "$api/issues/$PIPELINT_PR_NUMBER/comments" >/dev/null
fi || echo "::notice title=pipelint::this token may not comment; see the job summary"
