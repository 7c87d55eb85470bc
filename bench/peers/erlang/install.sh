#!/bin/sh
# Installs Erlang/OTP through apt where it is missing (that needs root), and builds this peer into build/.
set -eu
cd "$(dirname "$0")"

if ! command -v erlc >/dev/null; then
    echo "erlang: installing erlang-base (needs root)" >&2
    apt-get install -y -q erlang-base >&2
fi

mkdir -p build/ebin
# Compiled anew only if a source is younger than the launcher, which is written last.
if [ ! -x build/erlang ] || [ -n "$(find src launcher.sh install.sh -newer build/erlang)" ]; then
    rm -f build/erlang build/ebin/*.beam
    # The behaviour first: the compiler checks the others against it.
    erlc -Werror -o build/ebin src/program.erl
    erlc -Werror -pa build/ebin -o build/ebin src/*.erl
    cp launcher.sh build/erlang
    chmod +x build/erlang
fi
