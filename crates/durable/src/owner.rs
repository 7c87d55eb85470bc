//! An actor that owns an entity, or is about to: what of it is on its way to the store, in order.
//!
//! Commands do not wait for the commits of those before them: what they have left, their answers above all, waits
//! here, and leaves in their order once it is stored. So do pipelined behaviours, of which several entities may be members
//! (`joint.rs`). All other behaviours wait until nothing is on its way.

use std::any::Any;
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::mem::take;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Wake, Waker};

use coact_actor::actor::ExitReason;
use coact_core::behaviour::NotCommitted;
use coact_core::internals::{self, drop_quietly};
use coact_core::runtime::{Busy, OnCancel};
use coact_core::{Cown, Promise, when};
use coact_persist::{Commit, CommitMemory, EntityId, Position, Refusal, StoreError};

use crate::access::{Access, Alarm, Tell, lock};
use crate::entity::{Entity, EntityOwner, Place};
use crate::joint::{InOrder, Joint};
use crate::outages::{Question, QueuedOwner};
use crate::outcome::{Abandoned, End, Then, not_committed};

/// The actor, without its type.
pub(crate) trait OwningActor: Send + Sync {
    /// Ends it. Commands that it has not decided on fail with `why`.
    fn stop(&self, reason: ExitReason, why: NotCommitted);

    /// Has it look after its state, before anything else sees that.
    fn attend(&self);

    /// Its `WeakAddr`.
    fn address(&self) -> Box<dyn Any + Send>;
}

pub(crate) struct Owner {
    pub(crate) entity: Arc<Entity>,
    actor: Box<dyn OwningActor>,
    /// Where what follows a commit runs, one after the other.
    pub(crate) place: Cown<()>,
    /// Where what is on its way is given up, if the runtime is cancelled: beside what runs in the other place, which may be stuck.
    at_end: Cown<()>,
    progress: Mutex<Progress>,
    _wakes_at_end: OnCancel,
}

#[derive(Default)]
struct Progress {
    in_flight: VecDeque<InFlight>,
    next: u64,
    /// How much of the store's that is.
    bytes: usize,
    /// Whether a behaviour on `place` does what is to be done then.
    is_draining: bool,
    /// While something is on its way.
    held: Option<Held>,
    /// Why the state is not what is stored.
    failure: Option<Failure>,
    /// Why something that has left was not stored, which what comes behind it may have seen.
    refused: Option<NotCommitted>,
    /// How many recoveries are under way: those that are not wanted any more end soon.
    recoveries: usize,
    /// What a recovery waits for, since when.
    obstacle: Option<Obstacle>,
    /// How many commits have an outcome that is unknown, and since when there are some.
    unknown: usize,
    settling: Option<Obstacle>,
    /// Whether a recovery waits for its turn: then the outage that others find decides what those
    /// who wait are told.
    waits_for_turn: bool,
    waiters: Vec<internals::ReadyCallback>,
}

struct Obstacle {
    why: NotCommitted,
    /// Whether those who wait are told. (Not a time: clocks of several runtimes do not agree.)
    has_lasted: Arc<AtomicBool>,
    /// Takes note of that, and has them look again.
    _alarm: Alarm,
}

impl Obstacle {
    /// One that begins now. When it has lasted, `then` is called, and those who wait look again.
    fn new(
        owner: &Arc<Owner>,
        why: NotCommitted,
        then: impl FnOnce(&Owner) + Send + 'static,
    ) -> Self {
        let (has_lasted, owner_of) = (Arc::<AtomicBool>::default(), Arc::downgrade(owner));
        let is_told = Arc::clone(&has_lasted);
        let _alarm = owner.entity.access.after_patience(move || {
            // ORDERING: Relaxed. See `lasting`.
            is_told.store(true, Ordering::Relaxed);
            if let Some(owner) = owner_of.upgrade() {
                then(&owner);
                owner.wake_all();
            }
        });
        Self { why, has_lasted, _alarm }
    }

    /// Returns why those who wait fail, if it has lasted.
    fn lasting(&self) -> Option<NotCommitted> {
        // ORDERING: Relaxed. Who finds that it has not is woken behind that.
        self.has_lasted.load(Ordering::Relaxed).then(|| self.why.clone())
    }
}

