//! The actor benchmark suite Savina, in the selection of L. Cheeseman et al., *When concurrency matters* (OOPSLA
//! 2023): 22 programs as actors that send messages, 11 of them also as behaviours over several cowns.
//!
//! A folder a program: `mod.rs` has the sizes and the right result, `actor.rs` the actor form and `full.rs` the full
//! form, written as a user would write them: their lines are counted ([`LINES`]).

mod banking;
mod big;
mod bounded_buffer;
mod chameneos;
mod cigarette_smokers;
mod concurrent_dictionary;
mod concurrent_sorted_list;
mod count;
mod dining_philosophers;
mod fibonacci;
mod filter_bank;
mod fork_join_create;
mod fork_join_throughput;
mod lines;
mod logistic_map;
mod ping_pong;
mod quicksort;
mod radix_sort;
mod recursive_matrix;
mod sieve;
mod sleeping_barber;
mod thread_ring;
mod trapezoid;

pub use lines::{Form, LINES, Lines};

use coact_bench_programs::runtime::run;
use coact_bench_workloads::Workload;

/// All of them, in the order of the reports.
pub const ALL: &[&dyn Workload] = &[
    &banking::Banking,
    &big::Big,
    &bounded_buffer::BoundedBuffer,
    &chameneos::Chameneos,
    &cigarette_smokers::CigaretteSmokers,
    &concurrent_dictionary::ConcurrentDictionary,
    &concurrent_sorted_list::ConcurrentSortedList,
    &count::Count,
    &dining_philosophers::DiningPhilosophers,
    &fibonacci::Fibonacci,
    &filter_bank::FilterBank,
    &fork_join_create::ForkJoinCreate,
    &fork_join_throughput::ForkJoinThroughput,
    &logistic_map::LogisticMap,
    &ping_pong::PingPong,
    &quicksort::Quicksort,
    &radix_sort::RadixSort,
    &recursive_matrix::RecursiveMatrix,
    &sieve::Sieve,
    &sleeping_barber::SleepingBarber,
    &thread_ring::ThreadRing,
    &trapezoid::Trapezoid,
];
