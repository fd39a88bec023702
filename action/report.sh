#!/usr/bin/env bash
# Runs pipelint once and keeps every report. Gives the outputs `exit-code`, `worst`, `clear`, `json`, `sarif`, `markdown`. `clear` is true
# where nothing happens to any table and there is nothing to read: a note alone is no reason for a comment.
set -euo pipefail

reports=${RUNNER_TEMP:-/tmp}/pipelint-reports
mkdir -p "$reports"
args=(diff "$PIPELINT_RANGE" --fail-on "${PIPELINT_FAIL_ON:-error}"
  --format "json=$reports/pipelint.json" --format "sarif=$reports/pipelint.sarif" --format "markdown=$reports/pipelint.md")
if [ -n "${PIPELINT_TARGET:-}" ]; then args+=(--target "$PIPELINT_TARGET"); fi
if [ -n "${PIPELINT_PLATFORM:-}" ]; then args+=(--platform "$PIPELINT_PLATFORM"); fi
if [ -n "${PIPELINT_BASELINE:-}" ]; then args+=(--baseline "$PIPELINT_BASELINE"); fi
if [ "${PIPELINT_ANNOTATIONS:-true}" = true ]; then args+=(--format github); else args+=(--format text); fi

code=0
if [ "${PIPELINT_ANNOTATIONS:-true}" = true ]; then
  "$PIPELINT_BIN" "${args[@]}" || code=$?
else
  # Nothing in the report's text may be read as a workflow command.
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  echo "::stop-commands::$token"
  "$PIPELINT_BIN" "${args[@]}" || code=$?
  echo "::$token::"
fi

worst=none
clear=false
if [ -s "$reports/pipelint.json" ]; then
  worst=$(jq -r '.summary.worst // "none"' "$reports/pipelint.json")
  clear=$(jq -r '
    (.summary.worst | IN("none", "ignored"))
    and all((.findings + (.script_findings // []))[]; .severity == "note")
    and all(.diagnostics[]; .level != "error")
    and .summary.contradicted == 0
    and .refresh_plan.lossy == [] and .refresh_plan.blocked == []' "$reports/pipelint.json")
fi
if [ -s "$reports/pipelint.md" ]; then
  # A job summary holds 1 MiB at most.
  head -c 1000000 "$reports/pipelint.md" >>"$GITHUB_STEP_SUMMARY"
fi
{
  echo "exit-code=$code"
  echo "worst=$worst"
  echo "clear=$clear"
  echo "json=$reports/pipelint.json"
  echo "sarif=$reports/pipelint.sarif"
  echo "markdown=$reports/pipelint.md"
} >>"$GITHUB_OUTPUT"
