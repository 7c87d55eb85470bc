#!/bin/sh
# Installs CAF (C++ Actor Framework) and builds the peer program build/caf.
# Needs apt and root where CAF or the compiler are not there yet. Run it again after a change: it builds what is new.
set -eu
cd "$(dirname "$0")"

missing=
for package in libcaf-dev g++ make; do
  dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
if [ -n "$missing" ]; then
  if [ "$(id -u)" -ne 0 ]; then
    echo "caf: needs root to install:$missing" >&2
    exit 1
  fi
  # shellcheck disable=SC2086 # a list of words
  apt-get install -y -qq $missing >/dev/null || { apt-get update -qq && apt-get install -y -qq $missing >/dev/null; }
fi

make --silent
