#!/usr/bin/env bash
# Says which revisions to compare and makes sure that their history is here, also in a shallow checkout of a private repository.
# Gives the output `range`.
#
#   pull_request, pull_request_target   base...head of the pull request, also from a fork
#   merge_group                         base...head of the group in the queue
#   push                                before..after; a new branch: default branch...head
#   everything else                     default branch...head; on the default branch itself: its last commit
set -euo pipefail

zero=0000000000000000000000000000000000000000
base=${PIPELINT_BASE:-}
head=${PIPELINT_HEAD:-}
dots=...
fetch_into=
case "${PIPELINT_EVENT:-}" in
  merge_group)
    event_base=${PIPELINT_QUEUE_BASE_SHA:-} event_head=${PIPELINT_QUEUE_HEAD_SHA:-}
    ;;
  push)
    event_base=${PIPELINT_PUSH_BEFORE:-} event_head=${PIPELINT_PUSH_AFTER:-}
    # What was deployed is the old tip itself.
    if [ -z "$base" ]; then dots=..; fi
    if [ "$event_base" = $zero ]; then event_base='' dots=...; fi
    if [ "$event_head" = $zero ]; then
      echo "::error title=pipelint::the branch was deleted: there is nothing to judge"
      exit 2
    fi
    ;;
  *)
    event_base=${PIPELINT_PR_BASE_SHA:-} event_head=${PIPELINT_PR_HEAD_SHA:-}
    ;;
esac
if [ -z "$base" ]; then base=$event_base; fi
if [ -z "$head" ]; then head=${event_head:-HEAD}; fi
case "$base$head${PIPELINT_DEFAULT_BRANCH:-}" in
  -* | *[[:space:]]* | *..* | *:*)
    echo "::error title=pipelint::a revision must be a plain name, without spaces, colons or dots in a row"
    exit 2
    ;;
esac

# The token goes to git by its environment, so that no process list and no configuration file shows it. A checkout that keeps its
# credentials needs none.
if [ -n "${PIPELINT_TOKEN:-}" ] && url=$(git remote get-url origin 2>/dev/null) && [[ $url == http* ]] &&
  ! git config --get-regexp '^http\..*\.extraheader$' >/dev/null; then
  server=$(sed -E 's#^(https?://)([^/@]*@)?([^/]+).*#\1\3/#' <<<"$url")
  export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="http.$server.extraheader"
  GIT_CONFIG_VALUE_0="AUTHORIZATION: basic $(printf 'x-access-token:%s' "$PIPELINT_TOKEN" | base64 | tr -d '\n')"
  export GIT_CONFIG_VALUE_0
fi
export GIT_TERMINAL_PROMPT=0

have() { git rev-parse --quiet --verify "$1^{commit}" >/dev/null 2>&1; }
fetch() { git fetch --quiet --no-tags "$@"; }

if [ -z "$base" ]; then
  fetch_into=${PIPELINT_DEFAULT_BRANCH:-}
  if [ -z "$fetch_into" ]; then
    echo "::error title=pipelint::no base to compare with: run on pull_request, merge_group or push, or set the input base"
    exit 2
  fi
  base=origin/$fetch_into
  fetch --depth=50 origin "+refs/heads/$fetch_into:refs/remotes/origin/$fetch_into" || true
fi
have "$base" || fetch --depth=50 origin "$base" || true
have "$head" || fetch --depth=50 origin "$head" || true
# A branch that only the remote knows.
if ! have "$base"; then
  fetch --depth=50 origin "+refs/heads/$base:refs/remotes/origin/$base" 2>/dev/null || true
  if have "origin/$base"; then base=origin/$base; fi
fi
for revision in "$base" "$head"; do
  if ! have "$revision"; then
    if [ "${PIPELINT_EVENT:-}" = push ] && [ "$revision" = "$base" ]; then
      # A forced push: the old tip may be gone from the server.
      echo "::error title=pipelint::the pushed-over commit $revision is gone; set the input base, or run on pull_request"
    else
      echo "::error title=pipelint::the revision $revision cannot be fetched; give the input token, or check out with fetch-depth: 0"
    fi
    exit 2
  fi
done
base_id=$(git rev-parse "$base^{commit}")
head_id=$(git rev-parse "$head^{commit}")

# On the default branch itself the last commit is judged.
if [ -n "$fetch_into" ] && [ "$base_id" = "$head_id" ]; then
  have "$head_id~1" || fetch --deepen=1 origin "$head_id" || true
  if have "$head_id~1"; then base=$head~1 base_id=$(git rev-parse "$head_id~1"); fi
fi

depth=100
while [ $dots = ... ] && ! git merge-base "$base_id" "$head_id" >/dev/null 2>&1; do
  if [ "$(git rev-parse --is-shallow-repository)" != true ]; then
    echo "::error title=pipelint::the two revisions have no common ancestor"
    exit 2
  fi
  # By their ids: a checkout of one commit fetches no branch by itself.
  if [ "$depth" -gt 10000 ]; then
    fetch --unshallow origin "$base_id" "$head_id"
  else
    fetch --deepen="$depth" origin "$base_id" "$head_id"
  fi
  depth=$((depth * 4))
done

echo "range=$base$dots$head" >>"$GITHUB_OUTPUT"
