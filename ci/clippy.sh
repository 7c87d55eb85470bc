#!/usr/bin/env bash
# Does the compiler, and clippy, have nothing to say?
set -euo pipefail
cd "$(dirname "$0")/.."

cargo clippy --workspace --exclude coact-bench --all-targets --all-features -- -D warnings
# The benchmarks' other allocator needs a C++ compiler and cmake, which not every machine has.
cargo clippy --package coact-bench --all-targets -- -D warnings
