#!/usr/bin/env bash
# Is the documentation free of broken links and examples without an end?
set -euo pipefail
cd "$(dirname "$0")/.."

RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
