//! What all owners of an entity share, one after the other: the commits that are on their way to the store, in order.
//!
//! Commands do not wait for the commits of those before them: what they have left, their answers above all, waits
//! here, and leaves in their order once it is stored. Whatever is not a command of the entity waits until nothing is on
//! its way.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use coact_actor::actor::ExitReason;
use coact_core::behaviour::NotCommitted;
use coact_core::internals::{Wake, drop_quietly};
use coact_core::runtime::Busy;
use coact_core::{Cown, Promise, when};
use coact_persist::{Commit, EntityId, Refusal, StoreError};

use crate::access::Access;

/// What is done when a commit is known to be stored, or not to be.
pub(crate) type Then = Box<dyn FnOnce(&End) + Send>;

/// What has come of a commit.
pub(crate) enum End {
    Stored,
    NotStored(NotCommitted),
    /// The runtime has ended before that was known.
    Lost,
}

/// Stops the actor that owns the entity.
pub(crate) type Stop = Arc<dyn Fn(ExitReason) + Send + Sync>;

pub(crate) struct Entity {
    pub(crate) id: EntityId,
    pub(crate) access: Arc<Access>,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    in_flight: VecDeque<InFlight>,
    /// How much of the store's that is.
    bytes: usize,
    /// Whether a behaviour on `place` does what is to be done then.
    is_draining: bool,
    /// Why the owner's state is not what is stored.
    failure: Option<Failure>,
    /// Whether there is an owner.
    is_occupied: bool,
    /// How many recoveries are under way: two, if the owner has failed while it was recovered.
    recoveries: usize,
    outage: Option<Outage>,
    waiters: Vec<Wake>,
    owner: Option<Owner>,
    busy: Option<Busy>,
}

/// What the owner has told of itself.
#[derive(Clone)]
struct Owner {
    /// Where what follows a commit runs, one after the other.
    place: Cown<()>,
    stop: Stop,
}

struct InFlight {
    /// What has come of it, once that is known.
    outcome: Option<End>,
    bytes: usize,
    then: Vec<Then>,
    /// Tells them apart.
    number: Arc<()>,
}

#[derive(Clone)]
enum Failure {
    /// A commit was not stored: the state has to be recovered.
    Undone(NotCommitted),
    /// There is another owner.
    Fenced(NotCommitted),
}

/// A store that cannot be reached.
struct Outage {
    since: Duration,
    why: StoreError,
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
    /// Nothing.
    Fenced(NotCommitted),
    /// Nothing while the store cannot be reached, which has been so for long.
    Unavailable(StoreError),
}

