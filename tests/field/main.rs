//! What other systems test of themselves, where it means something here: the ideas of their suites,
//! written anew.
//!
//! Each program runs on systems of one, two and eight workers, several times, and in deterministic
//! mode under many schedules.

mod actix;
mod caf;
mod kameo;
mod ractor;
mod run;
mod verona;
