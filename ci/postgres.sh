#!/usr/bin/env bash
# The tests of the store in PostgreSQL alone, against a server of their own. Where its programs are missing, they are
# installed (Debian), or it is said how to get them; the tests themselves are not skipped then.
#
#   ci/postgres.sh [ARGUMENTS FOR THE TESTS]
#   ci/postgres.sh --install     only installs the programs; exits with 1 where it cannot, with 2 where that fails
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

# Returns whether there is a server for the tests.
install() {
    if [ -n "${COACT_POSTGRES_URL-}" ] || has_postgres; then
        return
    fi
    if ! command -v apt-get >/dev/null; then
        echo 'skipped: install the server of PostgreSQL 13 or later (initdb and postgres in the PATH), or set' \
            'COACT_POSTGRES_URL to the address of a database in which the tests may make schemas' >&2
        return 1
    fi
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -q &&
        DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -yq --no-install-recommends postgresql ||
        exit 2
}

if [ "${1-}" = --install ]; then
    install
    exit
fi
install || exit 0 # It has said why.
COACT_POSTGRES_REQUIRED=1 cargo test --package coact-postgres -- "$@"
