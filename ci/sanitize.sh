#!/usr/bin/env bash
# Runs the stress tests and the suites under a sanitizer.
#
#   ci/sanitize.sh thread [SECONDS]     data races
#   ci/sanitize.sh address [SECONDS]    memory errors and leaks
#
# Needs nothing but the pinned toolchain: the unstable flag is unlocked for this build. The standard
# library is not instrumented (that would need its sources), which ci/thread-sanitizer.supp makes up
# for. The pool hides memory errors from the address sanitizer, so it is switched off there.
set -euo pipefail
cd "$(dirname "$0")/.."

sanitizer=${1:-}
seconds=${2:-8}
flags="-Zsanitizer=$sanitizer -Cunsafe-allow-abi-mismatch=sanitizer -Cforce-frame-pointers=yes"
case $sanitizer in
thread)
    # Locks that the sanitizer can see through: crates/sync/src/shim/lock_traced.rs.
    flags="$flags --cfg coact_tsan"
    export TSAN_OPTIONS="suppressions=$PWD/ci/thread-sanitizer.supp second_deadlock_stack=1"
    ;;
address)
    flags="$flags --cfg coact_no_pool --cfg coact_asan"
    export LSAN_OPTIONS="suppressions=$PWD/ci/leak-sanitizer.supp"
    export ASAN_OPTIONS="detect_stack_use_after_return=1:detect_leaks=1"
    ;;
*)
    echo "usage: ci/sanitize.sh thread|address [SECONDS]" >&2
    exit 2
    ;;
esac

# With a target of its own the flags are for the code under test only, not for build scripts.
target=$(rustc -vV | sed -n 's/^host: //p')
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="$flags" COACT_STRESS_SECONDS="$seconds"
export PROPTEST_CASES="${PROPTEST_CASES:-64}"
run() {
    cargo test --locked --no-fail-fast --target "$target" --target-dir "target/sanitize-$sanitizer" -p coact-tests "$@"
}
run --test stress --test listings --test leaks --test actors -- --skip deterministic
# These lock, and end their threads, with the standard library, and bring tokio: the thread sanitizer
# takes that for races.
if [ "$sanitizer" = address ]; then
    run --test semantics
    # Nobody tells the sanitizer that a fiber begins on a stack that was another's.
    run --test model -- --skip deterministic
    COACT_TEST_SIMULATED=0 run --test programs -- --skip every_scheduler
    # The sanitizer makes frames larger, and answers a stack without measure itself.
    run --test runtime -- --skip stacks_are_as_large --skip the_system_refuses
fi
