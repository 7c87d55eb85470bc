//! Files that were damaged: cut, overwritten, or with a byte that has flipped.
//!
//! A WAL has check sums, so what comes before the damage is there, and nothing behind it. The pages
//! of the file have none: what SQLite notices is told as damage, what it does not is found by the
//! hashes of events.

use std::fs;

use coact_disk::{Dice, FailedSyncs, Image, Keep};
use coact_persist::{
    Claim, Commit, CommitRefusal, EntityId, Event, EventHash, Position, Seq, Store, StoreError,
    StoreOutcome, StoreReader, StoredEvent, wait,
};
use coact_sqlite::{OpenError, SqliteStore};

use crate::crashes::NAME;
use crate::history::{ENTITIES, KIND, entity};
use crate::workload::{self, SHARED};
use crate::{folder, oracle, seeds};

const PAGE: usize = 4_096;

/// How many events each entity has in a file that will be damaged.
const EVENTS: u64 = 12;

/// A file of some forty pages, of which each entity has some to itself.
fn file() -> Vec<u8> {
    let place = folder();
    let path = place.path().join(NAME);
    let store = SqliteStore::open(&path).unwrap();
    for number in 0..ENTITIES {
        let id = entity(number);
        let Claim { epoch, mut last, mut hash, .. } =
            wait(|done| store.claim(id.clone(), done)).unwrap();
        for n in 0..EVENTS {
            let mut commit = Commit::new();
            let payload = vec![n as u8; 1_500];
            hash =
                commit.member(id.clone(), epoch, last).event(Event::new("noted", 1, payload), hash);
            last = last.next();
            let outcome = wait(|done| store.commit(commit, done));
            assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
        }
    }
    drop(store);
    assert!(!place.path().join(format!("{NAME}-wal")).exists(), "all is in the file");
    fs::read(path).unwrap()
}

/// What is found of an entity.
#[derive(PartialEq, Eq, Debug)]
enum Found {
    /// All of it.
    All,
    /// The store says that it is damaged.
    Told,
    /// What is read does not fit its hashes, or the last event that the store knows.
    ByHashes,
    /// Less than there was, and it fits: SQLite has no check sums, so a row or a page may be gone
    /// without a trace.
    Less,
}

fn is_damage(error: &StoreError, id: &EntityId) -> bool {
    match error {
        StoreError::Corrupt { entity, .. } => entity == id,
        StoreError::Damaged { .. } => true,
        _ => false,
    }
}

fn look(store: &SqliteStore, id: &EntityId) -> Found {
    let claim = match wait(|done| store.claim(id.clone(), done)) {
        Ok(claim) => claim,
        Err(error) => {
            assert!(is_damage(&error, id), "{error}");
            return Found::Told;
        }
    };
    let events = match wait(|done| store.events(id.clone(), Seq::ZERO, 1_000, done)) {
        Ok(events) => events,
        Err(error) => {
            assert!(is_damage(&error, id), "{error}");
            return Found::Told;
        }
    };
    if !fits(id, &claim, &events) {
        return Found::ByHashes;
    }
    for (stored, n) in events.iter().zip(0..) {
        assert_eq!(*stored.event.payload, *vec![n as u8; 1_500], "it fits, and was never written");
    }
    if events.len() as u64 == EVENTS { Found::All } else { Found::Less }
}

fn fits(id: &EntityId, claim: &Claim, events: &[StoredEvent]) -> bool {
    let mut hash = EventHash::of(id);
    for (stored, seq) in events.iter().zip(1..) {
        hash = hash.with(Seq::new(seq), &stored.event);
        if (stored.seq, stored.hash) != (Seq::new(seq), hash) {
            return false;
        }
    }
    (claim.last, claim.hash) == (Seq::new(events.len() as u64), hash)
}

/// Opens a damaged file, and looks at all of it. `None` if it is refused.
fn look_at(bytes: &[u8]) -> Option<Vec<Found>> {
    let place = folder();
    let path = place.path().join(NAME);
    fs::write(&path, bytes).unwrap();
    let store = match SqliteStore::open(&path) {
        Ok(store) => store,
        Err(error) => {
            assert!(matches!(error, OpenError::NotAStore { .. }), "{error:?}");
            return None;
        }
    };
    let found: Vec<Found> = (0..ENTITIES).map(|number| look(&store, &entity(number))).collect();
    let log = wait(|done| store.log(KIND.into(), Position::ZERO, usize::MAX >> 1, done));
    if let Err(error) = log {
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    }
    // The writer goes on for those that are sound, in whatever company.
    write_to_all(&store, &found);
    Some(found)
}

fn write_to_all(store: &SqliteStore, found: &[Found]) {
    let (tell, told) = std::sync::mpsc::channel();
    for number in 0..ENTITIES {
        let (id, tell) = (entity(number), tell.clone());
        store.claim(id, Box::new(move |claim| tell.send((number, claim)).unwrap()));
    }
    drop(tell);
    for (number, claim) in told {
        if let Err(error) = claim {
            assert!(is_damage(&error, &entity(number)), "{error}");
            assert_ne!(found[number], Found::All, "{error}");
        }
    }
}

