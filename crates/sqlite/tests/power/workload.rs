//! A program over a store, from a seed: claims, commits over one and two entities, snapshots, and settling.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use coact_disk::{Dice, Disk};
use coact_persist::{
    Claim, Commit, EntityId, Epoch, Event, EventHash, Outcome, Refusal, Seq, Settled, Store, wait,
};
use coact_sqlite::{OpenError, SqliteStore};

use crate::history::{ENTITIES, Notes, What, entity};

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
/// The WAL gets longer than SQLite leaves it, so it is written to the file and begun anew, some times.
pub const LONG: Shape = Shape { rounds: 2, steps: 45, longest: 180_000, threads: 2 };

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
        let store = Arc::new(open(notes, path));
        thread::scope(|scope| {
            for thread in 0..shape.threads {
                let place = round * shape.threads + thread;
                let mut program = Program {
                    store: Arc::clone(&store),
                    notes: notes.clone(),
                    dice: Dice::new(seed * 1_000 + place as u64),
                    owned: Vec::new(),
                    next: (place as u64 + 1) * 100_000,
                    longest: shape.longest,
                };
                let own = (0..ENTITIES).filter(move |n| n % shape.threads == thread);
                scope.spawn(move || {
                    own.for_each(|number| program.claim_new(entity(number)));
                    (0..shape.steps).for_each(|_| program.step());
                });
            }
        });
    }
}

/// Opens it, however often the disk fails.
pub fn open(notes: &Notes, path: &Path) -> SqliteStore {
    for _ in 0..PATIENCE {
        match SqliteStore::open(path) {
            Ok(store) => {
                notes.told(What::Opened);
                return store;
            }
            Err(OpenError::Io { .. }) => {}
            Err(other) => panic!("a disk that fails is told as {other}"),
        }
    }
    panic!("it cannot be opened any more");
}

/// What an owner knows of an entity.
#[derive(Clone)]
struct Owned {
    entity: EntityId,
    epoch: Epoch,
    last: Seq,
    hash: EventHash,
}

struct Program {
    store: Arc<SqliteStore>,
    notes: Notes,
    dice: Dice,
    owned: Vec<Owned>,
    next: u64,
    longest: usize,
}

impl Program {
    fn claim(&self, entity: &EntityId) -> Claim {
        for _ in 0..PATIENCE {
            let notes = self.notes.clone();
            let id = entity.clone();
            let claimed = wait(|done| {
                self.store.claim(
                    entity.clone(),
                    Box::new(move |claim| {
                        if let Ok(Claim { epoch, .. }) = claim {
                            notes.told(What::Claimed { entity: id, epoch });
                        }
                        done(claim);
                    }),
                );
            });
            if let Ok(claim) = claimed {
                return claim;
            }
        }
        panic!("the store does not come back");
    }

    fn claim_new(&mut self, entity: EntityId) {
        let Claim { epoch, last, hash, .. } = self.claim(&entity);
        self.owned.push(Owned { entity, epoch, last, hash });
    }

    fn claim_again(&mut self) {
        for n in 0..self.owned.len() {
            let Claim { epoch, last, hash, .. } = self.claim(&self.owned[n].entity.clone());
            let owned = &mut self.owned[n];
            (owned.epoch, owned.last, owned.hash) = (epoch, last, hash);
        }
    }

    fn step(&mut self) {
        match self.dice.below(10) {
            0 => self.abort(),
            1 => {
                let of = self.dice.below(self.owned.len());
                let Claim { epoch, .. } = self.claim(&self.owned[of].entity.clone());
                self.owned[of].epoch = epoch;
            }
            _ => self.commit(),
        }
    }

    /// Settles a commit before it comes.
    fn abort(&mut self) {
        let before = self.owned.clone();
        let (number, commit) = self.make();
        self.owned = before;
        assert_eq!(self.settle(number, &commit), Settled::Aborted);
        let notes = self.notes.clone();
        let outcome = wait(|done| self.store.commit(commit, done));
        match outcome {
            Outcome::Refused(Refusal::Aborted) => notes.told(What::Refused { number }),
            // The disk has failed: it was decided already.
            Outcome::Refused(Refusal::Store(_)) | Outcome::Unknown(_) => self.claim_again(),
            other => panic!("it was aborted before, and now {other:?}"),
        }
    }

    /// Submits some commits one after the other, and waits for all.
    fn commit(&mut self) {
        let (tell, told) = channel();
        for _ in 0..1 + self.dice.below(4) {
            let (number, commit) = self.make();
            let (notes, tell, kept) = (self.notes.clone(), tell.clone(), commit.clone());
            let done = move |outcome| {
                match outcome {
                    Outcome::Committed(position) => {
                        notes.told(What::Committed { number, position });
                    }
                    Outcome::Refused(_) => notes.told(What::Refused { number }),
                    Outcome::Unknown(_) => {}
                }
                tell.send((number, kept, outcome)).unwrap();
            };
            self.store.commit(commit, Box::new(done));
        }
        drop(tell);
        let mut failed = false;
        for (number, commit, outcome) in told {
            failed |= !matches!(outcome, Outcome::Committed(_));
            if let Outcome::Unknown(_) = outcome {
                self.settle(number, &commit);
            }
        }
        if failed {
            self.claim_again();
        }
    }

    fn settle(&self, number: u64, commit: &Commit) -> Settled {
        for _ in 0..PATIENCE {
            let notes = self.notes.clone();
            let settled = wait(|done| {
                self.store.settle(
                    commit.id(),
                    Box::new(move |settled| {
                        if let Ok(settled) = settled {
                            notes.told(What::Settled { number, settled });
                        }
                        done(settled);
                    }),
                );
            });
            if let Ok(settled) = settled {
                return settled;
            }
        }
        panic!("the store does not come back");
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

/// The commit that an event is of.
pub fn number_of(event: &Event) -> Option<u64> {
    Some(u64::from_be_bytes(event.payload.get(..8)?.try_into().ok()?))
}

/// What a snapshot says.
pub fn state(entity: &EntityId, last: Seq, hash: EventHash) -> Event {
    Event::new("state", 1, format!("{entity} at {last}: {hash}").into_bytes())
}
