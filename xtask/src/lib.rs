//! The house rules that no compiler checks, as plain code; `tests/tidy.rs` runs them on the
//! project.
//!
//! Each rule takes text and returns what breaks it, so that each is tested on planted mistakes.

#![forbid(unsafe_code)]

pub mod circles;
pub mod conditions;
pub mod layers;
pub mod links;
pub mod modules;
pub mod names;
pub mod promises;
pub mod prose;
pub mod ratchet;
pub mod source;
pub mod survey;
pub mod tree;
