#!/bin/sh
# Runs the commands; install.sh puts this at build/pekko-persistence. README.md says why these flags.
home=$(dirname "$(readlink -f "$0")")
exec java -Xms1g -Xmx1g -XX:+UseSerialGC \
    -cp "$home/programs.jar:$home/lib/*" coact.peer.persistence.Main "$@"
