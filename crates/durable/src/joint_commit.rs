//! The commit of a behaviour over durable actors: what all of its members have decided, which is
//! stored as a whole or not at all.

use std::any::Any;
use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use coact_core::behaviour::NotCommitted;
use coact_core::internals::{OutcomeCallback, PendingCommit, drop_quietly};
use coact_core::{Cown, when};
use coact_persist::{Commit, CommitRefusal, Position};

use crate::commit_request::{CommitObserver, CommitRequest};
use crate::entity_ownership::OwnershipTicket;
use crate::pipeline::commit_outcome::{CommitOutcome, PostCommit, not_committed};
use crate::pipeline::{
    CommitMember, PipelineDriver, WaitingBehaviour, store_pipelined, wait_behind,
};
use crate::store_client::{StoreClient, lock};

/// Something to do when a decision is stored.
pub(crate) struct OnCommitAction {
    /// Its place among those of its thread.
    number: u64,
    /// (Never locked: it makes the effect `Sync`, so that durable actors can be read in parallel.)
    run: Mutex<Box<dyn FnOnce(Position) + Send>>,
}

impl OnCommitAction {
    /// What gets the position of the commit.
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

/// A behaviour's commit that is being collected from the members.
pub(crate) struct JointCommit {
    commit: Commit,
    members: Vec<CommitMember>,
    effects: Vec<OnCommitAction>,
    /// Why it cannot be stored.
    refusal: Option<NotCommitted>,
    /// Whether the store is asked, also if there is nothing to be stored.
    is_confirmed: bool,
}

impl JointCommit {
    /// Returns the commit that other members have begun, or begins it.
    pub(crate) fn of(pending: &mut Option<Box<dyn PendingCommit>>) -> &mut Self {
        let pending = pending.get_or_insert_with(|| {
            let (commit, members, effects) = (Commit::new(), Vec::new(), Vec::new());
            Box::new(Self { commit, members, effects, refusal: None, is_confirmed: false })
        });
        let any: &mut dyn Any = &mut **pending;
        any.downcast_mut().expect("all states that settle are durable actors")
    }

    /// Adds a member.
    pub(crate) fn add_member(
        &mut self,
        driver: &Arc<PipelineDriver>,
        ticket: &Arc<OwnershipTicket>,
    ) -> &mut Commit {
        let is_same_store =
            |first: &CommitMember| first.driver.entity.client.is_same(&driver.entity.client);
        if !self.members.first().is_none_or(is_same_store) {
            self.refusal = Some(NotCommitted::new(DifferentStores));
        }
        self.members.push(CommitMember::new(driver, ticket));
        &mut self.commit
    }

    /// Sets the size of what the last member has to be stored, if there is anything.
    pub(crate) fn set_member_bytes(&mut self, bytes: Option<usize>) {
        self.members.last_mut().into_iter().for_each(|member| member.bytes = bytes);
    }

    pub(crate) fn add_effects(&mut self, effects: impl IntoIterator<Item = OnCommitAction>) {
        self.effects.extend(effects);
    }

    fn has_events(&self) -> bool {
        self.members.iter().any(|member| member.bytes.is_some())
    }

    /// Whether the store is asked: to store it, or to check it, which this makes it then.
    fn asks_store(&mut self) -> bool {
        let has_events = self.has_events();
        let is_check = self.is_confirmed && !has_events && self.refusal.is_none();
        if is_check {
            self.commit.make_check();
        }
        has_events || self.is_confirmed
    }
}

impl PendingCommit for JointCommit {
    fn is_void(&self, is_pipelined: bool) -> bool {
        let has_nothing = !self.has_events() && self.effects.is_empty() && !self.is_confirmed;
        let is_empty = has_nothing && self.refusal.is_none();
        is_empty && (!is_pipelined || self.members.iter().all(CommitMember::is_settled))
    }

    fn confirm(&mut self) {
        self.is_confirmed = true;
    }

