#!/usr/bin/env bash
# Builds the examples and runs each; every one of them checks its own result.
set -euo pipefail
cd "$(dirname "$0")/.."

# As `cargo test --workspace` has built them: for one package alone all would be built again, with fewer features.
cargo build --workspace --bins --examples
for source in examples/[0-9]*.rs; do
    name=$(basename "$source" .rs)
    echo "-- $name"
    "${CARGO_TARGET_DIR:-target}/debug/examples/$name"
done
