//! Whether a file has what was told by some point, and nothing that never was.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use coact_persist::{
    Claim, Commit, CommitRefusal, CommitSettlement, EntityId, Epoch, Event, EventHash, LogEntry,
    LogQuery, Position, Seq, Store, StoreOutcome, StoreReader, StoredEvent, wait,
};
use coact_sqlite::SqliteStore;

use crate::history::{ENTITIES, History, KIND, What, entity};
use crate::workload::{TAGS, number_of, state};

/// More than there is.
const ALL: usize = 1 << 30;

/// Opens a file, and compares it with what was told by some point of the record: why not, if it
/// does not fit.
pub fn check(path: &Path, history: &History, until: usize) -> Result<(), String> {
    let store = SqliteStore::open(path).map_err(|error| format!("it is lost: {error}"))?;
    let told = Promised::by(history, until);
    let stored = Stored::read(&store)?;
    stored.commits_are_whole(history)?;
    stored.log_fits(&store)?;
    told.is_kept(&stored, history)?;
    for number in 0..ENTITIES {
        let id = entity(number);
        claim_fits(&store, &id, stored.events(&id), &told)?;
    }
    decisions_stay(&store, history, &told)?;
    goes_on(&store, &entity(0))
}

/// What was told by then.
#[derive(Default)]
struct Promised {
    committed: HashMap<u64, Position>,
    /// Refused, or settled as aborted.
    never: Vec<u64>,
    aborted: Vec<u64>,
    epochs: HashMap<EntityId, Epoch>,
}

impl Promised {
    fn by(history: &History, until: usize) -> Self {
        let mut promised = Self::default();
        for told in history.told.iter().filter(|told| told.at <= until) {
            match &told.what {
                What::Read { log } => promised.committed.extend(log.iter().copied()),
                What::Claimed { entity, epoch } => {
                    let known = promised.epochs.entry(entity.clone()).or_default();
                    *known = (*known).max(*epoch);
                }
                What::Committed { number, position }
                | What::Settled { number, settled: CommitSettlement::Committed(position) } => {
                    promised.committed.insert(*number, *position);
                }
                What::Refused { number } => promised.never.push(*number),
                What::Settled { number, settled: CommitSettlement::Aborted } => {
                    promised.never.push(*number);
                    promised.aborted.push(*number);
                }
            }
        }
        promised
    }

    fn is_kept(&self, stored: &Stored, history: &History) -> Result<(), String> {
        for (number, position) in &self.committed {
            // (That it is whole was seen before.)
            match stored.positions.get(number) {
                Some(found) if found == position => {}
                found => return Err(format!("{number} was committed at {position}: {found:?}")),
            }
        }
        match self.never.iter().find(|number| stored.positions.contains_key(number)) {
            Some(number) => {
                Err(format!("{number} ({}) was refused, and is there", history.id(*number)))
            }
            None => Ok(()),
        }
    }
}

/// What is there.
struct Stored {
    events: BTreeMap<EntityId, Vec<StoredEvent>>,
    /// That of each commit.
    positions: HashMap<u64, Position>,
}

impl Stored {
    fn read(store: &SqliteStore) -> Result<Self, String> {
        let mut events = BTreeMap::new();
        for id in (0..ENTITIES).map(entity) {
            let read = wait(|done| store.events(id.clone(), Seq::ZERO, ALL, done));
            let read = read.map_err(|error| format!("{id} cannot be read: {error}"))?;
            events.insert(id, read);
        }
        let mut positions = HashMap::new();
        for (id, stored) in events.iter().flat_map(|(id, all)| all.iter().map(move |it| (id, it))) {
            let number = number_of(&stored.event).ok_or_else(|| format!("{id} has no event"))?;
            let position = *positions.entry(number).or_insert(stored.position);
            if position != stored.position {
                return Err(format!("{number} is at {position}, and at {}", stored.position));
            }
        }
        Ok(Self { events, positions })
    }

    fn events(&self, id: &EntityId) -> &[StoredEvent] {
        &self.events[id]
    }

    /// Each is there with all of its members, as it was submitted, and none has been skipped.
    fn commits_are_whole(&self, history: &History) -> Result<(), String> {
        let mut count = 0;
        for (number, position) in &self.positions {
            let commit: &Commit =
                history.commits.get(number).ok_or_else(|| format!("{number} never was"))?;
            for (id, member) in commit.members() {
                for (seq, event, hash) in member.events() {
                    let place = seq.get() as usize - 1;
                    let found = self.events[id].get(place);
                    let (event, position, tags) = (event.clone(), *position, member.tags_of(seq));
                    let expected = StoredEvent { seq, event, hash, position, tags };
                    if found != Some(&expected) {
                        return Err(format!("{number} is not whole: {id} has other at {seq}"));
                    }
                    count += 1;
                }
            }
        }
        let all: usize = self.events.values().map(Vec::len).sum();
        if count != all {
            return Err(format!("{all} events, and {count} of them of commits"));
        }
        let mut positions: Vec<u64> = self.positions.values().map(|it| it.get()).collect();
        positions.sort_unstable();
        let expected: Vec<u64> = (1..=positions.len() as u64).collect();
        if positions != expected {
            return Err(format!("a commit is missing in between: {positions:?}"));
        }
        Ok(())
    }

