//! What programs compute, alike in all languages, and what must come out of it.

pub mod bank;
pub mod cache;
pub mod filter_bank;
pub mod front;
pub mod idle;
pub mod integral;
pub mod logistic_map;
pub mod lookups;
pub mod matrices;
pub mod mixed;
pub mod primes;
pub mod recursion;
pub mod rings;
pub mod sorting;
pub mod transactions;
pub mod tree;
