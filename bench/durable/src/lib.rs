//! Measures durable actors, beside the bare library with the same rows, and beside plain programs
//! with a database.
//!
//! Not a command of `coact-bench`, which would then have to compile SQLite.
//!
//! Reading order: `cases` (what is measured), `session` (rounds, and the table), `setup` and
//! `measured` (what a run is given, and what it shows), `counter` and `account` (the entities),
//! `stores`, `server`, `bare` and `window` (what several cases need), `events`, `transfers`,
//! `outbox`, `recovery`, `memory`, `machine`, `peers`.

#![forbid(unsafe_code)]

pub mod account;
pub mod bare;
pub mod cases;
pub mod counter;
pub mod events;
pub mod machine;
pub mod measured;
pub mod memory;
pub mod outbox;
pub mod peers;
pub mod recovery;
pub mod server;
pub mod session;
pub mod setup;
pub mod stores;
pub mod transfers;
pub mod window;
