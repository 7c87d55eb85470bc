#!/bin/sh
# Starts the virtual machine with as many schedulers as `workers=N` asks for. README.md says why these flags.
workers=1
for argument in "$@"; do
    case $argument in workers=*) workers=${argument#workers=} ;; esac
done
# Where processes are many and small, a heap of 34 words to begin with, not 233, is what a user would ask for.
case "${2-}" in
    skynet* | fibonacci | fork-join-create | spawn) heap=34 ;;
    *) heap=233 ;;
esac
exec erl -noshell -noinput \
    +S "$workers:$workers" +SDcpu 1:1 +SDio 1 +A 1 +P 2000000 +hms "$heap" \
    -pa "$(dirname "$0")/ebin" -s bench main -extra "$@"
