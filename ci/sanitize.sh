#!/usr/bin/env bash
# Runs tests under a sanitizer: ci/sanitize.sh address|thread [arguments of cargo test]
#
# By default the core's own tests and, where they exist, the stress suites. The standard library is not
# instrumented, so ThreadSanitizer can report races inside of it (channels, for one) that are none.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:?address or thread}
shift
host=$(rustc -vV | sed -n 's/^host: //p')
flags="-Zsanitizer=$kind"
case $kind in
    # The pool would hide what happens to its blocks.
    address) flags="$flags --cfg coact_no_pool" ;;
    thread) flags="$flags --cfg coact_no_pool -Cunsafe-allow-abi-mismatch=sanitizer" ;;
    *) echo "no such sanitizer: $kind" >&2; exit 2 ;;
esac

# Sanitizers are not stable; this variable makes the stable compiler take the flag.
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="${RUSTFLAGS:-} $flags"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/$kind"
# With a target named, build scripts and macros are built without the sanitizer.
if [ $# -gt 0 ]; then
    cargo test --target "$host" "$@"
else
    cargo test --target "$host" --package coact-sync --package coact-core --lib --tests
    if cargo metadata --no-deps --format-version 1 | grep -q '"name":"coact-tests"'; then
        cargo test --target "$host" --package coact-tests --test stress
    fi
fi