#[test]
fn a_page_of_garbage_is_told_and_concerns_no_other() {
    let sound = file();
    let (mut refused, mut told, mut alone) = (0, 0, 0);
    for seed in seeds(2) {
        let mut dice = Dice::new(seed);
        for page in 0..sound.len() / PAGE {
            let mut bytes = sound.clone();
            let garbage = &mut bytes[page * PAGE..][..PAGE];
            match dice.below(3) {
                0 => garbage.fill(0),
                1 => garbage.fill(0xFF),
                _ => garbage.fill_with(|| dice.below(256) as u8),
            }
            let Some(found) = look_at(&bytes) else {
                refused += 1;
                continue;
            };
            assert!(!found.contains(&Found::Less), "page {page} of seed {seed}: {found:?}");
            told += usize::from(found.contains(&Found::Told));
            alone += usize::from(found.contains(&Found::Told) && found.contains(&Found::All));
        }
    }
    assert!(
        refused > 0 && told > 10 && alone > 10,
        "{refused} refused, {told} told, {alone} alone"
    );
}

#[test]
fn a_flipped_byte_is_told_or_found_by_the_hashes() {
    let sound = file();
    let (mut same, mut seen, mut less) = (0, 0, 0);
    for seed in seeds(1) {
        let mut dice = Dice::new(seed);
        for _ in 0..200 {
            let mut bytes = sound.clone();
            let at = dice.below(bytes.len());
            bytes[at] ^= 1 << dice.below(8);
            match look_at(&bytes) {
                None => seen += 1,
                Some(found) if found.iter().all(|found| *found == Found::All) => same += 1,
                Some(found) if found.contains(&Found::Less) => less += 1,
                Some(_) => seen += 1,
            }
        }
    }
    // (Much of a page is free, or is of an index that is not read here.)
    assert!(seen > 50, "{same} the same, {seen} seen, {less} less");
    assert!(less * 20 < seen, "{same} the same, {seen} seen, {less} less");
}

#[test]
fn a_file_that_was_cut_is_told() {
    let sound = file();
    // (SQLite takes a file of one byte for an empty one, and so for that of a new store.)
    for len in [50, 100, 512, PAGE - 1, PAGE, PAGE + 1, sound.len() / 2, sound.len() - PAGE] {
        let found = look_at(&sound[..len]);
        let is_told = found.as_ref().is_none_or(|found| found.contains(&Found::Told));
        assert!(is_told, "{len} bytes: {found:?}");
        assert!(found.is_none_or(|found| !found.contains(&Found::Less)));
    }
}

/// The files of a store that was killed, with all in the WAL.
fn with_wal(seed: u64) -> (Image, crate::history::History) {
    let place = folder();
    let notes = workload::run(&place.path().join(NAME), seed, SHARED);
    let mut replay = notes.disk().replay(FailedSyncs::Wait, Dice::new(seed));
    let last = notes.history().told.last().expect("something was told").at;
    replay.advance(last);
    (replay.image(Keep::All), notes.history())
}

#[test]
fn a_damaged_wal_has_what_comes_before_the_damage() {
    let (mut shorter, mut count) = (0, 0);
    for seed in seeds(3) {
        let (image, history) = with_wal(seed);
        let wal = image.file(&format!("{NAME}-wal")).expect("all is in it");
        let mut dice = Dice::new(seed);
        for n in 0..40 {
            let place = folder();
            image.write_to(place.path()).unwrap();
            let mut damaged = wal.to_vec();
            let at = dice.below(wal.len());
            if n % 2 == 0 {
                damaged.truncate(at);
            } else {
                damaged[at] ^= 1 << dice.below(8);
            }
            fs::write(place.path().join(format!("{NAME}-wal")), damaged).unwrap();
            let path = place.path().join(NAME);
            // Nothing was promised; but what is there is whole, and without gaps.
            if let Err(why) = oracle::check(&path, &history, 0) {
                panic!("seed {seed}, {n}, at {at} of {}: {why}", wal.len());
            }
            count += 1;
            shorter += usize::from(oracle::check(&path, &history, usize::MAX).is_err());
        }
    }
    assert!(shorter * 2 > count, "{shorter} of {count} have lost something");
}

#[test]
fn a_commit_over_a_damaged_entity_is_refused() {
    let sound = file();
    let (mut refused, place) = (0, folder());
    for page in 1..sound.len() / PAGE {
        let mut bytes = sound.clone();
        bytes[page * PAGE..][..PAGE].fill(0xFF);
        let path = place.path().join(format!("{page}.db"));
        fs::write(&path, &bytes).unwrap();
        let Ok(store) = SqliteStore::open(&path) else { continue };
        for id in (0..ENTITIES).map(entity) {
            if let Ok(claim) = wait(|done| store.claim(id.clone(), done)) {
                refused += usize::from(!commit(&store, &id, &claim));
            }
        }
    }
    assert!(refused > 0, "no page was one that a commit needs");
}

/// Whether a commit is stored, and not refused because of damage.
fn commit(store: &SqliteStore, id: &EntityId, claim: &Claim) -> bool {
    let mut commit = Commit::new();
    let event = Event::new("noted", 1, vec![0; 1_500]);
    commit.member(id.clone(), claim.epoch, claim.last).event(event, claim.hash);
    match wait(|done| store.commit(commit, done)) {
        StoreOutcome::Committed(_) => true,
        StoreOutcome::Refused(CommitRefusal::Store(error)) if is_damage(&error, id) => false,
        other => panic!("{id}: {other:?}"),
    }
}
