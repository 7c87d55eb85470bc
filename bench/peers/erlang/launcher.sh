#!/bin/sh
# Starts the virtual machine with as many schedulers as `workers=N` asks for. README.md says why these flags.
workers=1
for argument in "$@"; do
    case $argument in workers=*) workers=${argument#workers=} ;; esac
done
exec erl -noshell -noinput \
    +S "$workers:$workers" +SDcpu 1:1 +SDio 1 +A 1 +P 2000000 +sbwt none +sbwtdcpu none +sbwtdio none \
    -pa "$(dirname "$0")/ebin" -s bench main -extra "$@"
