//! The benchmark's workloads with what else a program in Rust could be built on: tasks with channels, threads with
//! channels, mutexes, and three libraries of actors.
//!
//! A folder a program: `mod.rs` has its sizes and who does it, the other files the ways to do it. [`way`] is what they
//! have in common, [`runtime`] and [`system`] what they run on.

mod ask;
mod bank;
mod banking;
mod cache;
mod counter;
mod dining;
mod fan_out;
mod fibonacci;
mod idle;
mod independent;
mod lock;
mod mixed;
mod rings;
mod runtime;
mod skynet;
mod system;
mod way;

#[cfg(test)]
mod tests;

use std::process::ExitCode;

use coact_bench::harness::program::{self, Offer};

use way::Way;

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
    dining::WAYS,
    independent::WAYS,
];

const ABOUT: &str = "Rust peers: tokio 1.54, crossbeam-channel 0.5, parking_lot 0.12, kameo 0.22 without tracing, \
    ractor 0.16 without span propagation, actix 0.13; release, thin LTO, one codegen unit; unbounded mailboxes, as \
    many runtime threads (arbiters in actix-arbiters) as workers";

fn main() -> ExitCode {
    // A runtime keeps the panic of a task to itself; here it must not be taken for a program that goes on.
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("{panic}");
        std::process::exit(101);
    }));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let offers: Vec<Offer> =
        WAYS.iter().flat_map(|ways| ways.iter()).flat_map(Way::offers).collect();
    match program::answer(ABOUT, &offers, &arguments, &mut std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
