//! The benchmark's workloads with what else a program in Rust could be built on: tasks with
//! channels, threads with channels, mutexes, and three libraries of actors.
//!
//! A folder a program: `mod.rs` has its sizes and who does it, the other files the ways to do it.
//! [`runtime`] and [`system`] are what they run on.

mod ask;
mod bank;
mod banking;
mod cache;
mod counter;
mod dining;
mod fan_out;
mod fibonacci;
mod front;
mod idle;
mod independent;
mod lock;
mod mixed;
mod rings;
mod runtime;
mod skynet;
mod system;

#[cfg(test)]
mod tests;

use std::process::ExitCode;

use coact_bench_workloads::Way;
use coact_bench_workloads::program;

const WAYS: &[&[Way]] = &[
    counter::WAYS,
    rings::WAYS,
    ask::WAYS,
    skynet::WAYS,
    idle::WAYS,
    mixed::WAYS,
    cache::WAYS,
    banking::WAYS,
    fan_out::WAYS,
    bank::WAYS,
    fibonacci::WAYS,
    front::WAYS,
    dining::WAYS,
    independent::WAYS,
];

/// Who this is, and the settings that make it fast.
fn about() -> String {
    let crates = ["tokio", "crossbeam-channel", "parking_lot", "kameo", "ractor", "actix"];
    let versions = crates.map(|name| format!("{name} {}", version(name)));
    format!(
        "Rust: {}; release, thin LTO, one codegen unit; as many threads (arbiters in actix-arbiters) as workers, \
         unbounded mailboxes, kameo without tracing, ractor without span propagation",
        versions.join(", ")
    )
}

/// What this program was built with.
fn version(name: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let entry = lock.split_once(&format!("name = \"{name}\"\nversion = \""));
    entry.and_then(|(_, after)| after.split('"').next()).unwrap_or("of unknown version")
}

fn main() -> ExitCode {
    // A runtime keeps the panic of a task to itself; here it must not be taken for a program that
    // goes on.
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("{panic}");
        // The task has no way back to `main`, and nothing here needs its destructor.
        #[allow(clippy::disallowed_methods)]
        std::process::exit(101);
    }));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match program::answer(&about(), WAYS, &arguments, &mut std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
