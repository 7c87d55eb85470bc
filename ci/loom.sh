#!/usr/bin/env bash
# Model-checks the lock-free code: every interleaving, and every value that a load may see.
# Arguments pick models by name: ci/loom.sh append
set -euo pipefail
cd "$(dirname "$0")/.."

# A target folder of its own, or each change of the flag would rebuild everything.
export RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
export LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-3}"
for crate in coact-sync coact-core; do
    cargo test --release --package "$crate" --lib -- "$@"
done