    fn commit(mut self: Box<Self>, done: OutcomeCallback) {
        let asks_store = self.asks_store();
        let Self { commit, members, mut effects, refusal, .. } = *self;
        let members: Vec<_> = members.into_iter().map(|member| member.driver).collect();
        // The order in which the closure has named them.
        effects.sort_by_key(|effect| effect.number);
        match (refusal.filter(|_| asks_store), members.first()) {
            (Some(why), _) => {
                drop_quietly(move || drop(effects));
                done(Err(why));
            }
            (None, Some(first)) if asks_store => {
                let first = Arc::clone(first);
                let continuation =
                    Arc::new(BehaviourContinuation(Mutex::new(Some((effects, done)))));
                members
                    .iter()
                    .for_each(|member| member.behaviour_waits(Arc::clone(&continuation) as _));
                let receipt = BehaviourReceipt { first: Arc::clone(&first), members, continuation };
                CommitRequest::send(&first.entity.client, commit, receipt);
            }
            _ => done(Ok(run_all(effects, Position::ZERO))),
        }
    }

    fn commit_behind(mut self: Box<Self>, done: OutcomeCallback) {
        let asks_store = self.asks_store();
        let Self { commit, members, mut effects, refusal, .. } = *self;
        effects.sort_by_key(|effect| effect.number);
        let post_commit: PostCommit = Box::new(move |outcome| match outcome {
            CommitOutcome::Stored(position) => {
                effects.into_iter().for_each(|effect| effect.run(*position));
                done(Ok(Box::new(|| ())));
            }
            CommitOutcome::NotStored(why) => {
                drop_quietly(move || drop(effects));
                done(Err(why.clone()));
            }
            CommitOutcome::Lost => {}
        });
        if let Some(why) = refusal.filter(|_| asks_store) {
            members.iter().for_each(|member| member.refuse(&why));
            return post_commit(&CommitOutcome::NotStored(why));
        }
        if asks_store {
            store_pipelined(commit, members, post_commit);
        } else {
            wait_behind(&members, post_commit);
        }
    }
}

/// Returns what runs effects, given the position of their commit.
fn run_all(effects: Vec<OnCommitAction>, position: Position) -> Box<dyn FnOnce() + Send> {
    Box::new(move || effects.into_iter().for_each(|effect| effect.run(position)))
}

/// What a behaviour goes on with when the outcome of its commit is known, unless that is abandoned
/// before.
struct BehaviourContinuation(Mutex<Option<(Vec<OnCommitAction>, OutcomeCallback)>>);

impl BehaviourContinuation {
    fn take(&self) -> Option<(Vec<OnCommitAction>, OutcomeCallback)> {
        lock(&self.0).take()
    }
}

impl WaitingBehaviour for BehaviourContinuation {
    fn abandon(&self) {
        let continuation = self.take();
        drop_quietly(move || drop(continuation));
    }
}

/// Learns the outcome of the commit of a behaviour that waits for it, and holds its members
/// meanwhile.
struct BehaviourReceipt {
    first: Arc<PipelineDriver>,
    members: Vec<Arc<PipelineDriver>>,
    continuation: Arc<BehaviourContinuation>,
}

impl CommitObserver for BehaviourReceipt {
    fn home(&self) -> (&StoreClient, &Cown<()>) {
        self.first.home()
    }

    fn answered(self, answer: Result<Position, CommitRefusal>) {
        let Some((effects, done)) = self.continuation.take() else { return };
        let Self { first, members, continuation } = &self;
        // (The core tells those that it has changed if it is refused.)
        members.iter().for_each(|member| member.member_answered(&answer));
        members.iter().for_each(|member| member.behaviour_goes_on(continuation));
        match &answer {
            Ok(position) => done(Ok(run_all(effects, *position))),
            Err(refusal) => {
                // (A panic would poison the cown.)
                when(first.home().1, move |()| drop_quietly(move || drop(effects)));
                done(Err(not_committed(refusal)));
            }
        }
    }
}

impl Drop for BehaviourReceipt {
    /// If it was not answered, the runtime in which it was waited for has ended, or the journal is
    /// closed.
    fn drop(&mut self) {
        let Self { members, continuation, .. } = self;
        if let Some(left) = continuation.take() {
            members.iter().for_each(|member| member.behaviour_goes_on(continuation));
            drop_quietly(move || drop(left));
        }
    }
}

/// A behaviour names durable actors of several stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DifferentStores;

impl fmt::Display for DifferentStores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its durable members are of several stores, which cannot store it as one: use one `Journal` for them")
    }
}

impl Error for DifferentStores {}