struct InFlight {
    what: What,
    bytes: usize,
    /// What is to be done behind it, for those who have persisted nothing.
    behind: Vec<Then>,
    /// It grows from each to the next.
    number: u64,
}

enum What {
    /// A commit of this entity alone.
    Commit {
        /// Whether it has something to be stored, and is no check.
        changes: bool,
        /// What has come of it, once that is known.
        end: Option<End>,
        then: Option<Then>,
        _memory: Option<CommitMemory>,
    },
    /// A part of a step.
    Step {
        joint: Arc<Joint>,
        /// Whether it has something of this entity to be stored.
        changes: bool,
        /// Whether it has come to the front, and waits until the others have.
        has_arrived: bool,
    },
}

/// What a part of a step, or a check, counts, besides what is stored.
pub(crate) const PER_PART: usize = 64;

/// What is held as long as something is on its way.
struct Held {
    /// The entity.
    _place: Arc<Place>,
    /// The runtime.
    _busy: Busy,
}

/// Is woken when the runtime is cancelled.
struct AtEnd(Weak<Owner>);

impl Wake for AtEnd {
    fn wake(self: Arc<Self>) {
        self.0.upgrade().iter().for_each(Owner::give_up_if_cancelled);
    }
}

/// Gives up what is on its way, when it is dropped.
struct GivenUp(Arc<Owner>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.abandon(true);
    }
}

#[derive(Clone)]
enum Failure {
    /// A commit was not stored: the state has to be recovered.
    Undone(NotCommitted),
    /// There is another owner, or the state cannot be recovered: the actor is stopped.
    Final(NotCommitted),
}

/// What the owner of an entity may do.
pub(crate) enum Standing {
    /// Anything.
    Free,
    /// Decide on commands: commits are on their way.
    Committing,
    /// Nothing yet: the state is being recovered, or there is no room for more.
    Waiting,
    /// Nothing before its state was recovered.
    Undone(NotCommitted),
    /// Nothing: for good, or as long as what it waits for lasts, which has been long.
    Never(NotCommitted),
}

impl Owner {
    pub(crate) fn new(entity: &Arc<Entity>, actor: impl OwningActor + 'static) -> Arc<Self> {
        let (entity, actor) = (Arc::clone(entity), Box::new(actor));
        let (place, at_end, progress) = (Cown::new(()), Cown::new(()), Mutex::default());
        Arc::new_cyclic(|this: &Weak<Self>| {
            let waker = Waker::from(Arc::new(AtEnd(this.clone())));
            let _wakes_at_end = place.runtime().on_cancel(waker);
            Self { entity, actor, place, at_end, progress, _wakes_at_end }
        })
    }

    /// Takes note that it has the entity, if its place says so: then one that was not started for its key is found by that.
    pub(crate) fn is_owner_at(&self, place: &Place) {
        if place.is_first() && !place.is_by_key {
            self.entity.is_owned_by(self.actor.address());
        }
    }

    /// See [`Tell::home`].
    pub(crate) fn home(&self) -> (&Access, &Cown<()>) {
        (&self.entity.access, &self.place)
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        lock(&self.progress)
    }

    pub(crate) fn standing(&self) -> Standing {
        let progress = self.progress();
        if let Some(Failure::Final(why)) = &progress.failure {
            return Standing::Never(why.clone());
        }
        if progress.recoveries > 0 {
            let why = if progress.waits_for_turn {
                self.entity.access.outages.lasting()
            } else {
                progress.obstacle.as_ref().and_then(Obstacle::lasting)
            };
            return why
                .or_else(|| progress.is_unsettled())
                .map_or(Standing::Waiting, Standing::Never);
        }
        if let Some(why) = progress.is_unsettled() {
            return Standing::Never(why);
        }
        if let Some(Failure::Undone(why)) = &progress.failure {
            return Standing::Undone(why.clone());
        }
        if progress.bytes >= self.entity.access.most_in_flight() {
            Standing::Waiting
        } else if progress.is_moving() {
            Standing::Committing
        } else {
            Standing::Free
        }
    }

