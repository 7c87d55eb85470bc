#!/usr/bin/env bash
# Runs the tests of a binary, each in a process of its own, one a processor at a time, and says how long each took.
# For cargo, as a `runner`: ci/each-alone.sh BINARY [ARGUMENTS FOR ITS TESTS].
set -euo pipefail

if [ "${1-}" = --one ]; then
    began=$(date +%s%N)
    if ! output=$("$2" --exact "$3" --test-threads 1 "${@:4}" 2>&1); then
        printf '%s\n' "$output"
        exit 1
    fi
    took=$((($(date +%s%N) - began) / 10000000))
    printf '%5d.%02d s  %s\n' $((took / 100)) $((took % 100)) "$3"
    exit 0
fi

binary=$1
shift
tests=$("$binary" "$@" --list --format terse | sed -n 's/: test$//p')
[ -n "$tests" ] || { echo 'none of its tests has such a name'; exit 0; }
if printf '%s\n' "$tests" | xargs -d '\n' -P "$(nproc)" -n 1 "$0" --one "$binary"; then
    printf '\n%d passed, 0 failed\n\n' "$(wc -l <<<"$tests")"
else
    echo 'some of these have failed; each says why above' >&2
    exit 1
fi
