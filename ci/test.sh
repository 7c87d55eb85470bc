#!/usr/bin/env bash
# All tests: units, documentation, properties, semantics, must-not-compile, house rules, those of the benchmarks, and those of
# the store in PostgreSQL, if its server is there or can be installed.
# Arguments are passed on to cargo: ci/test.sh -p coact-core.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -gt 0 ]; then
    exec cargo test "$@"
fi
# All packages in one build: alone, each would get features of its own, and the rest would be built once more for it.
if ci/postgres.sh --install; then
    export COACT_POSTGRES_REQUIRED=1
elif [ $? != 1 ]; then
    echo 'the server of PostgreSQL could not be installed' >&2
    exit 1
fi
cargo test --workspace
