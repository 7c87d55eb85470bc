#!/usr/bin/env bash
# The house rules: layers, orderings with an argument, links and sections that exist, names and prose, a
# test for each promise.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo test --quiet --package coact-xtask
