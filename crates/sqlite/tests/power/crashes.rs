//! The power fails: what is on the disk then has all that was told before.

use std::path::Path;

use coact_disk::{Dice, FailedSyncs, Fault, Keep, Kind, Operation, Replay};

use crate::history::{History, Notes};
use crate::oracle;
use crate::workload::{self, LONG, REOPENED, SHARED, SMALL, Shape};
use crate::{folder, seeds};

/// The name of all files of stores.
pub const NAME: &str = "bank.db";

/// How many bytes the header of a WAL has.
const WAL_HEADER: usize = 32;

/// Makes images at some points of a record, and hands on what the oracle says of each.
pub fn images(
    mut replay: Replay,
    history: &History,
    mut dice: Dice,
    count: usize,
    mut each: impl FnMut(usize, Keep, Result<(), String>),
) {
    let end = replay.end();
    let mut points: Vec<(usize, Keep)> = (0..count)
        .map(|_| (dice.below(end + 1), Keep::EACH[dice.below(Keep::EACH.len())]))
        .collect();
    points.sort_unstable_by_key(|(at, _)| *at);
    // And when all was told, with as little as there can be.
    points.push((end, Keep::Nothing));
    for (at, keep) in points {
        replay.advance(at);
        let left = folder();
        replay.image(keep).write_to(left.path()).unwrap();
        each(at, keep, oracle::check(&left.path().join(NAME), history, at));
    }
}

fn replay_of(notes: &Notes, seed: u64) -> Replay {
    notes.disk().replay(FailedSyncs::Wait, Dice::new(seed))
}

fn survives(shape: Shape, seeds: std::ops::Range<u64>, count: usize) {
    for seed in seeds {
        let place = folder();
        let notes = workload::run(&place.path().join(NAME), seed, shape);
        let history = notes.history();
        let replay = replay_of(&notes, seed);
        if shape == LONG {
            let begun = replay.writes(Kind::Wal, WAL_HEADER);
            assert!(begun > shape.rounds, "the WAL has begun {begun} times");
        }
        images(replay, &history, Dice::new(seed), count, |at, keep, result| {
            if let Err(why) = result {
                panic!("seed {seed}, {shape:?}: power fails at {at}, {keep:?} is left: {why}");
            }
        });
    }
}

#[test]
fn what_was_told_is_there_after_a_few_steps() {
    survives(SMALL, seeds(12), 20);
}

#[test]
fn what_was_told_is_there_when_threads_share_transactions() {
    survives(SHARED, seeds(8), 20);
}

#[test]
fn what_was_told_is_there_when_it_is_opened_again() {
    survives(REOPENED, seeds(8), 20);
}

#[test]
fn what_was_told_is_there_when_the_wal_begins_anew() {
    survives(LONG, seeds(1), 25);
}

/// How many images have lost something, and of how many that had anything to lose.
fn losses(
    path: &Path,
    seed: u64,
    fault: impl FnMut(Operation) -> Fault + Send + 'static,
) -> (usize, usize) {
    let folder = path.parent().unwrap();
    let notes = Notes::new(std::sync::Arc::new(coact_disk::Disk::watch(folder).unwrap()));
    notes.disk().fail(fault);
    workload::run_on(&notes, path, seed, SHARED);
    let (mut lost, mut all) = (0, 0);
    let history = notes.history();
    images(replay_of(&notes, seed), &history, Dice::new(seed), 20, |at, _, result| {
        if history.committed(at) > 0 {
            all += 1;
            lost += usize::from(result.is_err());
        }
    });
    (lost, all)
}

/// Were this not so, the tests above would prove nothing. It is what `synchronous = OFF` does.
#[test]
fn without_syncs_something_is_lost() {
    for seed in 0..4 {
        let place = folder();
        let (lost, all) = losses(&place.path().join(NAME), seed, |operation| match operation {
            Operation::Sync(_) => Fault::Ignored,
            _ => Fault::None,
        });
        assert!(all > 10 && lost * 2 > all, "seed {seed}: {lost} of {all}");
    }
}

/// Nor may the syncs of commits be left out, where only the beginning of a WAL and a checkpoint are
/// synced: `synchronous = NORMAL`.
#[test]
fn without_syncs_of_commits_something_is_lost() {
    for seed in 0..4 {
        let place = folder();
        let mut begins = false;
        let (lost, all) = losses(&place.path().join(NAME), seed, move |operation| {
            begins |= operation == Operation::Write(Kind::Wal, WAL_HEADER);
            match operation {
                Operation::Sync(Kind::Wal) if !std::mem::take(&mut begins) => Fault::Ignored,
                _ => Fault::None,
            }
        });
        assert!(all > 10 && lost * 4 > all, "seed {seed}: {lost} of {all}");
    }
}
