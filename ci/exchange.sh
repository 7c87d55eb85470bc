#!/usr/bin/env bash
# Runs markets of the exchange; each checks that nothing was made or lost.
set -euo pipefail
cd "$(dirname "$0")/.."

exchange() { cargo run --quiet --package coact-exchange -- "$@"; }

exchange demo --orders 20000
exchange demo --orders 20000 --traders 4 --seed 2
