#!/bin/sh
# Installs Boost's headers and g++ through apt where they are missing (that needs root), and builds this peer into build/.
set -eu
cd "$(dirname "$0")"

if ! command -v g++ >/dev/null || ! command -v make >/dev/null || [ ! -e /usr/include/boost/asio.hpp ]; then
    echo "asio: installing libboost-dev, g++ and make (needs root)" >&2
    apt-get install -y -q libboost-dev g++ make >&2
fi

make --silent
