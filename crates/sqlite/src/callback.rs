//! Calls what waits for a result.

use std::panic::{AssertUnwindSafe, catch_unwind};

use coact_persist::StoreCallback;
use tracing::error;

/// Tells a result. It is the program's code that is called: if it panics, that is its own affair, and no reason for a thread of the store
/// to end and answer none of the others. The panic hook has reported it by then.
pub(crate) fn tell<T>(done: StoreCallback<T>, result: T) {
    // No state of the store is in there.
    let called = catch_unwind(AssertUnwindSafe(|| done(result)));
    if let Err(panic) = called {
        error!("what was called with a result of the store has panicked");
        // So may what it has panicked with.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(panic)));
    }
}
