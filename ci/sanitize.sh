#!/usr/bin/env bash
# Runs all suites under a sanitizer, or under both, one after the other.
#
#   ci/sanitize.sh                      both
#   ci/sanitize.sh thread [SECONDS]     data races
#   ci/sanitize.sh address [SECONDS]    memory errors and leaks
#
# SECONDS is how long each stress test, and the random programs, go on (8 unless said).
#
# Needs nothing but the pinned toolchain: the unstable flag is unlocked for this build. The standard
# library is not instrumented (that would need its sources), which ci/thread-sanitizer.supp makes up
# for. The pool hides memory errors from the address sanitizer, so it is switched off there.
set -uo pipefail
cd "$(dirname "$0")/.."

sanitizer=${1:-both}
seconds=${2:-8}
flags="-Zsanitizer=$sanitizer -Cunsafe-allow-abi-mismatch=sanitizer -Cforce-frame-pointers=yes"
# The code that release builds have: crates/core/src/code_sharing.rs.
flags="$flags --cfg coact_inlined"
case $sanitizer in
both)
    "$0" thread "$seconds"
    thread=$?
    "$0" address "$seconds"
    address=$?
    exit $((thread | address))
    ;;
thread)
    # Locks that the sanitizer can see through: crates/sync/src/shim/lock_traced.rs.
    flags="$flags --cfg coact_tsan"
    export TSAN_OPTIONS="suppressions=$PWD/ci/thread-sanitizer.supp second_deadlock_stack=1"
    # Nobody tells this sanitizer of fibers, and in a simulation there is one thread: one run each will do.
    export COACT_SIM_RUNS=1 COACT_TEST_SIMULATED=0
    ;;
address)
    flags="$flags --cfg coact_no_pool --cfg coact_asan"
    export LSAN_OPTIONS="suppressions=$PWD/ci/leak-sanitizer.supp"
    export ASAN_OPTIONS="detect_stack_use_after_return=1:detect_leaks=1"
    ;;
*)
    echo "usage: ci/sanitize.sh [thread|address|both [SECONDS]]" >&2
    exit 2
    ;;
esac

# With a target of its own the flags are for the code under test only, not for build scripts.
target=$(rustc -vV | sed -n 's/^host: //p')
# Backtraces, and what tests print if it is captured, are under locks of the standard library that are not seen.
export RUST_BACKTRACE=0 RUST_TEST_NOCAPTURE=1
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="$flags" COACT_STRESS_SECONDS="$seconds" COACT_PROGRAMS_SECONDS="$seconds"
export PROPTEST_CASES="${PROPTEST_CASES:-64}"
failed=()
run() {
    local package=$1
    shift
    if ! cargo test --locked --no-fail-fast --target "$target" --target-dir "target/sanitize-$sanitizer" \
        -p "$package" "$@"; then
        failed+=("$package $*")
    fi
}

# The suites, all but those that only compile (`ui`, `auto_traits`), and those that measure time, memory or threads,
# which a sanitizer changes (`idle`, `fan_out`, `scale`, `surplus`, `endings`).
#
# Left out by name: chains and stacks that are as deep or small as they can be, since the sanitizers make
# frames larger, and systems that refuse a thread, since they answer for those themselves. Simulated runs that fail
# come below.
run coact-tests --test stress --test listings --test leaks --test macros --test field --test outside
run coact-tests --test semantics --test runtime --test actors -- \
    --skip depth:: --skip stacks_are_as_large --skip the_system_refuses --skip deterministic \
    --skip failed_runs::
run coact-tests --test model --test programs -- --skip deterministic --skip every_scheduler
run coact-sync --lib
if [ "$sanitizer" = thread ]; then
    # It answers for those faults, and for mappings that the system refuses.
    run coact-fiber --lib -- --skip overflows --skip memory_that --skip too_many
else
    run coact-fiber --lib
fi
if [ "$sanitizer" = address ]; then
    # (The other one does not see the locks of std, which durable actors use.)
    COACT_TEST_SIMULATED=0 run coact-tests --test durable --test cache -- --skip simulat
    run coact-persist --features conformance --test memory --test formats
    run coact-sqlite --test sqlite --test killed --test power
    # Simulations in full.
    run coact-core --features sim --test sim
    run coact-core --features sim --lib
    run coact-sim --test strategies
    # Runs that fail leave behind what is on the stacks of those who were stuck: looked at for all but leaks.
    ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
    run coact-core --features sim --test sim_failures --test sim_reports
    run coact-tests --test actors -- failed_runs::
fi

if [ ${#failed[@]} -gt 0 ]; then
    printf '%s sanitizer: FAILED: %s\n' "$sanitizer" "${failed[@]}" >&2
    exit 1
fi
echo "$sanitizer sanitizer: all passed"