    /// Whether it is replaced, or closed, or cannot be recovered.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.progress().failure, Some(Failure::Final(_)))
    }

    /// Ends the actor, since the journal is closed.
    pub(crate) fn close(&self) {
        if !self.is_over() {
            self.end_for(ExitReason::Shutdown, NotCommitted::new(StoreError::Closed));
        }
    }

    /// Says that the outcome of a commit is unknown. When that has lasted for the journal's
    /// patience, those who wait, and whose commands and behaviours were not decided on, are told.
    pub(crate) fn begin_settling(self: &Arc<Self>, why: &StoreError) {
        let is_first = {
            let mut progress = self.progress();
            progress.unknown += 1;
            progress.unknown == 1
        };
        if is_first {
            let why = format!("it is not known yet whether a commit is stored: {why}");
            let why = NotCommitted::new(StoreError::Unavailable { why });
            let settling = Obstacle::new(self, why, |_| {});
            self.progress().settling = Some(settling);
        }
    }

    /// Says that the outcome of such a commit is known, or not waited for any longer.
    pub(crate) fn end_settling(&self) {
        let mut progress = self.progress();
        progress.unknown -= 1;
        let settling = if progress.unknown == 0 { progress.settling.take() } else { None };
        drop(progress);
        drop(settling);
    }

    /// Calls `wake` when the [standing](Self::standing) may have changed, at once if it is such that it may not.
    pub(crate) fn when_changed(&self, wake: internals::ReadyCallback) {
        let mut progress = self.progress();
        if progress.recoveries == 0 && !progress.is_moving() {
            drop(progress);
            wake();
        } else {
            progress.waiters.push(wake);
        }
    }

    /// Waits until the standing may have changed.
    pub(crate) async fn changed(&self) {
        let (resolver, changed) = Promise::channel();
        self.when_changed(Box::new(move || resolver.resolve(())));
        // One that was dropped looks again.
        let _ = changed.await;
    }

    /// Stores a step, or checks it. `then` is called, on a worker, behind those of the steps
    /// before.
    pub(crate) fn submit(
        self: &Arc<Self>,
        (commit, bytes): (Commit, usize),
        place: &Arc<Place>,
        then: Then,
    ) {
        let (_memory, changes) = (Some(commit.memory()), !commit.is_check());
        let what = What::Commit { changes, end: None, then: Some(then), _memory };
        let mut progress = self.progress();
        let (number, is_held) = (progress.push(what, bytes), progress.held.is_some());
        drop(progress);
        if !is_held {
            self.hold(place);
        }
        self.give_up_if_cancelled();
        let owner = Arc::clone(self);
        let told = Told { owner, number, changes, is_told: false, is_unknown: false };
        self.entity.access.commit(commit, told);
    }

    /// Holds the entity and the runtime while something is on its way: to be called when that was added, and before it can end.
    fn hold(self: &Arc<Self>, place: &Arc<Place>) {
        let (_place, _busy) = (Arc::clone(place), self.place.runtime().hold_open());
        let held = Held { _place, _busy };
        let mut progress = self.progress();
        // Otherwise the runtime has ended by now.
        let unused = if progress.is_moving() { progress.held.replace(held) } else { Some(held) };
        drop(progress);
        drop(unused);
    }

    /// Gives up what is on its way, if the runtime is cancelled: in a behaviour, which that drops.
    ///
    /// To be called behind all that is added: who cancels it wakes [`AtEnd`] behind that, which finds what was added, if it is not found here.
    fn give_up_if_cancelled(self: &Arc<Self>) {
        if self.at_end.runtime().is_cancelled() {
            let given_up = GivenUp(Arc::clone(self));
            when(&self.at_end, move |()| drop(given_up));
        }
    }

    /// The same for a part of a step.
    pub(crate) fn hold_for_step(self: &Arc<Self>, place: &Arc<Place>) {
        if self.progress().held.is_none() {
            self.hold(place);
        }
        self.give_up_if_cancelled();
    }

    /// Adds a part of a step behind what is on its way, of this size if it changes the state.
    pub(crate) fn join(&self, joint: &Arc<Joint>, bytes: Option<usize>) {
        let (joint, changes) = (Arc::clone(joint), bytes.is_some());
        let what = What::Step { joint, changes, has_arrived: false };
        self.progress().push(what, PER_PART + bytes.unwrap_or_default());
    }

    /// Whether nothing is on its way, and all is stored that was.
    pub(crate) fn is_settled(&self) -> bool {
        let progress = self.progress();
        !progress.is_moving() && progress.failure.is_none()
    }

    /// Does something behind what is on its way, on a worker, or at once if that is nothing: for a decision that has persisted
    /// nothing, and has seen what is on its way.
    pub(crate) fn behind(&self, then: Then) {
        let mut progress = self.progress();
        if let Some(last) = progress.in_flight.back_mut() {
            last.behind.push(then);
            return;
        }
        // What was on its way then may have come back by now.
        let end = match &progress.failure {
            Some(Failure::Undone(why) | Failure::Final(why)) => End::NotStored(why.clone()),
            None => End::Stored(Position::ZERO),
        };
        if progress.is_draining {
            let (end, then) = (Some(end), Some(then));
            progress.push(What::Commit { changes: true, end, then, _memory: None }, 0);
            return;
        }
        drop(progress);
        then(&end);
    }

    fn told(self: &Arc<Self>, number: u64, end: End) {
        let mut progress = self.progress();
        let in_flight = &mut progress.in_flight;
        if let Ok(at) = in_flight.binary_search_by_key(&number, |commit| commit.number) {
            in_flight[at].is_told(end);
        }
        let has_begun = progress.begins_to_drain();
        drop(progress);
        if has_begun {
            Arc::clone(self).drain_in_place();
        }
    }

    /// Drains, on a worker.
    fn drain_in_place(self: Arc<Self>) {
        let place = self.place.clone();
        let drain = Drain(Some(self));
        when(&place, move |()| drain.run());
    }

    /// Does what is to be done behind commits of which it is known what has come of them.
    fn drain(&self) {
        while self.drain_first() {}
    }

    /// Does that behind the first. Returns whether another may follow.
    fn drain_first(&self) -> bool {
        let mut progress = self.progress();
        if !progress.may_go_on() {
            progress.is_draining = false;
            rest(progress);
            return false;
        }
        if let Some(joint) = progress.arrives() {
            if let Some((then, end)) = joint.arrive(progress.refused.as_ref()) {
                drop(progress);
                drop_quietly(|| then(&end));
                joint.end();
            }
            return true;
        }
        let Some(first) = progress.in_flight.pop_front() else { return false };
        progress.bytes -= first.bytes;
        let Some((then, end, end_behind)) = progress.leaves(first.what) else { return false };
        drop(progress);
        then.into_iter().for_each(|then| drop_quietly(|| then(&end)));
        first.behind.into_iter().for_each(|then| drop_quietly(|| then(&end_behind)));
        true
    }

    /// Says that what was to be done behind commits is not: the runtime has ended. `all`: also behind those of which it is not known
    /// what has come of them.
    fn abandon(&self, all: bool) {
        self.progress().is_draining &= all;
        let mut others = Vec::new();
        self.abandon_some(all, &mut others);
        // (One after the other: a step has members, which have steps.)
        while let Some(other) = others.pop() {
            other.abandon_known(&mut others);
        }
    }

    fn abandon_some(&self, all: bool, others: &mut Vec<Arc<dyn InOrder>>) {
        let mut progress = self.progress();
        if progress.is_draining && !all {
            return;
        }
        let in_flight = take(&mut progress.in_flight);
        let (given_up, left): (Vec<_>, Vec<_>) =
            in_flight.into_iter().partition(|commit| all || commit.is_known());
        progress.in_flight = left.into();
        progress.bytes = progress.in_flight.iter().map(|commit| commit.bytes).sum();
        drop(progress);
        for InFlight { what, behind, .. } in given_up {
            let then = match what {
                What::Commit { then, .. } => then,
                What::Step { joint, .. } => {
                    others.extend(joint.abandon().iter().cloned());
                    None
                }
            };
            then.into_iter().chain(behind).for_each(|then| drop_quietly(|| then(&End::Lost)));
        }
        rest(self.progress());
    }

    pub(crate) fn wake_all(&self) {
        let waiters = take(&mut self.progress().waiters);
        waiters.into_iter().for_each(drop_quietly);
    }

    /// Ends the actor if its entity was taken over, or undoes its state if a command was refused: what follows from the outcome of a
    /// command's commit, a check, or a step that the entity was a member of.
    pub(crate) fn note(&self, outcome: &Result<Position, Refusal>, is_step: bool) {
        match outcome {
            Err(refusal @ Refusal::Fenced { entity, .. }) if *entity == self.entity.id => {
                self.end(not_committed(refusal.clone()));
            }
            Err(refusal @ Refusal::Conflict { entity, .. }) if *entity == self.entity.id => {
                self.undo(not_committed(refusal.clone()));
            }
            // A step says itself which states it has changed, and a check changes none.
            Err(refusal) if !is_step => self.undo(NotCommitted::new(refusal.clone())),
            _ => {}
        }
    }

    /// Says that the state is not what is stored, and has it recovered.
    pub(crate) fn undo(&self, why: NotCommitted) {
        self.progress().failure.get_or_insert(Failure::Undone(why));
        self.actor.attend();
    }

    /// Says that the actor cannot own the entity any more, and stops it.
    pub(crate) fn end(&self, why: NotCommitted) {
        let reason = ExitReason::Failed(why.cause().to_string().into());
        self.end_for(reason, why);
    }

    fn end_for(&self, reason: ExitReason, why: NotCommitted) {
        self.progress().failure = Some(Failure::Final(why.clone()));
        self.actor.stop(reason, why);
        self.wake_all();
    }

    /// Says that the state is being recovered, until the result is dropped.
    pub(crate) fn begin_recovery(self: &Arc<Self>) -> Recovering {
        self.progress().recoveries += 1;
        Recovering { owner: Arc::clone(self), is_over: false }
    }

    /// Waits until the owner before is gone, and all that it, or this one, has left is settled. Returns false if it is not wanted
    /// any more before.
    pub(crate) async fn take_over(
        self: &Arc<Self>,
        place: &Place,
        is_wanted: impl Fn() -> bool,
    ) -> bool {
        while let Some(changed) = place.wait() {
            self.waits_for(NotCommitted::new(Taken(self.entity.id.clone())), None);
            if !is_wanted() {
                return false;
            }
            let _ = changed.await;
        }
        self.is_owner_at(place);
        loop {
            if !is_wanted() {
                return false;
            }
            let (resolver, changed) = Promise::channel();
            {
                let mut progress = self.progress();
                if !progress.is_moving() {
                    let is_final = matches!(progress.failure, Some(Failure::Final(_)));
                    progress.failure = progress.failure.take().filter(|_| is_final);
                    progress.refused = None;
                    let obstacle = progress.obstacle.take();
                    drop(progress);
                    drop(obstacle);
                    return !is_final;
                }
                progress.waiters.push(Box::new(move || resolver.resolve(())));
            }
            let _ = changed.await;
        }
    }

    /// Sets what a recovery waits for. When that has lasted for the journal's patience, those who
    /// wait look again.
    fn waits_for(self: &Arc<Self>, why: NotCommitted, question: Option<Question>) {
        if let Some(obstacle) = &mut self.progress().obstacle {
            obstacle.why = why;
            return;
        }
        let obstacle = Obstacle::new(self, why, move |owner| {
            question.into_iter().for_each(|question| owner.outage_has_lasted(question));
        });
        self.progress().obstacle = Some(obstacle);
    }

    /// Says that a recovery waits for the store, which cannot be reached.
    pub(crate) fn waits_for_store(self: &Arc<Self>, question: Question, why: NotCommitted) {
        self.waits_for(why, Some(question));
    }

    /// Says that a recovery waits for an answer of the store, unless it is known to wait for
    /// something.
    pub(crate) fn waits_for_answer(self: &Arc<Self>, question: Question) {
        let is_known = self.progress().obstacle.is_some();
        if !is_known {
            let why = StoreError::Unavailable { why: "it has not answered yet".into() };
            self.waits_for(NotCommitted::new(why), Some(question));
        }
    }

    /// Tells the other recoveries that the store has not answered this question for the journal's
    /// patience.
    fn outage_has_lasted(&self, question: Question) {
        let outages = &self.entity.access.outages;
        let why = {
            let progress = self.progress();
            // One that waits for its turn asks nothing, and learns from others whether the outage
            // lasts.
            let obstacle = progress.obstacle.as_ref().filter(|_| !progress.waits_for_turn);
            obstacle.map(|obstacle| obstacle.why.clone())
        };
        why.iter().for_each(|why| outages.begin(question, why));
        outages.has_lasted();
    }

    /// Says that a recovery waits for its turn, until what is returned is dropped.
    pub(crate) fn wait_for_turn(self: &Arc<Self>) -> TurnWait<'_> {
        self.progress().waits_for_turn = true;
        let outages = &self.entity.access.outages;
        let number = outages.enter_queue(Arc::downgrade(self) as _);
        if outages.lasting().is_some() {
            self.wake_all();
        }
        TurnWait { owner: self, number }
    }

    /// Takes note that nothing is in the way any more.
    pub(crate) fn goes_on(&self) {
        let obstacle = self.progress().obstacle.take();
        drop(obstacle);
    }
}

