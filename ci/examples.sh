#!/usr/bin/env bash
# Builds the examples and runs each; every one of them checks its own result.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --package coact-examples --examples
for source in examples/[0-9]*.rs; do
    name=$(basename "$source" .rs)
    echo "-- $name"
    cargo run --quiet --package coact-examples --example "$name"
done
