#!/usr/bin/env bash
# Replays the ledger that ships with the project, in parallel and line by line, and compares.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo run --release -- ledger data/ledger.csv --verify
