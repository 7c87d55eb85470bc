//! A program over a store, from a seed: claims, commits over one and two entities, snapshots, and
//! settling.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use coact_disk::{Dice, Disk};
use coact_persist::{
    Claim, Commit, CommitRefusal, CommitSettlement, EntityId, Epoch, Event, EventHash, LogEntry,
    Position, Seq, Store, StoreCallback, StoreError, StoreOutcome, StoreReader, Tags, wait,
};
use coact_sqlite::{OpenError, SqliteStore};

use crate::history::{ENTITIES, KIND, Notes, What, entity};

/// What kind of program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// How often the file is opened.
    pub rounds: usize,
    /// Steps in each round, for each thread.
    pub steps: usize,
    /// How long an event may be.
    pub longest: usize,
    /// How many threads use the store.
    pub threads: usize,
}

/// Some steps, and a few of the file's pages.
pub const SMALL: Shape = Shape { rounds: 1, steps: 12, longest: 300, threads: 1 };
/// Two threads, whose commits share transactions.
pub const SHARED: Shape = Shape { rounds: 1, steps: 10, longest: 3_000, threads: 2 };
/// The file is closed and opened again.
pub const REOPENED: Shape = Shape { rounds: 4, steps: 5, longest: 5_000, threads: 1 };
/// As little as has each of these in it.
pub const TINY: Shape = Shape { rounds: 2, steps: 3, longest: 300, threads: 1 };
/// The WAL gets longer than SQLite leaves it, so it is written to the file and begun anew, some
/// times.
pub const LONG: Shape = Shape { rounds: 1, steps: 40, longest: 60_000, threads: 2 };

/// How often a store that cannot be reached is asked again.
const PATIENCE: usize = 200;

/// Runs a program on a disk.
pub fn run(path: &Path, seed: u64, shape: Shape) -> Notes {
    let folder = path.parent().expect("it is in a folder");
    let notes = Notes::new(Arc::new(Disk::watch(folder).unwrap()));
    run_on(&notes, path, seed, shape);
    notes
}

/// Runs a program on a disk that may fail: it goes on until all that was unknown is settled.
pub fn run_on(notes: &Notes, path: &Path, seed: u64, shape: Shape) {
    for round in 0..shape.rounds {
        let store = Arc::new(open(path));
        // In the first one the store's connection that reads has read nothing yet, and holds
        // nothing.
        if round > 0 {
            read(notes, &store);
        }
        thread::scope(|scope| {
            for thread in 0..shape.threads {
                let place = round * shape.threads + thread;
                let seed = seed * 1_000 + place as u64;
                let mut program = Program::new(Arc::clone(&store), notes, seed, shape);
                let mut own = (0..ENTITIES).filter(move |n| n % shape.threads == thread);
                scope.spawn(move || {
                    let claimed = own.try_for_each(|number| program.claim_new(entity(number)));
                    let all =
                        claimed.and_then(|()| (0..shape.steps).try_for_each(|_| program.step()));
                    all.expect("the store comes back");
                });
            }
        });
    }
}

/// Runs a program until the store cannot do something, where the process is killed. Returns how
/// long the record is then, or `None` if that never happens.
pub fn until_it_fails(notes: &Notes, path: &Path, seed: u64, shape: Shape) -> Option<usize> {
    let Ok(store) = SqliteStore::open(path) else { return Some(notes.disk().position()) };
    let mut program = Program::new(Arc::new(store), notes, seed, shape);
    program.patience = 1;
    let claimed = (0..ENTITIES).try_for_each(|number| program.claim_new(entity(number)));
    let all = claimed.and_then(|()| (0..shape.steps).try_for_each(|_| program.step()));
    // (It is closed after that.)
    all.is_err().then(|| notes.disk().position())
}

/// Opens it, however often the disk fails.
fn open(path: &Path) -> SqliteStore {
    for _ in 0..PATIENCE {
        match SqliteStore::open(path) {
            Ok(store) => return store,
            Err(OpenError::Io { .. }) => {}
            Err(other) => panic!("a disk that fails is told as {other}"),
        }
    }
    panic!("it cannot be opened any more");
}

/// Reads what there is. Whoever has seen it may have told others.
fn read(notes: &Notes, store: &SqliteStore) {
    let told = notes.clone();
    let done = move |log: Result<Vec<LogEntry>, StoreError>| {
        let number = |it: &LogEntry| Some((number_of(&it.stored.event)?, it.stored.position));
        let log = log.expect("no read fails here").iter().map(|it| number(it).unwrap()).collect();
        told.told(What::Read { log });
    };
    wait(|end| {
        let done = move |log| {
            done(log);
            end(());
        };
        store.log(KIND.into(), Position::ZERO, usize::MAX >> 1, Box::new(done));
    });
}

/// What an owner knows of an entity.
#[derive(Clone)]
struct Owned {
    entity: EntityId,
    epoch: Epoch,
    last: Seq,
    hash: EventHash,
}

/// The store cannot do something, however often it is asked.
#[derive(Debug)]
struct Down;

struct Program {
    store: Arc<SqliteStore>,
    notes: Notes,
    dice: Dice,
    owned: Vec<Owned>,
    next: u64,
    longest: usize,
    patience: usize,
}

impl Program {
    fn new(store: Arc<SqliteStore>, notes: &Notes, seed: u64, shape: Shape) -> Self {
        Self {
            store,
            notes: notes.clone(),
            dice: Dice::new(seed),
            owned: Vec::new(),
            next: (seed + 1) * 100_000,
            longest: shape.longest,
            patience: PATIENCE,
        }
    }

