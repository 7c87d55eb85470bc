#!/bin/sh
# Runs the programs; install.sh puts this at build/pekko. README.md says why these flags.
home=$(dirname "$(readlink -f "$0")")
exec java -Xms4g -Xmx4g -Xmn2g -XX:+UseSerialGC \
    -cp "$home/programs.jar:$home/lib/*" coact.peer.Main "$@"