/// Tells those who wait that something has changed, and gives up what is held while something is on its way.
fn rest(mut progress: MutexGuard<'_, Progress>) {
    let waiters = take(&mut progress.waiters);
    let held = if progress.is_moving() { None } else { progress.held.take() };
    drop(progress);
    waiters.into_iter().for_each(drop_quietly);
    drop(held);
}

impl EntityOwner for Owner {
    fn close(&self) {
        Self::close(self);
    }

    fn give_up(self: Arc<Self>) {
        let given_up = GivenUp(Arc::clone(&self));
        when(&self.at_end, move |()| drop(given_up));
    }
}

impl QueuedOwner for Owner {
    fn wake_waiters(&self) {
        self.wake_all();
    }
}

impl InOrder for Owner {
    fn go_on(self: Arc<Self>) {
        let has_begun = self.progress().begins_to_drain();
        if has_begun {
            self.drain_in_place();
        }
    }

    fn abandon_known(&self, others: &mut Vec<Arc<dyn InOrder>>) {
        self.abandon_some(false, others);
    }
}

impl Progress {
    /// Adds what is on its way behind all that is. Returns its number.
    fn push(&mut self, what: What, bytes: usize) -> u64 {
        let number = self.next;
        self.next += 1;
        self.bytes += bytes;
        self.in_flight.push_back(InFlight { what, bytes, behind: Vec::new(), number });
        number
    }