impl Entity {
    pub(crate) fn new(id: EntityId, access: Arc<Access>) -> Arc<Self> {
        Arc::new(Self { id, access, progress: Mutex::default() })
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says who the owner is.
    pub(crate) fn owned_by(&self, stop: Stop) {
        let owner = Owner { place: Cown::new(()), stop };
        let before = self.progress().owner.replace(owner);
        drop(before);
    }

    pub(crate) fn standing(&self) -> Standing {
        let progress = self.progress();
        if progress.recoveries > 0 {
            return match &progress.outage {
                Some(outage) if self.access.is_out_of_patience(outage.since) => {
                    Standing::Unavailable(outage.why.clone())
                }
                _ => Standing::Waiting,
            };
        }
        match &progress.failure {
            Some(Failure::Fenced(why)) => return Standing::Fenced(why.clone()),
            Some(Failure::Undone(why)) => return Standing::Undone(why.clone()),
            None => {}
        }
        if progress.bytes >= self.access.most_in_flight() {
            Standing::Waiting
        } else if progress.is_moving() {
            Standing::Committing
        } else {
            Standing::Free
        }
    }

    /// Calls `wake` when the [standing](Self::standing) may have changed, at once if it is such that it may not.
    pub(crate) fn when_changed(&self, wake: Wake) {
        self.unless(|progress| progress.recoveries == 0 && !progress.is_moving(), wake);
    }

    fn unless(&self, is_over: impl FnOnce(&Progress) -> bool, wake: Wake) {
        let mut progress = self.progress();
        if is_over(&progress) {
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

    /// Stores a step of the owner. `then` is called, on a worker, behind those of its steps before.
    pub(crate) fn submit(self: &Arc<Self>, commit: Commit, bytes: usize, then: Then) {
        let number = Arc::new(());
        {
            let mut progress = self.progress();
            progress.bytes += bytes;
            if progress.busy.is_none() {
                progress.busy =
                    progress.owner.as_ref().map(|owner| owner.place.runtime().hold_open());
            }
            let number = Arc::clone(&number);
            progress.in_flight.push_back(InFlight {
                outcome: None,
                bytes,
                then: vec![then],
                number,
            });
        }
        let told = Told { entity: Some(Arc::clone(self)), number };
        self.access.commit(commit, self.place(), Box::new(move |outcome| told.tell(outcome)));
    }

    /// Does something behind what is on its way, on a worker, or at once if that is nothing.
    pub(crate) fn behind(&self, then: Then) {
        let mut progress = self.progress();
        if let Some(last) = progress.in_flight.back_mut() {
            last.then.push(then);
            return;
        }
        if progress.is_draining {
            let outcome = Some(End::Stored);
            progress.in_flight.push_back(InFlight {
                outcome,
                bytes: 0,
                then: vec![then],
                number: Arc::default(),
            });
            return;
        }
        drop(progress);
        then(&End::Stored);
    }

    fn place(&self) -> Option<Cown<()>> {
        self.progress().owner.as_ref().map(|owner| owner.place.clone())
    }

    fn told(self: &Arc<Self>, number: &Arc<()>, outcome: End) {
        let mut progress = self.progress();
        let told = progress.in_flight.iter_mut().find(|commit| Arc::ptr_eq(&commit.number, number));
        if let Some(told) = told {
            told.outcome = Some(outcome);
        }
        if progress.is_draining || !progress.has_outcome() {
            return;
        }
        progress.is_draining = true;
        let place = progress.owner.as_ref().map(|owner| owner.place.clone());
        drop(progress);
        let drain = Drain(Some(Arc::clone(self)));
        if let Some(place) = place {
            when(&place, move |()| drain.run());
        }
    }

    /// Does what is to be done behind commits whose outcome is known.
    fn drain(&self) {
        loop {
            let mut progress = self.progress();
            if !progress.has_outcome() {
                progress.is_draining = false;
                break;
            }
            let Some(first) = progress.in_flight.pop_front() else { break };
            progress.bytes -= first.bytes;
            drop(progress);
            let InFlight { outcome: Some(outcome), then, .. } = first else { break };
            then.into_iter().for_each(|then| drop_quietly(|| then(&outcome)));
        }
        self.wake_all();
        let mut progress = self.progress();
        let busy = if progress.is_moving() { None } else { progress.busy.take() };
        drop(progress);
        drop(busy);
    }

    /// Says that what was to be done behind commits is not: the runtime that it belongs to has ended.
    fn abandon(&self) {
        let mut progress = self.progress();
        let in_flight = std::mem::take(&mut progress.in_flight);
        let (known, unknown): (Vec<_>, _) =
            in_flight.into_iter().partition(|commit| commit.outcome.is_some());
        progress.in_flight = unknown.into();
        progress.bytes = progress.in_flight.iter().map(|commit| commit.bytes).sum();
        progress.is_draining = false;
        drop(progress);
        let then = known.into_iter().flat_map(|commit| commit.then);
        then.for_each(|then| drop_quietly(|| then(&End::Lost)));
        self.wake_all();
    }

    pub(crate) fn wake_all(&self) {
        let waiters = std::mem::take(&mut self.progress().waiters);
        waiters.into_iter().for_each(drop_quietly);
    }

    /// Takes note of a refusal that concerns this entity.
    pub(crate) fn note(&self, outcome: &Result<(), Refusal>) {
        match outcome {
            Ok(()) => {}
            Err(refusal @ Refusal::Fenced { entity, .. }) if *entity == self.id => {
                self.fence(NotCommitted::new(refusal.clone()));
            }
            Err(refusal) => self.undo(NotCommitted::new(refusal.clone())),
        }
    }

    /// Takes note of what has become of a step that this entity was a member of. (Its state is recovered by the step.)
    pub(crate) fn note_step(&self, outcome: &Result<(), Refusal>) {
        match outcome {
            Err(refusal @ Refusal::Fenced { entity, .. }) if *entity == self.id => {
                self.fence(NotCommitted::new(refusal.clone()));
            }
            Err(refusal @ Refusal::Conflict { entity, .. }) if *entity == self.id => {
                self.undo(NotCommitted::new(refusal.clone()));
            }
            _ => {}
        }
    }

    /// Says that the owner's state is not what is stored.
    fn undo(&self, why: NotCommitted) {
        self.progress().failure.get_or_insert(Failure::Undone(why));
    }

    /// Says that there is another owner, and stops this one.
    fn fence(&self, why: NotCommitted) {
        let reason = ExitReason::Failed(why.to_string().into());
        let mut progress = self.progress();
        progress.failure = Some(Failure::Fenced(why));
        let owner = progress.owner.clone();
        drop(progress);
        owner.into_iter().for_each(|owner| (owner.stop)(reason.clone()));
    }

    /// Stops the owner.
    pub(crate) fn stop(&self, reason: ExitReason) {
        let owner = self.progress().owner.clone();
        owner.into_iter().for_each(|owner| (owner.stop)(reason.clone()));
    }

    /// Says that the state is being recovered, until the result is dropped.
    pub(crate) fn begin_recovery(self: &Arc<Self>) -> Recovering {
        self.progress().recoveries += 1;
        Recovering { entity: Arc::clone(self), is_over: false }
    }

    /// Waits until the owner before is gone, and all that it has left is settled. Ends without result if it is not wanted any
    /// more.
    pub(crate) async fn occupy(
        self: &Arc<Self>,
        own: Option<Occupied>,
        is_wanted: impl Fn() -> bool,
    ) -> Option<Occupied> {
        loop {
            let (resolver, changed) = Promise::channel();
            {
                let mut progress = self.progress();
                let is_free = own.is_some() || !progress.is_occupied;
                if is_free && !progress.is_moving() {
                    progress.is_occupied = true;
                    progress.failure = None;
                    break;
                }
                progress.waiters.push(Box::new(move || resolver.resolve(())));
            }
            if !is_wanted() {
                return None;
            }
            let _ = changed.await;
        }
        Some(own.unwrap_or_else(|| Occupied(Arc::clone(self))))
    }

    /// Takes note that the store cannot be reached.
    pub(crate) fn store_is_down(&self, why: StoreError, now: Duration) {
        let mut progress = self.progress();
        let since = progress.outage.take().map_or(now, |outage| outage.since);
        progress.outage = Some(Outage { since, why });
        drop(progress);
        self.wake_all();
    }

    /// Takes note that it was reached.
    pub(crate) fn store_is_up(&self) {
        let outage = self.progress().outage.take();
        drop(outage);
    }
}

impl Progress {
    /// Whether something is on its way, or is done behind it.
    fn is_moving(&self) -> bool {
        !self.in_flight.is_empty() || self.is_draining
    }

    fn has_outcome(&self) -> bool {
        self.in_flight.front().is_some_and(|commit| commit.outcome.is_some())
    }
}

impl fmt::Debug for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entity").field(&self.id).finish()
    }
}

/// The outcome of a commit, which is owed to its entity.
struct Told {
    entity: Option<Arc<Entity>>,
    number: Arc<()>,
}

impl Told {
    fn tell(mut self, outcome: Result<(), Refusal>) {
        if let Some(entity) = self.entity.take() {
            entity.note(&outcome);
            let end =
                outcome.map_or_else(|why| End::NotStored(NotCommitted::new(why)), |()| End::Stored);
            entity.told(&self.number, end);
        }
    }
}

impl Drop for Told {
    /// The runtime in which it was waited for has ended.
    fn drop(&mut self) {
        if let Some(entity) = self.entity.take() {
            entity.undo(NotCommitted::new(Abandoned));
            entity.told(&self.number, End::Lost);
        }
    }
}

/// What is to be done behind commits, on a worker.
struct Drain(Option<Arc<Entity>>);

impl Drain {
    fn run(mut self) {
        self.0.take().into_iter().for_each(|entity| entity.drain());
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|entity| entity.abandon());
    }
}

/// A recovery that is under way.
pub(crate) struct Recovering {
    pub(crate) entity: Arc<Entity>,
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
        let mut progress = self.entity.progress();
        progress.recoveries -= 1;
        if !self.is_over {
            progress.failure = Some(Failure::Undone(NotCommitted::new(Abandoned)));
        }
        drop(progress);
        self.entity.wake_all();
    }
}

/// The runtime has ended before it was known what has become of a step.
#[derive(Debug)]
struct Abandoned;

impl fmt::Display for Abandoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the runtime has ended before it was known: it may be stored or not")
    }
}

impl std::error::Error for Abandoned {}

/// The one owner of an entity in this process, until it is dropped.
pub(crate) struct Occupied(Arc<Entity>);

impl Drop for Occupied {
    fn drop(&mut self) {
        self.0.progress().is_occupied = false;
        self.0.wake_all();
    }
}
