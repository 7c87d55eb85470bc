#!/bin/sh
# Installs Go through apt where it is missing (that needs root), and builds this peer into build/. Any Go from 1.19 on
# will do (https://go.dev/dl has newer ones than apt); it needs no modules from elsewhere.
set -eu
cd "$(dirname "$0")"

if ! command -v go >/dev/null; then
    echo "go: installing golang-go (needs root)" >&2
    apt-get install -y -q golang-go >&2
fi

# Without the state of the repository around it, which is no part of the program.
go build -buildvcs=false -o build/go ./src
