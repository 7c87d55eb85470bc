#!/usr/bin/env bash
# Replays a generated ledger, then the same one from a file, each in parallel and line by line, and compares.
set -euo pipefail
cd "$(dirname "$0")/.."

ledger() { cargo run --release --bin ledger -- "$@"; }

ledger --verify
ledger --write - | ledger - --verify
