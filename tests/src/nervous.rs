//! A handle of a cown that panics.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coact::Cown;
use coact::cown::AsCown;

use crate::fail;

/// A handle that panics when it is asked for something for the `calm + 1`st time, and each time after
/// that until it is [calmed](Self::calm).
pub struct Nervous {
    cown: Cown<u64>,
    calm: Arc<AtomicUsize>,
}

impl Nervous {
    /// A handle of a new cown.
    pub fn new(calm: usize) -> Self {
        Self { cown: Cown::new(0), calm: Arc::new(AtomicUsize::new(calm)) }
    }

    /// Lets it answer so often before it panics, whichever clone of it is asked.
    pub fn calm(&self, calm: usize) {
        self.calm.store(calm, Ordering::Relaxed);
    }

    fn answer(&self) {
        let less = |calm: usize| calm.checked_sub(1);
        if self.calm.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
            fail("nervous");
        }
    }
}

impl Clone for Nervous {
    fn clone(&self) -> Self {
        self.answer();
        Self { cown: self.cown.clone(), calm: Arc::clone(&self.calm) }
    }
}

impl AsCown for Nervous {
    type State = u64;
    type View = u64;

    fn as_cown(&self) -> &Cown<u64> {
        self.answer();
        &self.cown
    }

    fn view(state: &u64) -> &u64 {
        state
    }

    fn view_mut(state: &mut u64) -> &mut u64 {
        state
    }

    fn announce(&self) -> bool {
        self.answer();
        false
    }

    fn announced(&self) {
        // That it was asked for too much is why it is told.
        if !std::thread::panicking() {
            self.answer();
        }
    }
}
