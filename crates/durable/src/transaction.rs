//! The step of a behaviour over durable actors: what all of its members have decided, which is stored as a whole or not at
//! all.

use std::any::Any;
use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use coact_core::behaviour::NotCommitted;
use coact_core::internals::{OutcomeCallback, PendingCommit, drop_quietly};
use coact_core::{Cown, when};
use coact_persist::{Commit, Position, Refusal, StoreError};

use crate::access::{Access, Tell, lock};
use crate::entity::Place;
use crate::joint::{InOrder, Joint};
use crate::outcome::{Abandoned, End, Then, not_committed};
use crate::owner::Owner;

/// Something to be done when a decision is durable.
pub(crate) struct Effect {
    /// Its place among those of its thread.
    number: u64,
    /// (Never locked: it makes the effect `Sync`, so that durable actors can be read in parallel.)
    run: Mutex<Box<dyn FnOnce(Position) + Send>>,
}

impl Effect {
    /// What is given the position of the commit.
    pub(crate) fn new(run: impl FnOnce(Position) + Send + 'static) -> Self {
        thread_local! {
            static NEXT: Cell<u64> = const { Cell::new(0) };
        }
        let number = NEXT.replace(NEXT.get() + 1);
        Self { number, run: Mutex::new(Box::new(run)) }
    }

    pub(crate) fn run(self, position: Position) {
        let run = self.run.into_inner().unwrap_or_else(PoisonError::into_inner);
        drop_quietly(move || run(position));
    }
}

/// A member of a step.
struct Member {
    owner: Arc<Owner>,
    place: Arc<Place>,
    /// The size of what it has to be stored, if there is anything.
    bytes: Option<usize>,
}

/// A step that is being collected.
pub(crate) struct Transaction {
    commit: Commit,
    members: Vec<Member>,
    effects: Vec<Effect>,
    /// Why it cannot be stored.
    refused: Option<NotCommitted>,
    /// Whether the store is asked, also if there is nothing to be stored.
    is_confirmed: bool,
}

impl Transaction {
    /// Returns the step that other members have begun, or begins it.
    pub(crate) fn of(pending: &mut Option<Box<dyn PendingCommit>>) -> &mut Self {
        let pending = pending.get_or_insert_with(|| {
            let (commit, members, effects) = (Commit::new(), Vec::new(), Vec::new());
            Box::new(Self { commit, members, effects, refused: None, is_confirmed: false })
        });
        let any: &mut dyn Any = &mut **pending;
        any.downcast_mut().expect("all states that settle are durable actors")
    }

    /// Adds a member.
    pub(crate) fn member(&mut self, owner: &Arc<Owner>, place: &Arc<Place>) -> &mut Commit {
        if self
            .members
            .first()
            .is_some_and(|first| !first.owner.entity.access.is_same(&owner.entity.access))
        {
            self.refused = Some(NotCommitted::new(TwoStores));
        }
        let (owner, place) = (Arc::clone(owner), Arc::clone(place));
        self.members.push(Member { owner, place, bytes: None });
        &mut self.commit
    }

    /// Takes note of the size of what the last member has to be stored, if there is anything.
    pub(crate) fn contributes(&mut self, bytes: Option<usize>) {
        self.members.last_mut().into_iter().for_each(|member| member.bytes = bytes);
    }

    fn has_events(&self) -> bool {
        self.members.iter().any(|member| member.bytes.is_some())
    }

    /// Whether the store is asked: to store it, or to check it, which this makes it then.
    fn asks_store(&mut self) -> bool {
        let has_events = self.has_events();
        let is_check = self.is_confirmed && !has_events && self.refused.is_none();
        if is_check {
            self.commit.make_check();
        }
        has_events || self.is_confirmed
    }

    pub(crate) fn add_effects(&mut self, effects: impl IntoIterator<Item = Effect>) {
        self.effects.extend(effects);
    }
}

impl PendingCommit for Transaction {
    fn is_void(&self, is_pipelined: bool) -> bool {
        let has_nothing = !self.has_events() && self.effects.is_empty() && !self.is_confirmed;
        let is_empty = has_nothing && self.refused.is_none();
        is_empty && (!is_pipelined || are_settled(&self.members))
    }

    fn confirm(&mut self) {
        self.is_confirmed = true;
    }

    fn commit(mut self: Box<Self>, done: OutcomeCallback) {
        let asks_store = self.asks_store();
        let Self { commit, members, mut effects, refused, .. } = *self;
        let members: Vec<_> = members.into_iter().map(|member| member.owner).collect();
        // The order in which the closure has named them.
        effects.sort_by_key(|effect| effect.number);
        match (refused.filter(|_| asks_store), members.first()) {
            (Some(why), _) => {
                drop_quietly(move || drop(effects));
                done(Err(why));
            }
            (None, Some(first)) if asks_store => {
                let first = Arc::clone(first);
                let step = Step { first: Arc::clone(&first), members, effects, done };
                first.entity.access.commit(commit, step);
            }
            _ => done(Ok(run_all(effects, Position::ZERO))),
        }
    }

