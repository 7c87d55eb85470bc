#!/bin/sh
# Builds the peer on Pekko Persistence into build/; says nothing when there is nothing to do.
set -eu
cd "$(dirname "$0")"

missing=
javac -version 2>/dev/null | grep -Eq '^javac (1[7-9]|[2-9][0-9])' || missing="openjdk-17-jdk-headless"
command -v mvn >/dev/null || missing="$missing maven"
if [ -n "$missing" ]; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "pekko-persistence: needs $missing; install them, or run this as root" >&2
        exit 1
    fi
    echo "pekko-persistence: installs $missing"
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of packages
    apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

if [ -x build/pekko-persistence ] && [ -z "$(find src pom.xml launcher.sh -newer build/pekko-persistence)" ]; then
    exit 0
fi
echo "pekko-persistence: builds"
rm -rf build
mvn -q -B -Dstyle.color=never package
cp launcher.sh build/pekko-persistence
chmod +x build/pekko-persistence
