#!/bin/sh
# Builds the Pekko peer into build/; says nothing when there is nothing to do.
set -eu
cd "$(dirname "$0")"
exec sh ../jvm.sh pekko
