//! The last step of a transaction fails, at each of its writes and syncs. What is told not to be
//! stored is in no image from then on, be it that the process is killed before it writes anything
//! else, or that the power fails; and a full disk leaves nothing in doubt.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coact_disk::{Dice, Disk, FailedSyncs, Fault, Keep, Operation};
use coact_persist::{Claim, Commit, CommitRefusal, Event, Store, StoreError, StoreOutcome, wait};
use coact_sqlite::SqliteStore;

use crate::crashes::{NAME, images};
use crate::folder;
use crate::history::{History, Notes, What, entity};
use crate::oracle;

/// How an operation fails.
type Way = fn(Operation) -> Fault;

/// A disk on which there is no room: of a write nothing is there, a part, or all of it, and it is
/// told to have failed. Files can be cut, and synced.
const FULL: [Way; 3] = [
    |operation| full(operation, |_| 0),
    |operation| full(operation, |len| len / 2),
    |operation| full(operation, |len| len),
];

fn full(operation: Operation, kept: impl Fn(usize) -> usize) -> Fault {
    match operation {
        Operation::Write(_, len) => Fault::Full { kept: kept(len) },
        _ => Fault::None,
    }
}

/// A write fails with another error than that.
const FAILING_WRITE: [Way; 2] = [
    |operation| match operation {
        Operation::Write(_, len) => Fault::Io { kept: len / 2 },
        _ => Fault::None,
    },
    |operation| match operation {
        Operation::Write(_, len) => Fault::Io { kept: len },
        _ => Fault::None,
    },
];

fn failing_sync(operation: Operation) -> Fault {
    match operation {
        Operation::Sync(_) => Fault::Io { kept: 0 },
        _ => Fault::None,
    }
}

/// Nothing is written, cut or synced any more.
fn all_fails(operation: Operation) -> Fault {
    match operation {
        Operation::Write(_, len) => Fault::Io { kept: len },
        _ => Fault::Io { kept: 0 },
    }
}

/// What the WAL has before the transaction.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Wal {
    /// Nothing: the transaction begins it.
    New,
    /// Some others.
    Used,
}

/// How often each was told.
#[derive(Default, Debug)]
struct Told {
    refused: usize,
    unknown: usize,
}

/// A commit over two entities, of some pages.
fn step(store: &SqliteStore, notes: &Notes, number: u64) -> Commit {
    let mut commit = Commit::new();
    for id in [entity(0), entity(1)] {
        let Claim { epoch, last, hash, .. } = wait(|done| store.claim(id.clone(), done)).unwrap();
        let mut payload = number.to_be_bytes().to_vec();
        payload.resize(3_000, number as u8);
        commit.member(id, epoch, last).event(Event::new("noted", 1, payload), hash);
    }
    notes.submits(number, &commit);
    commit
}

fn submit(store: &SqliteStore, notes: &Notes, number: u64, commit: Commit) -> StoreOutcome {
    let told = notes.clone();
    wait(|done| {
        let tell = move |outcome| {
            // On the store's thread, so that the place in the record is right.
            match &outcome {
                StoreOutcome::Committed(position) => {
                    told.told(What::Committed { number, position: *position });
                }
                StoreOutcome::Refused(_) => told.told(What::Refused { number }),
                StoreOutcome::Unknown(_) => {}
            }
            done(outcome);
        };
        store.commit(commit, Box::new(tell));
    })
}

fn add(store: &SqliteStore, notes: &Notes, number: u64) {
    let outcome = submit(store, notes, number, step(store, notes, number));
    assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
}

