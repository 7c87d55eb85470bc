//! The workloads: a folder each, or one for a few that differ in size only.
//!
//! A folder's `mod.rs` holds the sizes and the check, `coact.rs` our version, and the other files are named after
//! the peer that does the same work as its users would write it. Sizes are the full ones; [`Setup`] scales them.
//!
//! [`Setup`]: crate::harness::Setup

pub mod ask;
mod bank;
mod dining;
mod fibonacci;
pub mod idle;
mod independent;
mod producers;
pub mod rings;
mod runtime;
mod skynet;
mod threads;

#[cfg(test)]
mod tests;

use crate::harness::Workload;

/// Every workload, in the order of the reports.
pub const ALL: &[&dyn Workload] = &[
    &producers::TwoProducers,
    &producers::TwoProducersSpawned,
    &producers::ManyToOne,
    &producers::ManyToOneSpawned,
    &producers::OneCown,
    &rings::Ring,
    &rings::PingPong,
    &rings::PingPongBulk,
    &ask::Ask,
    &skynet::Skynet,
    &idle::IdleCowns,
    &bank::Transfers,
    &bank::Here,
    &bank::HereContended,
    &fibonacci::Fibonacci,
    &dining::Dining,
    &independent::Independent,
    &rings::ActorRing,
    &rings::ActorPingPong,
    &rings::ActorPairs,
    &ask::ActorAsk,
    &ask::ActorWait,
    &producers::ActorCounterOf1,
    &producers::ActorCounterOf2,
    &producers::ActorCounterOf4,
    &producers::ActorCounterOf8,
    &producers::ActorCount,
    &idle::IdleActors,
    &idle::ActorEnds,
    &skynet::ActorSkynet,
];
