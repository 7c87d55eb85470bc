#!/usr/bin/env bash
# Has a hot path become dearer? Counts instructions and atomic read-modify-writes an operation, and compares them with
# bench/instructions.txt; fails if one has grown by more than 2 %. docs/benchmarks.md, "Instructions".
# Arguments are those of the tool: ci/instructions.sh cown-ring --write
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v valgrind >/dev/null; then
    echo 'skipped: valgrind is not here, which counts the instructions'
    exit 0
fi
cargo run --release --package coact-bench -- instructions "$@"
