//! Single operations of the disk fail, or all from one on: what was told stays true, and the store
//! goes on by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coact_disk::{Dice, Disk, FailedSyncs, Fault, Keep, Kind, Operation};

use crate::crashes::{NAME, images};
use crate::history::Notes;
use crate::workload::{self, TINY};
use crate::{folder, seeds};

/// What becomes of what a failed sync should have written.
const FAILED: [FailedSyncs; 4] = [
    FailedSyncs::Wait,
    FailedSyncs::Lose(Keep::Nothing),
    FailedSyncs::Lose(Keep::Some),
    FailedSyncs::Lose(Keep::Sectors),
];

/// Has some operations fail: `count` of them, from the `first` on.
fn fail(
    disk: &Disk,
    (first, count): (usize, usize),
    which: fn(Operation) -> bool,
    fault: impl Fn(Operation) -> Fault + Send + 'static,
) -> Arc<AtomicUsize> {
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    disk.fail(move |operation| {
        if !which(operation) {
            return Fault::None;
        }
        let number = counted.fetch_add(1, Ordering::Relaxed);
        let fails = (first..first.saturating_add(count)).contains(&number);
        if fails { fault(operation) } else { Fault::None }
    });
    seen
}

/// Runs a workload for each operation of some sort, which fails, and compares what is left if the
/// power fails some time after.
fn each_fails(
    count: usize,
    which: fn(Operation) -> bool,
    fault: impl Fn(Operation) -> Fault + Copy + Send + 'static,
) {
    for seed in seeds(1) {
        let mut first = 0;
        loop {
            let place = folder();
            let notes = Notes::new(Arc::new(Disk::watch(place.path()).unwrap()));
            let seen = fail(notes.disk(), (first, count), which, fault);
            workload::run_on(&notes, &place.path().join(NAME), seed, TINY);
            let history = notes.history();
            // What becomes of failed syncs matters only if one fails.
            let all = &FAILED[..];
            let one = first % FAILED.len();
            for &failed in if which(Operation::Sync(Kind::Wal)) { all } else { &all[one..=one] } {
                let replay = notes.disk().replay(failed, Dice::new(seed));
                let dice = Dice::new(seed + first as u64);
                images(replay, &history, dice, 1, |at, keep, result| {
                    if let Err(why) = result {
                        panic!(
                            "seed {seed}, {count} fail from {first} on ({failed:?}), the power at {at} ({keep:?}): {why}"
                        );
                    }
                });
            }
            if first >= seen.load(Ordering::Relaxed) {
                break;
            }
            first += 1;
        }
        assert!(first > 10, "there were {first} to fail");
    }
}

fn is_sync(operation: Operation) -> bool {
    matches!(operation, Operation::Sync(_))
}

fn is_write(operation: Operation) -> bool {
    matches!(operation, Operation::Write(..) | Operation::Truncate(_))
}

#[test]
fn a_sync_that_fails_loses_nothing_that_was_told() {
    each_fails(1, is_sync, |_| Fault::Io { kept: 0 });
}

#[test]
fn syncs_that_fail_for_a_while_lose_nothing_that_was_told() {
    each_fails(5, is_sync, |_| Fault::Io { kept: 0 });
}

#[test]
fn a_write_that_fails_or_is_torn_loses_nothing_that_was_told() {
    each_fails(1, is_write, |operation| match operation {
        // Of a page the half is there; of a header nothing.
        Operation::Write(_, len) if len > 100 => Fault::Io { kept: len / 2 },
        _ => Fault::Io { kept: 0 },
    });
}

#[test]
fn a_disk_that_is_full_loses_nothing_that_was_told() {
    each_fails(12, is_write, |operation| match operation {
        Operation::Write(_, len) => Fault::Full { kept: len / 3 },
        _ => Fault::Full { kept: 0 },
    });
}

/// The system still shows what a failed sync has lost, so a new process reads it.
#[test]
fn what_a_new_process_reads_is_on_the_disk() {
    for seed in seeds(1) {
        let mut first = 0;
        loop {
            let place = folder();
            let notes = Notes::new(Arc::new(Disk::watch(place.path()).unwrap()));
            let seen = fail(notes.disk(), (first, usize::MAX), is_sync, |_| Fault::Io { kept: 0 });
            let path = place.path().join(NAME);
            let Some(at) = workload::until_it_fails(&notes, &path, seed, TINY) else { break };
            assert!(seen.load(Ordering::Relaxed) > first, "it is a sync that has failed");
            goes_on_after_kill(notes, at, seed, first);
            first += 1;
        }
        assert!(first > 10, "there were {first} to fail");
    }
}

fn goes_on_after_kill(notes: Notes, at: usize, seed: u64, first: usize) {
    let mut cached = notes.disk().replay(FailedSyncs::Wait, Dice::new(seed));
    cached.advance(at);
    let lost = FailedSyncs::Lose(Keep::EACH[first % Keep::EACH.len()]);
    let mut on_disk = notes.disk().replay(lost, Dice::new(seed));
    on_disk.advance(at);
    let place = folder();
    cached.image(Keep::All).write_to(place.path()).unwrap();
    let disk = Disk::watch_over(place.path(), on_disk.image(Keep::Nothing)).unwrap();
    let notes = notes.after_kill(Arc::new(disk));
    // The disk may still not be well.
    fail(notes.disk(), (0, first % 4), is_sync, |_| Fault::Io { kept: 0 });
    workload::run_on(&notes, &place.path().join(NAME), seed + 500, TINY);
    let replay = notes.disk().replay(lost, Dice::new(seed));
    let dice = Dice::new(seed + first as u64);
    images(replay, &notes.history(), dice, 4, |at, keep, result| {
        if let Err(why) = result {
            panic!("seed {seed}, {first} fails ({lost:?}), the power at {at} ({keep:?}): {why}");
        }
    });
}
