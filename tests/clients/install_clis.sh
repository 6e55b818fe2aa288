#!/bin/sh
# Installs the agent clients that tests drive, pinned, below .cache/clis; does nothing if they are
# there. Their install scripts and caches stay below that folder too.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
there=${SKILLOPT_SLEEP_TEST_CLIS:-$here/.cache/clis}
wanted="@anthropic-ai/claude-code@2.1.197 @openai/codex@0.171.0 @github/copilot@1.0.102
opencode-ai@1.18.33"

if [ "$(cat "$there/installed" 2>/dev/null || true)" = "$wanted" ]; then
  exit 0
fi
if ! command -v npm >/dev/null 2>&1; then
  echo "npm is not installed, so the tests with real clients are skipped" >&2
  exit 0
fi

mkdir -p "$there/home" "$there/tmp"
[ -f "$there/package.json" ] || echo '{"private": true}' >"$there/package.json"
cd "$there"
# shellcheck disable=SC2086 # one word a package
HOME=$there/home TMPDIR=$there/tmp npm install --no-audit --no-fund --loglevel=error $wanted
rm -rf "$there/tmp" "$there/home/.npm"
printf '%s' "$wanted" >"$there/installed"
