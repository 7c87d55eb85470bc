#!/bin/sh
# Builds this peer into build/ against the sources of verona-rt and of snmalloc, which two variables name. No registry has
# them, and nothing is downloaded: without the variables nothing is done, and one line says how.
set -eu

if [ -z "${VERONA_RT:-}" ] || [ -z "${SNMALLOC:-}" ]; then
    echo "verona: skipped; to build it: VERONA_RT=<its sources> SNMALLOC=<the sources it names> bash $0"
    exit 0
fi
for header in "$VERONA_RT/src/rt/verona.h" "$SNMALLOC/src/snmalloc/snmalloc.h"; do
    if [ ! -e "$header" ]; then
        echo "verona: $header is missing" >&2
        exit 1
    fi
done
verona_rt=$(cd "$VERONA_RT" && pwd)
snmalloc=$(cd "$SNMALLOC" && pwd)
cd "$(dirname "$0")"

if ! command -v g++ >/dev/null || ! command -v make >/dev/null; then
    echo "verona: installing g++ and make (needs root)" >&2
    apt-get install -y -q g++ make >&2
fi

make --silent VERONA_RT="$verona_rt" SNMALLOC="$snmalloc"
