//! Numbers that no restart repeats.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers from 1. It is outside of the books, so that no restart gives a number twice.
#[derive(Clone, Default)]
pub struct Counter(Arc<AtomicU64>);

impl Counter {
    pub fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}