    /// Asks until there is an answer.
    fn ask<T: Send + 'static>(
        &self,
        question: impl Fn(StoreCallback<Result<T, StoreError>>),
        note: impl Fn(&T) -> What + Clone + Send + 'static,
    ) -> Result<T, Down> {
        for _ in 0..self.patience {
            let (notes, note) = (self.notes.clone(), note.clone());
            let answer = wait(|done| {
                question(Box::new(move |answer| {
                    answer.iter().for_each(|answer| notes.told(note(answer)));
                    done(answer);
                }));
            });
            match answer {
                Ok(answer) => return Ok(answer),
                Err(StoreError::Unavailable { .. }) => {}
                Err(other) => panic!("a disk that fails is told as {other}"),
            }
        }
        Err(Down)
    }

    fn claim(&self, entity: &EntityId) -> Result<Claim, Down> {
        let id = entity.clone();
        let note = move |claim: &Claim| What::Claimed { entity: id.clone(), epoch: claim.epoch };
        self.ask(|done| self.store.claim(entity.clone(), done), note)
    }

    fn claim_new(&mut self, entity: EntityId) -> Result<(), Down> {
        let Claim { epoch, last, hash, .. } = self.claim(&entity)?;
        self.owned.push(Owned { entity, epoch, last, hash });
        Ok(())
    }

    fn claim_again(&mut self) -> Result<(), Down> {
        let all = std::mem::take(&mut self.owned);
        all.into_iter().try_for_each(|owned| self.claim_new(owned.entity))
    }

    fn step(&mut self) -> Result<(), Down> {
        match self.dice.below(10) {
            0 => self.abort(),
            1 => {
                let of = self.dice.below(self.owned.len());
                self.owned[of].epoch = self.claim(&self.owned[of].entity.clone())?.epoch;
                Ok(())
            }
            _ => self.commit(),
        }
    }

    /// Settles a commit before it comes.
    fn abort(&mut self) -> Result<(), Down> {
        let before = self.owned.clone();
        let (number, commit) = self.make();
        self.owned = before;
        assert_eq!(self.settle(number, &commit)?, CommitSettlement::Aborted);
        match wait(|done| self.store.commit(commit, done)) {
            StoreOutcome::Refused(CommitRefusal::Aborted) => {
                self.notes.told(What::Refused { number });
                Ok(())
            }
            // The disk has failed: it was decided already.
            StoreOutcome::Refused(CommitRefusal::Store(_)) | StoreOutcome::Unknown(_) => {
                self.claim_again()
            }
            other => panic!("it was aborted before, and now {other:?}"),
        }
    }

    /// Submits some commits one after the other, and waits for all.
    fn commit(&mut self) -> Result<(), Down> {
        let (tell, told) = channel();
        for _ in 0..1 + self.dice.below(4) {
            let (number, commit) = self.make();
            let (notes, tell, kept) = (self.notes.clone(), tell.clone(), commit.clone());
            let done = move |outcome| {
                match outcome {
                    StoreOutcome::Committed(position) => {
                        notes.told(What::Committed { number, position });
                    }
                    StoreOutcome::Refused(_) => notes.told(What::Refused { number }),
                    StoreOutcome::Unknown(_) => {}
                }
                tell.send((number, kept, outcome)).unwrap();
            };
            self.store.commit(commit, Box::new(done));
        }
        drop(tell);
        let mut has_failed = false;
        for (number, commit, outcome) in told {
            has_failed |= !matches!(outcome, StoreOutcome::Committed(_));
            if let StoreOutcome::Unknown(_) = outcome {
                self.settle(number, &commit)?;
            }
        }
        if has_failed { self.claim_again() } else { Ok(()) }
    }

    fn settle(&self, number: u64, commit: &Commit) -> Result<CommitSettlement, Down> {
        let note = move |settled: &CommitSettlement| What::Settled { number, settled: *settled };
        self.ask(|done| self.store.settle(commit.id(), done), note)
    }

    /// A commit over one entity or two, and as if it were stored already.
    fn make(&mut self) -> (u64, Commit) {
        self.next += 1;
        let number = self.next;
        let mut commit = Commit::new();
        let first = self.dice.below(self.owned.len());
        let second = self.dice.below(self.owned.len());
        let events = 1 + usize::from(self.dice.once_in(4));
        for of in if first == second { vec![first] } else { vec![first, second] } {
            let Owned { entity, epoch, last, hash } = &mut self.owned[of];
            let member = commit.member(entity.clone(), *epoch, *last);
            for _ in 0..events {
                *hash = member.event(event(number, &mut self.dice, self.longest), *hash);
                member.tag(tags(number));
                *last = last.next();
            }
            if self.dice.once_in(3) {
                member.snapshot(state(entity, *last, *hash), *hash);
            }
        }
        self.notes.submits(number, &commit);
        (number, commit)
    }
}

/// An event that says which commit it is of.
fn event(number: u64, dice: &mut Dice, longest: usize) -> Event {
    let mut payload = number.to_be_bytes().to_vec();
    let len = dice.below(longest);
    let filling = dice.below(256) as u8;
    payload.extend((0..len).map(|n| filling.wrapping_add(n as u8)));
    Event::new("noted", 1, payload)
}

/// Those that events have.
pub const TAGS: [&str; 2] = ["even", "third"];

fn tags(number: u64) -> Tags {
    let has = [number.is_multiple_of(2), number.is_multiple_of(3)];
    Tags::new(TAGS.into_iter().zip(has).filter(|(_, has)| *has).map(|(tag, _)| tag))
}

/// The commit that an event is of.
pub fn number_of(event: &Event) -> Option<u64> {
    Some(u64::from_be_bytes(event.payload.get(..8)?.try_into().ok()?))
}

/// What a snapshot says.
pub fn state(entity: &EntityId, last: Seq, hash: EventHash) -> Event {
    Event::new("state", 1, format!("{entity} at {last}: {hash}").into_bytes())
}
