//! What the suites share: programs under test, journals of what ran when, and meetings of
//! behaviours that must be able to run at the same time.

#![deny(unsafe_code)]

mod cpu;
mod executor;
mod journal;
mod meeting;
mod program;
pub mod supervision_model;
mod workload;

pub use cpu::process_time;
pub use executor::{Executor, Spawner};
pub use journal::{Journal, Log};
pub use meeting::{Meeting, PATIENCE, side_by_side};
pub use program::{
    Faults, check, check_with_faults, everywhere, everywhere_with_faults, fail, finally,
    hosted_runtime, message_of, panic_of, run_on, runtime,
};
pub use workload::{Bank, Dice};

/// The pages about actors whose programs need crates that the facade does not depend on.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../docs/actors/streams.md")]
    struct Streams;

    #[doc = include_str!("../../docs/actors/tokio.md")]
    struct Tokio;
}
