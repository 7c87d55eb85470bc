//! Our way to do the headline workloads, and those of one path through the runtime each.

pub mod headline;
pub mod micro;
pub mod runtime;
