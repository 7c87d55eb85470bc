//! How many flushes to the disk commands take: exact counts, by a disk below SQLite that counts
//! them.
//!
//! `cargo test --release -p coact-bench-durable --test syncs -- --nocapture` prints the figures of
//! docs/lab/0005. Each flush is done for real, so that as much gathers meanwhile as on a disk.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coact::durable::Journal;
use coact::prelude::*;
use coact_bench_durable::counter::{Count, Counter};
use coact_bench_durable::stores::Shared;
use coact_disk::{Disk, Fault, Kind, Operation};
use coact_sqlite::SqliteStore;

/// Flushes of the WAL, and of the file.
#[derive(Clone, Default)]
struct Syncs(Arc<[AtomicU64; 2]>);

impl Syncs {
    /// Counts those in a folder, and does each.
    fn count(&self, disk: &Disk, file: &Path) {
        let all = Arc::clone(&self.0);
        let (file, wal) = (file.to_owned(), file.with_extension("db-wal"));
        disk.fail(move |operation| {
            let (count, path) = match operation {
                Operation::Sync(Kind::Wal) => (&all[0], &wal),
                Operation::Sync(Kind::Database) => (&all[1], &file),
                _ => return Fault::None,
            };
            count.fetch_add(1, Ordering::Relaxed);
            File::open(path).and_then(|file| file.sync_data()).expect("the file is there");
            Fault::None
        });
    }

    fn so_far(&self) -> [u64; 2] {
        [0, 1].map(|which| self.0[which].load(Ordering::Relaxed))
    }
}

/// The flushes of the WAL and of the file, and the transactions, of 1,000 commands.
fn flushes(actors: usize, at_once: bool) -> ([u64; 2], u64) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("counters.db");
    let disk = Disk::watch(folder.path()).expect("it is there");
    let store = Arc::new(SqliteStore::open(&path).expect("it can be opened"));
    let journal = Journal::new(Shared(Arc::clone(&store)));
    let all: Vec<_> =
        (0..actors).map(|key| journal.entity::<Counter<0>>(key.to_string())).collect();
    let recovered: Vec<_> = all.iter().map(|one| call(one, |one| one.sum)).collect();
    for count in recovered {
        count.wait().expect("it is recovered");
    }
    let syncs = Syncs::default();
    syncs.count(&disk, &path);
    let (before, transactions) = (syncs.so_far(), store.transactions());
    let answers = (0..1_000).map(|number| all[number % actors].ask(Count(1)));
    if at_once {
        for answer in answers.collect::<Vec<_>>() {
            answer.wait().expect("it is stored");
        }
    } else {
        for answer in answers {
            answer.wait().expect("it is stored");
        }
    }
    let after = syncs.so_far();
    ([after[0] - before[0], after[1] - before[1]], store.transactions() - transactions)
}

#[test]
fn a_thousand_commands() {
    for (actors, at_once) in [(1, true), (100, true), (1, false), (100, false)] {
        let ([wal, file], transactions) = flushes(actors, at_once);
        let how = if at_once { "at once" } else { "one at a time" };
        println!(
            "1,000 commands of {actors} actors, {how}: {transactions} transactions, \
             {wal} flushes of the WAL, {file} of the file"
        );
        // Each transaction is one flush. A checkpoint flushes the WAL and the file, and the first
        // transaction behind one the header of the WAL.
        assert!(
            wal >= transactions && wal <= transactions + 2 * file + 2,
            "{wal} {file} {transactions}"
        );
        // How many commands share one depends on how fast the disk is.
        assert!(if at_once { transactions <= 1_000 } else { transactions == 1_000 });
    }
}
