//! Random programs of actors, held to what actors promise: on real workers, few and many, and in
//! deterministic mode.
//!
//! Some hundred programs by default; for more:
//! `PROPTEST_CASES=20000 cargo test -p coact-tests --test programs`; [`mixed`] runs by the clock.

mod asks;
mod delivery;
mod faults;
mod links;
mod lives;
mod mixed;
mod runs;
