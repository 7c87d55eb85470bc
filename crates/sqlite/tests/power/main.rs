//! Loss of power, and disks that fail.
//!
//! The store runs on a disk that records what is written and synced (`coact-disk`). What it has
//! told is compared with what is left: in images of the disk at any point of the record
//! (`crashes`), after failures of single operations (`failures`, `commits`, `checkpoints`), and in
//! files that were damaged (`damage`).
//!
//! `COACT_HISTORIES=1000` tries as many workloads, from seed `COACT_HISTORIES_FIRST` on.

#![cfg(unix)]

mod checkpoints;
mod commits;
mod crashes;
mod damage;
mod failures;
mod history;
mod oracle;
mod workload;

use std::path::Path;

use tempfile::TempDir;

/// A folder, in memory if there is such a place: nothing in these tests depends on the real disk.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("there is room for a folder")
}

/// The seeds to try.
fn seeds(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("COACT_HISTORIES_FIRST").unwrap_or(0);
    first..first + number("COACT_HISTORIES").unwrap_or(default)
}
