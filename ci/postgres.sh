#!/usr/bin/env bash
# The tests of the store in PostgreSQL, against a server of their own. Where its programs are missing, they are installed
# (Debian), or it is said how to get them; the tests themselves are not skipped then. Arguments are passed on to the tests.
set -euo pipefail
cd "$(dirname "$0")/.."

# As the tests look for them.
has_postgres() {
    local folder
    for folder in "$(pg_config --bindir 2>/dev/null)" ${PATH//:/ } /usr/lib/postgresql/*/bin; do
        [ -x "$folder/postgres" ] && [ -x "$folder/initdb" ] && return
    done
    return 1
}

if [ -z "${COACT_POSTGRES_URL-}" ] && ! has_postgres; then
    if ! command -v apt-get >/dev/null; then
        echo 'skipped: install the server of PostgreSQL 13 or later (initdb and postgres in the PATH), or set' \
            'COACT_POSTGRES_URL to the address of a database in which the tests may make schemas' >&2
        exit 0
    fi
    as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -q
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -yq --no-install-recommends postgresql
fi
COACT_POSTGRES_REQUIRED=1 cargo test --package coact-postgres -- "$@"
