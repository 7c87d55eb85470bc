//! Runs the callbacks that wait for results.

use std::panic::{AssertUnwindSafe, catch_unwind};

use coact_persist::StoreCallback;
use tracing::error;

/// Calls a callback with its result. It is code of the program: if it panics, the store's thread
/// goes on and answers the others. The panic hook has reported the panic.
pub(crate) fn tell<T>(done: StoreCallback<T>, result: T) {
    // The closure has no state of the store.
    let called = catch_unwind(AssertUnwindSafe(|| done(result)));
    if let Err(panic) = called {
        error!("a callback of the store panicked");
        // The drop of the panic's payload may panic too.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(panic)));
    }
}