    /// Returns why nothing is decided, if the outcome of a commit has been unknown for the
    /// journal's patience.
    fn is_unsettled(&self) -> Option<NotCommitted> {
        self.settling.as_ref().and_then(Obstacle::lasting)
    }

    /// Whether something is on its way, or is done behind it.
    fn is_moving(&self) -> bool {
        !self.in_flight.is_empty() || self.is_draining
    }

    /// Whether there is something to be done that nobody has begun. From now on the caller has.
    fn begins_to_drain(&mut self) -> bool {
        let has_begun = !self.is_draining && self.may_go_on();
        self.is_draining |= has_begun;
        has_begun
    }

    /// Whether there is something to be done for the first.
    fn may_go_on(&self) -> bool {
        self.in_flight.front().is_some_and(|first| match &first.what {
            What::Commit { end, .. } => end.is_some(),
            What::Step { joint, has_arrived, .. } => joint.may_move(*has_arrived),
        })
    }

    /// Takes note that the first has come to the front, and returns its step, if it is a part of one, and that was not known.
    fn arrives(&mut self) -> Option<Arc<Joint>> {
        match &mut self.in_flight.front_mut()?.what {
            What::Step { joint, has_arrived: has_arrived @ false, .. } => {
                *has_arrived = true;
                Some(Arc::clone(joint))
            }
            _ => None,
        }
    }

