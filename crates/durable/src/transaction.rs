//! The step of a behaviour over durable actors: what all of its members have decided, which is stored as a whole or not at
//! all.

use std::any::Any;
use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use coact_core::behaviour::NotCommitted;
use coact_core::internals::{Settled, Unsettled, drop_quietly};
use coact_core::{Cown, when};
use coact_persist::{Commit, Refusal};

use crate::owner::{Owner, not_committed};

/// Something to be done when a decision is durable.
pub(crate) struct Effect {
    /// Its place among those of its thread.
    number: u64,
    /// (Never locked: it makes the effect `Sync`, so that durable actors can be read in parallel.)
    run: Mutex<Box<dyn FnOnce() + Send>>,
}

impl Effect {
    pub(crate) fn new(run: impl FnOnce() + Send + 'static) -> Self {
        thread_local! {
            static NEXT: Cell<u64> = const { Cell::new(0) };
        }
        let number = NEXT.replace(NEXT.get() + 1);
        Self { number, run: Mutex::new(Box::new(run)) }
    }

    pub(crate) fn run(self) {
        drop_quietly(self.run.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
}

/// A step that is being collected.
pub(crate) struct Transaction {
    commit: Commit,
    members: Vec<Arc<Owner>>,
    effects: Vec<Effect>,
    has_events: bool,
    /// Why it cannot be stored.
    refused: Option<NotCommitted>,
}

impl Transaction {
    /// Returns the step that other members have begun, or begins it.
    pub(crate) fn of(unsettled: &mut Option<Box<dyn Unsettled>>) -> &mut Self {
        let unsettled = unsettled.get_or_insert_with(|| {
            let (members, effects) = (Vec::new(), Vec::new());
            Box::new(Self {
                commit: Commit::new(),
                members,
                effects,
                has_events: false,
                refused: None,
            })
        });
        let any: &mut dyn Any = &mut **unsettled;
        any.downcast_mut().expect("all states that settle are durable actors")
    }

    /// Adds a member.
    pub(crate) fn member(&mut self, owner: &Arc<Owner>) -> &mut Commit {
        if self
            .members
            .first()
            .is_some_and(|first| !first.entity.access.is_same(&owner.entity.access))
        {
            self.refused = Some(NotCommitted::new(TwoStores));
        }
        self.members.push(Arc::clone(owner));
        &mut self.commit
    }

    /// Takes note that a member has something to be stored.
    pub(crate) fn has_events(&mut self) {
        self.has_events = true;
    }

    pub(crate) fn add_effects(&mut self, effects: impl IntoIterator<Item = Effect>) {
        self.effects.extend(effects);
    }
}

impl Unsettled for Transaction {
    fn is_void(&self) -> bool {
        !self.has_events && self.effects.is_empty() && self.refused.is_none()
    }

    fn settle(self: Box<Self>, done: Settled) {
        let Self { commit, members, mut effects, has_events, refused } = *self;
        // The order in which the closure has named them.
        effects.sort_by_key(|effect| effect.number);
        let then = Box::new(move || effects.into_iter().for_each(Effect::run));
        match (refused.filter(|_| has_events), members.first()) {
            (Some(why), _) => {
                drop_quietly(move || drop(then));
                done(Err(why));
            }
            (None, Some(first)) if has_events => {
                let access = Arc::clone(&first.entity.access);
                let place = first.place.clone();
                let far = place.clone();
                let step = Step { members, then, done };
                access.commit(commit, place, Box::new(move |outcome| step.told(outcome, &far)));
            }
            _ => done(Ok(then)),
        }
    }
}

/// A step that is on its way to the store.
struct Step {
    members: Vec<Arc<Owner>>,
    then: Box<dyn FnOnce() + Send>,
    done: Settled,
}

impl Step {
    /// Called on a thread of the store, which runs no code of the user.
    fn told(self, outcome: Result<(), Refusal>, place: &Cown<()>) {
        let Self { members, then, done } = self;
        members.iter().for_each(|member| member.note(&outcome, true));
        match outcome {
            Ok(()) => done(Ok(then)),
            Err(refusal) => {
                // (A panic would poison the place.)
                when(place, move |()| drop_quietly(move || drop(then)));
                done(Err(not_committed(refusal)));
            }
        }
    }
}

/// A behaviour names durable actors of several stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TwoStores;

impl fmt::Display for TwoStores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its durable members are of several stores, which cannot store it as one: use one `Journal` for them")
    }
}

impl Error for TwoStores {}