/// One commit fails at the operation of this number, or from that on. Returns false if it has fewer
/// operations.
fn one_fails(
    (wal, way, lasts): (Wal, Way, bool),
    first: usize,
    losses: &[FailedSyncs],
    counts: &mut Told,
) -> bool {
    let place = folder();
    let path = place.path().join(NAME);
    let notes = Notes::new(Arc::new(Disk::watch(place.path()).unwrap()));
    let mut store = SqliteStore::open(&path).unwrap();
    add(&store, &notes, 1);
    if wal == Wal::New {
        drop(store);
        store = SqliteStore::open(&path).unwrap();
    } else {
        add(&store, &notes, 2);
    }
    let commit = step(&store, &notes, 10);
    let id = commit.id();
    if wal == Wal::New {
        // (To claim has begun it.)
        drop(store);
        store = SqliteStore::open(&path).unwrap();
    }
    let has_struck = strike(notes.disk(), way, first, lasts);
    let outcome = submit(&store, &notes, 10, commit);
    match &outcome {
        StoreOutcome::Refused(CommitRefusal::Store(StoreError::Unavailable { .. })) => {
            counts.refused += 1
        }
        StoreOutcome::Unknown(_) => counts.unknown += 1,
        // ORDERING: SeqCst, as it is a test.
        StoreOutcome::Committed(_) if !has_struck.load(Ordering::SeqCst) => return false,
        other => panic!("{first}: {other:?}"),
    }
    let context = format!("{wal:?}, {first} fails ({lasts}): {outcome:?}");
    // The process is killed before it writes anything else, or the power fails.
    let history = notes.history();
    killed(&notes, &history, losses, &context);
    notes.disk().heal();
    if let StoreOutcome::Unknown(_) = outcome {
        let settled = wait(|done| store.settle(id, done)).unwrap();
        notes.told(What::Settled { number: 10, settled });
    }
    add(&store, &notes, 20);
    let end = notes.history();
    for &failed in losses {
        let replay = notes.disk().replay(failed, Dice::new(first as u64));
        images(replay, &end, Dice::new(first as u64), 2, |at, keep, result| {
            if let Err(why) = result {
                panic!("{context}, then the power at {at} ({keep:?}, {failed:?}): {why}");
            }
        });
    }
    true
}

fn strike(disk: &Disk, way: Way, first: usize, lasts: bool) -> Arc<AtomicBool> {
    let has_struck = Arc::new(AtomicBool::new(false));
    let (strikes, mut seen) = (Arc::clone(&has_struck), 0);
    disk.fail(move |operation| {
        let fault = way(operation);
        if fault == Fault::None {
            return fault;
        }
        seen += 1;
        if seen == first + 1 || (lasts && seen > first) {
            // ORDERING: SeqCst, as it is a test.
            strikes.store(true, Ordering::SeqCst);
            fault
        } else {
            Fault::None
        }
    });
    has_struck
}

fn killed(notes: &Notes, history: &History, losses: &[FailedSyncs], context: &str) {
    for &failed in losses {
        for keep in Keep::EACH {
            let mut replay = notes.disk().replay(failed, Dice::new(keep as u64));
            let end = replay.end();
            replay.advance(end);
            let left = folder();
            replay.image(keep).write_to(left.path()).unwrap();
            oracle::check(&left.path().join(NAME), history, end)
                .unwrap_or_else(|why| panic!("{context}, then {keep:?} ({failed:?}): {why}"));
        }
    }
}

/// At each of its operations.
fn each_fails(way: Way, lasts: bool, losses: &[FailedSyncs]) -> Told {
    let mut counts = Told::default();
    for wal in [Wal::New, Wal::Used] {
        let count =
            (0..).take_while(|first| one_fails((wal, way, lasts), *first, losses, &mut counts));
        assert!(count.count() > 0, "{wal:?}: nothing has failed");
    }
    counts
}

const WAIT: [FailedSyncs; 1] = [FailedSyncs::Wait];

#[test]
fn a_full_disk_leaves_no_commit_in_doubt() {
    let [nothing, half, all] = FULL;
    for (way, lasts) in [(nothing, true), (half, true), (all, true), (all, false)] {
        let told = each_fails(way, lasts, &WAIT);
        assert!(told.unknown == 0 && told.refused > 15, "{told:?}");
    }
}

#[test]
fn a_commit_that_cannot_be_written_is_refused_and_does_not_come_back() {
    for way in FAILING_WRITE {
        let told = each_fails(way, true, &WAIT);
        assert!(told.unknown == 0 && told.refused > 15, "{told:?}");
    }
}

/// If nothing is told to be on the disk any more, it is not known.
#[test]
fn a_commit_that_is_told_not_to_be_stored_does_not_come_back_after_a_failed_sync() {
    let losses = [
        FailedSyncs::Wait,
        FailedSyncs::Lose(Keep::Nothing),
        FailedSyncs::Lose(Keep::Some),
        FailedSyncs::Lose(Keep::Sectors),
    ];
    let once = each_fails(failing_sync, false, &losses);
    assert!(once.unknown == 0 && once.refused > 0, "{once:?}");
    let lasting = each_fails(failing_sync, true, &losses);
    assert!(lasting.unknown > 0 && lasting.refused == 0, "{lasting:?}");
    let all = each_fails(all_fails, true, &losses[..2]);
    assert!(all.unknown > 15 && all.refused == 0, "{all:?}");
}