    /// Takes note that this has left the front. Returns what is to be done with what has come of it, and what those are told who
    /// persist nothing and come behind it.
    fn leaves(&mut self, what: What) -> Option<(Option<Then>, End, End)> {
        let (then, end, changes) = match what {
            What::Commit { end, then, changes, .. } => (then, end?, changes),
            What::Step { joint, changes, .. } => (None, joint.over()?, changes),
        };
        // (Others of a step's members are of no concern here.)
        if let (End::NotStored(why), true) = (&end, changes) {
            self.refused.get_or_insert(why.clone());
        }
        let end_behind = match &end {
            End::Lost => End::Lost,
            _ => self.refused.clone().map_or(End::Stored(Position::ZERO), End::NotStored),
        };
        Some((then, end, end_behind))
    }
}

impl InFlight {
    /// Takes note of what has come of a commit.
    fn is_told(&mut self, told: End) {
        if let What::Commit { end, .. } = &mut self.what {
            *end = Some(told);
        }
    }

    /// Whether it is known what has come of it.
    fn is_known(&self) -> bool {
        match &self.what {
            What::Commit { end, .. } => end.is_some(),
            What::Step { joint, .. } => joint.may_move(false),
        }
    }
}

/// The outcome of a commit, which is owed to its owner.
struct Told {
    owner: Arc<Owner>,
    number: u64,
    /// Whether the state is not what is stored if it fails.
    changes: bool,
    is_told: bool,
    is_unknown: bool,
}

