//! The store in PostgreSQL. Without a server, and without the programs of one, these tests are
//! skipped, and say so.

#![cfg(unix)]

mod bank;
mod batches;
mod lost;
mod opening;
mod outages;
mod processes;
mod proxy;
mod raw;
mod server;
mod several;
mod standby;
mod tls;

use std::sync::Arc;

use coact_persist::conformance;

#[test]
fn it_passes_the_tests_of_all_stores() {
    let Some(server) = server::shared() else { return };
    conformance::all(&|| Arc::new(server.store(&server.schema())));
}
