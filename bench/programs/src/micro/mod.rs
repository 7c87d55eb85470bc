//! The core's own measures: a folder each, or one for a few that differ in size only.
//!
//! A folder's `mod.rs` holds the sizes and the check, the other files the ways to do it. They are sharper than the
//! headline workloads: each is about one path through the runtime.

/// A workload by its `Size`, which has `parameters`, and what its result must be.
macro_rules! workload {
    ($(#[$doc:meta])* $workload:ident, $name:literal, $what:literal = $expected:ident, $size:expr, $about:literal, $implementations:expr) => {
        $(#[$doc])*
        pub struct $workload;

        impl Workload for $workload {
            fn name(&self) -> &'static str {
                $name
            }

            fn about(&self) -> &'static str {
                $about
            }

            fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
                $size(setup).parameters()
            }

            fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
                expect($what, $size(setup).$expected(), measured)
            }

            fn implementations(&self) -> &'static [Implementation] {
                $implementations
            }
        }
    };
}

pub mod ask;
pub mod bank;
pub mod dining;
pub mod fibonacci;
pub mod front;
pub mod idle;
pub mod independent;
pub mod lives;
pub mod producers;
pub mod rings;
pub mod skynet;

use coact_bench_workloads::Workload;

/// All of them, in the order of the reports.
pub const ALL: &[&dyn Workload] = &[
    &producers::TwoProducers,
    &producers::TwoProducersSpawned,
    &producers::ManyToOne,
    &producers::ManyToOneSpawned,
    &producers::OneCown,
    &rings::Ring,
    &rings::Rings,
    &rings::PingPong,
    &rings::PingPongBulk,
    &ask::Ask,
    &skynet::Skynet,
    &idle::IdleCowns,
    &bank::Transfers,
    &bank::Here,
    &bank::HereContended,
    &front::Front,
    &front::FrontSkewed,
    &front::FrontHttp,
    &producers::HereOne,
    &fibonacci::Fibonacci,
    &dining::Dining,
    &independent::Independent,
    &rings::ActorRing,
    &rings::ActorPingPong,
    &rings::ActorPairs,
    &ask::ActorWait,
    &producers::ActorCount,
    &producers::ActorCaller,
    &idle::ActorEnds,
    &lives::ActorLives,
];
