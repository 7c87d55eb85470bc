#!/usr/bin/env bash
# All tests: units, documentation, properties, semantics, must-not-compile, house rules, and those of the benchmarks.
# Arguments are passed on to cargo: ci/test.sh -p coact-core. (Those of the store in PostgreSQL are in ci/postgres.sh.)
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -gt 0 ]; then
    cargo test "$@"
else
    cargo test --workspace --exclude coact-postgres
fi