    fn commit_behind(mut self: Box<Self>, done: OutcomeCallback) {
        let asks_store = self.asks_store();
        let Self { commit, members, mut effects, refused, .. } = *self;
        effects.sort_by_key(|effect| effect.number);
        let then: Then = Box::new(move |end| match end {
            End::Stored(position) => {
                effects.into_iter().for_each(|effect| effect.run(*position));
                done(Ok(Box::new(|| ())));
            }
            End::NotStored(why) => {
                drop_quietly(move || drop(effects));
                done(Err(why.clone()));
            }
            End::Lost => {}
        });
        if let Some(why) = refused.filter(|_| asks_store) {
            undo_all(&members, &why);
            return then(&End::NotStored(why));
        }
        if !asks_store {
            return behind_all(members, then);
        }
        let Some(first) = members.first() else { return };
        let first = Arc::clone(&first.owner);
        let joint = join(&members, true, then);
        let told =
            Told { first: Arc::clone(&first), step: Some((joint, members)), is_unknown: false };
        first.entity.access.commit(commit, told);
    }
}

/// Held while the parts of a step are added, so that any two steps have the same order for all members that they share. (Steps
/// that only read a state are decided on at once; others come one after the other as it is.)
static JOINING: Mutex<()> = Mutex::new(());

/// Puts a step behind what its members have on their way.
fn join(members: &[Member], has_commit: bool, then: Then) -> Arc<Joint> {
    let owners = members.iter().map(|member| Arc::clone(&member.owner) as Arc<dyn InOrder>);
    let joint = Joint::new(owners.collect(), has_commit, then);
    {
        let _guard = lock(&JOINING);
        members.iter().for_each(|member| member.owner.join(&joint, member.bytes));
    }
    members.iter().for_each(|member| member.owner.hold_for_step(&member.place));
    joint
}

/// Has those recovered that a step has changed which is not stored.
fn undo_all(members: &[Member], why: &NotCommitted) {
    let changed = members.iter().filter(|member| member.bytes.is_some());
    changed.for_each(|member| member.owner.undo(why.clone()));
}

/// Does something behind what members have on their way: at once, if that is nothing.
fn behind_all(members: Vec<Member>, then: Then) {
    if are_settled(&members) {
        then(&End::Stored(Position::ZERO));
    } else {
        join(&members, false, then).go_on();
    }
}

fn are_settled(members: &[Member]) -> bool {
    members.iter().all(|member| member.owner.is_settled())
}

/// The outcome of a step's commit, which is owed to its members.
struct Told {
    first: Arc<Owner>,
    step: Option<(Arc<Joint>, Vec<Member>)>,
    is_unknown: bool,
}

impl Told {
    /// Tells the members of one whose outcome was unknown that it is not any more.
    fn end_settling(&self, members: &[Member]) {
        if self.is_unknown {
            members.iter().for_each(|member| member.owner.end_settling());
        }
    }
}

impl Tell for Told {
    fn home(&self) -> (&Access, &Cown<()>) {
        self.first.home()
    }

    fn is_unknown(&mut self, why: &StoreError) {
        self.is_unknown = true;
        let members = self.step.iter().flat_map(|(_, members)| members);
        members.for_each(|member| member.owner.begin_settling(why));
    }

    fn tell(mut self, outcome: Result<Position, Refusal>) {
        let Some((joint, members)) = self.step.take() else { return };
        self.end_settling(&members);
        for Member { owner, bytes, .. } in &members {
            owner.note(&outcome, bytes.is_none());
        }
        joint.told(outcome.into());
    }
}

impl Drop for Told {
    /// The runtime in which it was waited for has ended, or the store is closed.
    fn drop(&mut self) {
        if let Some((joint, members)) = self.step.take() {
            self.end_settling(&members);
            undo_all(&members, &NotCommitted::new(Abandoned));
            joint.told(End::Lost);
        }
    }
}

/// Returns what runs effects, given the position of their commit.
fn run_all(effects: Vec<Effect>, position: Position) -> Box<dyn FnOnce() + Send> {
    Box::new(move || effects.into_iter().for_each(|effect| effect.run(position)))
}

/// A step that is on its way to the store.
struct Step {
    first: Arc<Owner>,
    members: Vec<Arc<Owner>>,
    effects: Vec<Effect>,
    done: OutcomeCallback,
}

impl Tell for Step {
    fn home(&self) -> (&Access, &Cown<()>) {
        self.first.home()
    }

    fn tell(self, outcome: Result<Position, Refusal>) {
        let Self { first, members, effects, done } = self;
        members.iter().for_each(|member| member.note(&outcome, true));
        match outcome {
            Ok(position) => done(Ok(run_all(effects, position))),
            Err(refusal) => {
                // (A panic would poison the place.)
                when(&first.place, move |()| drop_quietly(move || drop(effects)));
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
