#!/usr/bin/env bash
# Model-checks the lock-free code: every interleaving, and every value that a load may see.
# Arguments pick models by name: ci/loom.sh append
set -euo pipefail
cd "$(dirname "$0")/.."

# A target folder of its own, or each change of the flag would rebuild everything.
export RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
# What optimizes across crates takes longer to build than it saves.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
# loom maps new stacks for each run, and models that share a process wait for each other's: they take twice as long.
runner="target.'cfg(all())'.runner='$PWD/ci/each-alone.sh'"
# Bounds are set in the models; LOOM_MAX_PREEMPTIONS=n sets another, COACT_LOOM_LONG=1 adds long ones.
cargo test --config "$runner" --release --package coact-sync --lib -- "$@"
cargo test --config "$runner" --release --package coact-core --lib -- "${@:-loom}"
# The models of the actors need no runtime.
cargo test --config "$runner" --release --package coact-actor --lib -- "${@:-loom::}"
