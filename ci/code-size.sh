#!/usr/bin/env bash
# How much code an actor's type and a message's type bring, and how long a program's first build takes. Not in the gate:
# three builds of a program that has nothing but these, some minutes.
#
#   ci/code-size.sh             with Cargo's release profile as it is
#   ci/code-size.sh thin        with thin link-time optimization and one codegen unit
#   ci/code-size.sh small       with opt-level = "s"
#
# An actor is spawned, and gets each of its messages by `send`; so what asks and behaviours add is not in these figures.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-plain} in
plain) profile='' ;;
thin) profile=$'lto = "thin"\ncodegen-units = 1' ;;
small) profile='opt-level = "s"' ;;
*)
    echo "usage: ci/code-size.sh [plain|thin|small]" >&2
    exit 2
    ;;
esac

root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/bin"
cp Cargo.lock "$work"
cat >"$work/Cargo.toml" <<END
[package]
name = "code-size"
edition = "2024"

[workspace]

[dependencies]
coact = { path = "$root/crates/coact" }

[profile.release]
$profile
END

# A program with $1 types of actors, and $2 types of messages for each.
program() {
    echo 'use coact::prelude::*;'
    for actor in $(seq "$1"); do
        echo "#[derive(Actor)] struct Actor$actor { sum: u64 }"
        echo "#[handlers] impl Actor$actor {"
        for message in $(seq "$2"); do
            echo "    #[message] fn add_${actor}_$message(&mut self, n: u64) { self.sum = self.sum * $message + n; }"
        done
        echo '}'
    done
    echo 'fn main() {'
    echo '    let runtime = Runtime::builder().workers(1).build().unwrap();'
    echo '    let _entered = runtime.enter();'
    for actor in $(seq "$1"); do
        echo "    let to = spawn(Actor$actor { sum: 1 });"
        for message in $(seq "$2"); do
            echo "    to.send(Add${actor}${message} { n: 1 }).unwrap();"
        done
    done
    echo '}'
}

# The bytes of the program's segment with code and constants.
measure() {
    program "$1" "$2" >"$work/src/bin/program.rs"
    cargo build --quiet --release --manifest-path "$work/Cargo.toml" --target-dir "$work/target"
    size "$work/target/release/program" | awk 'NR == 2 { print $1 }'
}

program 1 1 >"$work/src/bin/program.rs"
cargo fetch --quiet --manifest-path "$work/Cargo.toml"
begin=$(date +%s.%N)
one=$(measure 1 1)
end=$(date +%s.%N)
actors=$(measure 11 1)
messages=$(measure 1 11)

awk -v one="$one" -v actors="$actors" -v messages="$messages" -v begin="$begin" -v end="$end" 'BEGIN {
    printf "an actor with one message  %8d bytes\n", (actors - one) / 10
    printf "a message more             %8d bytes\n", (messages - one) / 10
    printf "the rest                   %8d bytes\n", one - (actors - one) / 10
    printf "the first build            %8.1f s\n", end - begin
}'
