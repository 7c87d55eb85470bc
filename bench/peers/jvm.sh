#!/bin/sh
# Builds a peer on the JVM, in the current folder, into build/NAME; says nothing when there is nothing to do. For its install.sh.
#
#   ../jvm.sh NAME
set -eu
name=$1

missing=
javac -version 2>/dev/null | grep -Eq '^javac (1[7-9]|[2-9][0-9])' || missing="openjdk-17-jdk-headless"
command -v mvn >/dev/null || missing="$missing maven"
if [ -n "$missing" ]; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "$name: needs $missing; install them, or run this as root" >&2
        exit 1
    fi
    echo "$name: installs $missing"
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of packages
    apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

if [ -x "build/$name" ] && [ -z "$(find src pom.xml launcher.sh -newer "build/$name")" ]; then
    exit 0
fi
echo "$name: builds"
rm -rf build
mvn -q -B -Dstyle.color=never package
cp launcher.sh "build/$name"
chmod +x "build/$name"
