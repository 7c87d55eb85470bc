//! What a workload has asked of a store, and what it was told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use coact_disk::Disk;
use coact_persist::{Commit, CommitId, CommitSettlement, EntityId, Epoch, Position};

/// The kind of all entities.
pub const KIND: &str = "account";

/// How many entities there are.
pub const ENTITIES: usize = 6;

pub fn entity(number: usize) -> EntityId {
    EntityId::new(KIND, format!("e{number}"))
}

/// What was told, by a thread of the store.
#[derive(Clone, Debug)]
pub enum What {
    /// What the log had: its commits, with their positions.
    Read {
        log: Vec<(u64, Position)>,
    },
    Claimed {
        entity: EntityId,
        epoch: Epoch,
    },
    Committed {
        number: u64,
        position: Position,
    },
    Refused {
        number: u64,
    },
    Settled {
        number: u64,
        settled: CommitSettlement,
    },
}

/// It, and the length of the record by then.
#[derive(Clone, Debug)]
pub struct Told {
    pub at: usize,
    pub what: What,
}

/// All that was asked and told.
#[derive(Clone, Default, Debug)]
pub struct History {
    pub commits: HashMap<u64, Commit>,
    pub told: Vec<Told>,
}

/// A history that is being made.
#[derive(Clone)]
pub struct Notes {
    disk: Arc<Disk>,
    history: Arc<Mutex<History>>,
}

impl Notes {
    pub fn new(disk: Arc<Disk>) -> Self {
        Self { disk, history: Arc::default() }
    }

    /// Goes on after the process was killed: what it was told was told before all that comes.
    pub fn after_kill(self, disk: Arc<Disk>) -> Self {
        let mut history = self.history();
        history.told.iter_mut().for_each(|told| told.at = 0);
        Self { disk, history: Arc::new(Mutex::new(history)) }
    }

    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    pub fn told(&self, what: What) {
        // First the place: what comes behind it comes after this was told.
        let at = self.disk.position();
        self.history.lock().unwrap().told.push(Told { at, what });
    }

    pub fn submits(&self, number: u64, commit: &Commit) {
        self.history.lock().unwrap().commits.insert(number, commit.clone());
    }

    pub fn history(&self) -> History {
        self.history.lock().unwrap().clone()
    }
}

impl History {
    pub fn id(&self, number: u64) -> CommitId {
        self.commits[&number].id()
    }

    /// How many commits were told to be committed by then.
    pub fn committed(&self, until: usize) -> usize {
        let told = self.told.iter().filter(|told| told.at <= until);
        told.filter(|told| matches!(told.what, What::Committed { .. })).count()
    }
}
