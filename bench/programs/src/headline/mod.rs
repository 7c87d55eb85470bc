//! What the papers and pages measure that this runtime stands on; a folder each, or one for a few that differ in size
//! only.
//!
//! A folder's `mod.rs` has the sizes and the right result, the other files have the ways to do it, written as a user
//! would write them.

mod ask_latency;
mod banking;
mod cache_calc;
mod counter;
mod dining_scale;
mod fan_out;
mod mailbox;
mod mixed;
mod ping_pong;
mod ring_nfold;
mod skynet;
mod spawn;

use coact_bench_workloads::Workload;

/// All of them, in the order of the reports.
pub const ALL: &[&dyn Workload] = &[
    &counter::Counter::<1> { name: "counter-1" },
    &counter::Counter::<2> { name: "counter-2" },
    &counter::Counter::<4> { name: "counter-4" },
    &counter::Counter::<8> { name: "counter-8" },
    &mailbox::MailboxN1,
    &mixed::Mixed,
    &ring_nfold::RingNfold::<12> { name: "ring-nfold-100" },
    &ring_nfold::RingNfold::<125> { name: "ring-nfold-1000" },
    &ring_nfold::RingNfold::<1_250> { name: "ring-nfold-10000" },
    &ping_pong::Grouped::<50> { name: "pingpong-grouped-100" },
    &ping_pong::Grouped::<500> { name: "pingpong-grouped-1000" },
    &ping_pong::Grouped::<5_000> { name: "pingpong-grouped-10000" },
    &ping_pong::Bulk::<50> { name: "pingpong-bulk-100" },
    &ping_pong::Bulk::<500> { name: "pingpong-bulk-1000" },
    &ping_pong::Bulk::<5_000> { name: "pingpong-bulk-10000" },
    &skynet::Skynet,
    &skynet::SkynetStop,
    &cache_calc::CacheCalc::<8> { name: "cache-calc-8" },
    &cache_calc::CacheCalc::<64> { name: "cache-calc-64" },
    &banking::Banking::<0> { name: "reasonable-banking" },
    &banking::Banking::<10> { name: "busy-banking" },
    &dining_scale::DiningScale,
    &spawn::Spawn,
    &ask_latency::AskLatency,
    &fan_out::FanOut,
];
