#!/usr/bin/env bash
# Builds the peer. Needs nothing but cargo, which fetches the crates that Cargo.lock names.
set -euo pipefail
cd "$(dirname "$0")"

cargo build --quiet --release --locked --target-dir build/target
ln -sf target/release/coact-bench-peers build/rust
