//! The runtimes that the implementations run on, with the settings that make each fast.

use coact::prelude::Runtime;

use crate::harness::Setup;

/// A coact runtime.
pub fn coact(setup: &Setup) -> Runtime {
    Runtime::builder().workers(setup.workers).name("bench").build().expect("a runtime starts")
}

/// A tokio runtime: work-stealing, no I/O or timer driver.
pub fn tokio(setup: &Setup) -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(setup.workers)
        .build()
        .expect("a runtime starts")
}