impl Told {
    /// Before the outcome is told: who looks behind that finds nothing in the way.
    fn end_settling(&mut self) {
        if std::mem::take(&mut self.is_unknown) {
            self.owner.end_settling();
        }
    }
}

impl Tell for Told {
    fn home(&self) -> (&Access, &Cown<()>) {
        self.owner.home()
    }

    fn is_unknown(&mut self, why: &StoreError) {
        self.is_unknown = true;
        self.owner.begin_settling(why);
    }

    fn tell(mut self, outcome: Result<Position, Refusal>) {
        self.is_told = true;
        self.end_settling();
        self.owner.note(&outcome, !self.changes);
        self.owner.told(self.number, outcome.into());
    }
}

impl Drop for Told {
    /// If it was not told, the runtime in which it was waited for has ended, or the store is
    /// closed.
    fn drop(&mut self) {
        self.end_settling();
        if !self.is_told {
            if self.changes {
                self.owner.undo(NotCommitted::new(Abandoned));
            }
            self.owner.told(self.number, End::Lost);
        }
    }
}

/// What is to be done behind commits, on a worker.
struct Drain(Option<Arc<Owner>>);

impl Drain {
    fn run(mut self) {
        self.0.take().into_iter().for_each(|owner| owner.drain());
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|owner| owner.abandon(false));
    }
}

/// A recovery that is under way.
pub(crate) struct Recovering {
    pub(crate) owner: Arc<Owner>,
    is_over: bool,
}

impl Recovering {
    /// Says that the state was recovered, or cannot be.
    pub(crate) fn end(mut self) {
        self.is_over = true;
    }
}

impl Drop for Recovering {
    fn drop(&mut self) {
        self.owner.progress().recoveries -= 1;
        if self.is_over {
            self.owner.wake_all();
        } else {
            // It is not tried again: it would end in the same way.
            self.owner.end(NotCommitted::new(Abandoned));
        }
    }
}

/// A recovery that waits for its turn.
pub(crate) struct TurnWait<'a> {
    owner: &'a Owner,
    number: u64,
}

impl Drop for TurnWait<'_> {
    fn drop(&mut self) {
        let outages = &self.owner.entity.access.outages;
        outages.leave_queue(self.number);
        if !outages.is_outage() {
            self.owner.goes_on();
        }
        self.owner.progress().waits_for_turn = false;
    }
}

/// The entity has another actor in this journal, which has not ended for as long as the journal is patient.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken(pub EntityId);

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(id) = self;
        write!(
            f,
            "`{id}` has another actor in this journal: use that one (`Journal::entity`), or end it"
        )
    }
}

impl Error for Taken {}