    fn log_fits(&self, store: &SqliteStore) -> Result<(), String> {
        let mut expected: Vec<LogEntry> = Vec::new();
        for (entity, all) in &self.events {
            expected.extend(
                all.iter().map(|it| LogEntry { entity: entity.clone(), stored: it.clone() }),
            );
        }
        expected.sort_by_key(|it| (it.stored.position, it.entity.clone(), it.stored.seq));
        let tagged = TAGS.map(|tag| LogQuery::Tag { tag: tag.into(), kind: None });
        for which in std::iter::once(KIND.into()).chain(tagged) {
            let is_meant = |it: &&LogEntry| which.matches(&it.entity, &it.stored.tags);
            let expected: Vec<_> = expected.iter().filter(is_meant).cloned().collect();
            match wait(|done| store.log(which.clone(), Position::ZERO, ALL, done)) {
                Ok(log) if log == expected => {}
                Ok(log) => {
                    let (found, expected) = (log.len(), expected.len());
                    return Err(format!("{which:?} has {found}, and not {expected}"));
                }
                Err(error) => return Err(format!("{which:?} cannot be read: {error}")),
            }
        }
        Ok(())
    }
}

/// An entity's claim has its last event, and a snapshot that was made of it.
fn claim_fits(
    store: &SqliteStore,
    id: &EntityId,
    events: &[StoredEvent],
    told: &Promised,
) -> Result<(), String> {
    let mut hashes = vec![EventHash::of(id)];
    for (stored, seq) in events.iter().zip(1..) {
        let hash = hashes[hashes.len() - 1].with(Seq::new(seq), &stored.event);
        if (stored.seq, stored.hash) != (Seq::new(seq), hash) {
            return Err(format!("{id} has {} at {seq}, with another hash", stored.seq));
        }
        hashes.push(hash);
    }
    let claim = wait(|done| store.claim(id.clone(), done));
    let Claim { epoch, last, hash, snapshot, .. } =
        claim.map_err(|error| format!("{id} cannot be claimed: {error}"))?;
    if (last.get() as usize, hash) != (events.len(), hashes[events.len()]) {
        return Err(format!("{id} has {} events, and {last} are claimed", events.len()));
    }
    if told.epochs.get(id).is_some_and(|known| epoch <= *known) {
        return Err(format!("{id} was claimed before, and now with {epoch}"));
    }
    let Some(snapshot) = snapshot else { return Ok(()) };
    let of = hashes.get(snapshot.seq.get() as usize);
    if of != Some(&snapshot.hash) || snapshot.state != state(id, snapshot.seq, snapshot.hash) {
        return Err(format!("{id} has a snapshot of something else at {}", snapshot.seq));
    }
    Ok(())
}

/// What was settled is settled in the same way, and a commit that was aborted is refused.
fn decisions_stay(store: &SqliteStore, history: &History, told: &Promised) -> Result<(), String> {
    for number in &told.aborted {
        let outcome = wait(|done| store.commit(history.commits[number].clone(), done));
        if outcome != StoreOutcome::Refused(CommitRefusal::Aborted) {
            return Err(format!("{number} was aborted, and is now {outcome:?}"));
        }
    }
    for (number, position) in &told.committed {
        let settled = wait(|done| store.settle(history.id(*number), done));
        if settled != Ok(CommitSettlement::Committed(*position)) {
            return Err(format!("{number} was committed at {position}, and is {settled:?}"));
        }
    }
    Ok(())
}

/// One more commit is stored.
fn goes_on(store: &SqliteStore, id: &EntityId) -> Result<(), String> {
    let claim = wait(|done| store.claim(id.clone(), done)).map_err(|error| error.to_string())?;
    let mut commit = Commit::new();
    commit
        .member(id.clone(), claim.epoch, claim.last)
        .event(Event::new("noted", 1, Vec::new()), claim.hash);
    match wait(|done| store.commit(commit, done)) {
        StoreOutcome::Committed(_) => Ok(()),
        other => Err(format!("it does not go on: {other:?}")),
    }
}
