#!/bin/sh
# Installs OpenClaw and the Node that it needs, pinned, below .cache/openclaw; does nothing if they
# are there. It takes 850 MB, so it is apart from the other clients.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
there=$here/.cache/openclaw
wanted="openclaw@2026.9.6 node@24.21.0"

if [ "$(cat "$there/installed" 2>/dev/null || true)" = "$wanted" ]; then
  exit 0
fi
if ! command -v npm >/dev/null 2>&1; then
  echo "npm is not installed, so the tests with OpenClaw are skipped" >&2
  exit 0
fi

mkdir -p "$there/home" "$there/tmp"
[ -f "$there/package.json" ] || echo '{"private": true}' >"$there/package.json"
cd "$there"
export HOME="$there/home" TMPDIR="$there/tmp"
npm install --no-audit --no-fund --loglevel=error node@24.21.0
# OpenClaw looks at the Node that installs it.
PATH="$there/node_modules/.bin:$PATH" npm install --no-audit --no-fund --loglevel=error openclaw@2026.9.6
rm -rf "$there/tmp" "$there/home/.npm"
printf '%s' "$wanted" >"$there/installed"
