#!/usr/bin/env bash
# Model-checks the lock-free code: every interleaving, and every value that a load may see.
# Arguments pick models by name: ci/loom.sh append
set -euo pipefail
cd "$(dirname "$0")/.."

# A target folder of its own, or each change of the flag would rebuild everything.
export RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
# Bounds are set in the models; LOOM_MAX_PREEMPTIONS=n sets another, COACT_LOOM_LONG=1 adds long ones.
cargo test --release --package coact-sync --lib -- "$@"
cargo test --release --package coact-core --lib -- "${@:-loom}"
# The models of the actors need no runtime.
cargo test --release --package coact-actor --lib -- "${@:-loom::}"
