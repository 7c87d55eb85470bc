#!/usr/bin/env bash
# Runs markets of the exchange; each checks that nothing was made or lost.
set -euo pipefail
cd "$(dirname "$0")/.."

# As `cargo test --workspace` has built it: see examples.sh.
cargo build --workspace --bins --examples
exchange() { "${CARGO_TARGET_DIR:-target}/debug/exchange" "$@"; }

exchange demo --orders 20000
exchange demo --orders 20000 --traders 4 --seed 2
