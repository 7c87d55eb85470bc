#!/usr/bin/env bash
# Does every benchmark still run, and does every implementation still compute the right thing?
# At this size the figures mean nothing; docs/performance.md says how to measure.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo run --release --package coact-bench -- run --scale 0.001 --runs 1 --peers all
