#!/usr/bin/env bash
# Builds the peer. Needs nothing but cargo, and a C compiler for SQLite.
set -euo pipefail
cd "$(dirname "$0")"

cargo build --quiet --release --locked --target-dir build/target
ln -sf target/release/coact-bench-sql build/sql
