#!/bin/sh
# Builds the peer on Pekko Persistence into build/; says nothing when there is nothing to do.
set -eu
cd "$(dirname "$0")"
exec sh ../jvm.sh pekko-persistence
