#!/bin/sh
# Runs the programs; install.sh puts this at build/pekko. README.md says why these flags.
home=$(dirname "$(readlink -f "$0")")
exec java -server -Xms4g -Xmx4g -XX:+UseParallelGC \
    -cp "$home/programs.jar:$home/lib/*" coact.peer.Main "$@"
