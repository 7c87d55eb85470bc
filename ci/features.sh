#!/usr/bin/env bash
# Does the facade build with each combination of its features?
set -euo pipefail
cd "$(dirname "$0")/.."

# `dynamic` and `durable` imply `macros`, and that `actors`, as `cache` does.
for features in '' actors macros dynamic sim actors,sim macros,sim durable cache dynamic,sim durable,sim cache,sim; do
    echo "coact with: ${features:-nothing}"
    cargo clippy --quiet --package coact --no-default-features --features "$features" -- -D warnings
done
echo 'the bank with: postgres'
cargo clippy --quiet --package coact-bank --features postgres -- -D warnings
