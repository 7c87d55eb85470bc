#!/usr/bin/env bash
# Runs the tests of the tuples in Miri, an interpreter that checks each access to memory. Some five minutes.
#
#   rustup toolchain install nightly --component miri,rust-src
#   ci/miri.sh [TEST]
set -euo pipefail
cd "$(dirname "$0")/.."

cargo +nightly miri test --package coact-tuple --lib -- "${1:-tests}"
