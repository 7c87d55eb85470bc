#!/usr/bin/env bash
# The suites of behaviours and simulations once more, with the code that release builds have: compiled for each closure, and not
# shared by them (crates/core/src/code_sharing.rs). Sanitizers, loom and Miri have that code, too.
set -euo pipefail
cd "$(dirname "$0")/.."

# For this one crate, so that what others have written is not built again; and for the workspace, as in test.sh.
cargo test --workspace --config 'profile.dev.package.coact-core.debug-assertions=false' \
    --test semantics --test model --test programs --test simulation --test sim --test sim_failures --test sim_reports
