//! Drives the pipeline of an entity: keeps it under a lock, carries out its commands, and gives its
//! commits to the store.

use std::any::Any;
use std::mem::take;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::task::{Wake, Waker};

use coact_actor::actor::ExitReason;
use coact_core::behaviour::NotCommitted;
use coact_core::internals::{self, drop_quietly};
use coact_core::runtime::{Busy, OnCancel};
use coact_core::{Cown, Promise, when};
use coact_persist::{Commit, CommitRefusal, Position, StoreError};

use super::commit_outcome::{CommitOutcome, PostCommit, RuntimeEnded};
use super::commit_pipeline::{
    CommitPipeline, EntryKind, NextDelivery, OwnerStanding, PipelineCommand, PipelineCommands,
    PipelineEntry, PipelineResources, QueueEntry, SubmittedCommit, WaitId,
};
use super::pipelined_commit::PipelinedCommit;
use crate::commit_request::{CommitObserver, CommitRequest};
use crate::entity_ownership::{EntityOwner, EntityOwnership, OwnershipTicket};
use crate::store_client::{StoreClient, TimeoutGuard, lock};
use crate::store_outages::QueuedOwner;

/// The actor, without its type.
pub(crate) trait OwningActor: Send + Sync {
    /// Ends it. Commands that it has not decided on fail with `why`.
    fn stop(&self, reason: ExitReason, why: NotCommitted);

    /// Interrupts it, so that it recovers its state before anything else sees that.
    fn interrupt_to_recover(&self);

    /// Its `WeakAddr`.
    fn address(&self) -> Box<dyn Any + Send>;
}

/// A behaviour that waits for its commit, and holds its members meanwhile.
pub(crate) trait WaitingBehaviour: Send + Sync {
    /// Ends the wait: the members are free, and the behaviour is told to be cancelled.
    fn abandon(&self);
}

/// What a pipeline keeps for this driver.
pub(super) struct DriverResources;

impl PipelineResources for DriverResources {
    type PostCommit = PostCommit;
    type SharedCommit = Arc<SharedCommit>;
    type Waiter = internals::ReadyCallback;
    type Timeout = TimeoutGuard;
    type Hold = PipelineHold;
}

type Pipeline = CommitPipeline<DriverResources>;

/// Drives the pipeline of an actor that owns an entity, or is about to.
pub(crate) struct PipelineDriver {
    pub(crate) entity: Arc<EntityOwnership>,
    actor: Box<dyn OwningActor>,
    /// Where post-commits run, one after the other.
    deliveries: Cown<()>,
    /// Where what is pending is abandoned, if the runtime is cancelled: beside deliveries, which
    /// may be stuck.
    abandonments: Cown<()>,
    pipeline: Mutex<Pipeline>,
    /// The behaviours that wait for a commit of which this is a member: several, if they only read
    /// it.
    waiting_behaviours: Mutex<Vec<Arc<dyn WaitingBehaviour>>>,
    _wakes_on_cancel: OnCancel,
}

/// What is held as long as something is pending.
pub(super) struct PipelineHold {
    _ticket: Arc<OwnershipTicket>,
    _runtime: Busy,
}

/// What a part of a commit of several entities, or a check, counts, besides what is stored.
pub(crate) const BYTES_PER_PART: usize = 64;

impl PipelineDriver {
    pub(crate) fn new(
        entity: &Arc<EntityOwnership>,
        actor: impl OwningActor + 'static,
    ) -> Arc<Self> {
        let (entity, actor) = (Arc::clone(entity), Box::new(actor));
        let (deliveries, abandonments) = (Cown::new(()), Cown::new(()));
        let pipeline = Mutex::new(Pipeline::new(entity.id.clone()));
        Arc::new_cyclic(|this: &Weak<Self>| {
            let waker = Waker::from(Arc::new(CancelWaker(this.clone())));
            let _wakes_on_cancel = deliveries.runtime().on_cancel(waker);
            let waiting_behaviours = Mutex::default();
            Self {
                entity,
                actor,
                deliveries,
                abandonments,
                pipeline,
                waiting_behaviours,
                _wakes_on_cancel,
            }
        })
    }

    /// Tells the entity who owns it, if its ticket says so: an actor that was not started for the
    /// entity's key is found by that.
    pub(crate) fn register_owner_if_first(&self, ticket: &OwnershipTicket) {
        if ticket.is_first() && !ticket.is_by_key {
            self.entity.set_owner_address(self.actor.address());
        }
    }

    /// Ends the actor, since the journal is closed.
    pub(crate) fn close(self: &Arc<Self>) {
        EntityOwner::close(Arc::clone(self));
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Pipeline> {
        lock(&self.pipeline)
    }

    /// Tells the pipeline an event, and carries its commands out.
    pub(super) fn on_event(self: &Arc<Self>, event: impl FnOnce(&mut Pipeline) -> DriverCommands) {
        let commands = event(&mut self.lock());
        self.carry_out(commands);
    }

    fn carry_out(self: &Arc<Self>, commands: DriverCommands) {
        for command in commands {
            match command {
                PipelineCommand::Cancel(timeout) => drop(timeout),
                PipelineCommand::RecoverActor => drop_quietly(|| self.actor.interrupt_to_recover()),
                PipelineCommand::StopActor { reason, why } => {
                    drop_quietly(|| self.actor.stop(reason, why));
                }
                PipelineCommand::Wake(waiters) => waiters.into_iter().for_each(drop_quietly),
                PipelineCommand::Release(hold) => drop(hold),
                PipelineCommand::Deliver => self.start_delivery(),
            }
        }
    }

    pub(crate) fn standing(&self) -> OwnerStanding {
        let client = &self.entity.client;
        self.lock().standing(client.most_in_flight(), || client.outages.lasting())
    }

    /// Whether the actor was stopped for good.
    pub(crate) fn has_ended(&self) -> bool {
        self.lock().has_ended()
    }

    /// Says that the actor cannot own the entity any more, and stops it.
    pub(crate) fn fail(self: &Arc<Self>, why: NotCommitted) {
        self.on_event(|pipeline| pipeline.fail(why));
    }

    /// Calls `wake` when the [standing](Self::standing) may have changed, at once if it is such
    /// that it may not.
    pub(crate) fn when_changed(&self, wake: internals::ReadyCallback) {
        let unused = self.lock().add_waiter(wake);
        unused.into_iter().for_each(|wake| wake());
    }

    /// Waits until the standing may have changed.
    pub(crate) async fn changed(&self) {
        let (resolver, changed) = Promise::channel();
        self.when_changed(Box::new(move || resolver.resolve(())));
        // One that was dropped looks again.
        let _ = changed.await;
    }

    pub(crate) fn wake_all(self: &Arc<Self>) {
        self.on_event(Pipeline::wake_all);
    }

    // From a decision to its post-commit.

    /// Stores a commit of this entity alone, or checks it. `post_commit` runs on a worker, behind
    /// those of the commits before.
    pub(crate) fn submit(
        self: &Arc<Self>,
        (commit, bytes): (Commit, usize),
        ticket: &Arc<OwnershipTicket>,
        post_commit: PostCommit,
    ) {
        let (submitted, needs_hold) = {
            let mut pipeline = self.lock();
            let submitted = pipeline.enqueue_commit(post_commit, !commit.is_check(), bytes);
            (submitted, pipeline.needs_hold())
        };
        if needs_hold {
            self.hold(ticket);
        }
        self.abandon_if_cancelled();
        let receipt = CommandReceipt { driver: Arc::clone(self), submitted, is_answered: false };
        CommitRequest::send(&self.entity.client, commit, receipt);
    }

    /// Runs the post-commit of a decision that has persisted nothing behind what is pending, on a
    /// worker, or at once if that is nothing.
    pub(crate) fn submit_reader(&self, post_commit: PostCommit) {
        let known = self.lock().enqueue_reader(post_commit);
        known.into_iter().for_each(|(post_commit, outcome)| post_commit(&outcome));
    }

    /// Holds the entity and the runtime while something is pending: to be called when that was
    /// added, and before it can leave.
    fn hold(self: &Arc<Self>, ticket: &Arc<OwnershipTicket>) {
        let (_ticket, _runtime) = (Arc::clone(ticket), self.deliveries.runtime().hold_open());
        let unused = self.lock().offer_hold(PipelineHold { _ticket, _runtime });
        drop(unused);
    }

    fn start_delivery(self: &Arc<Self>) {
        let delivery = DeliveryTask(Some(Arc::clone(self)));
        when(&self.deliveries, move |()| delivery.run());
    }

    /// Runs the post-commits whose turn it is.
    fn deliver(self: &Arc<Self>) {
        loop {
            let next = self.lock().next_delivery();
            match next {
                NextDelivery::Arrived { commit, refusal } => commit.arrived(refusal),
                NextDelivery::Left { entry, outcome, outcome_behind } => {
                    if let EntryKind::Own { post_commit, .. } = entry.kind {
                        drop_quietly(|| post_commit(&outcome));
                    }
                    run_all(entry.readers, &outcome_behind);
                }
                NextDelivery::Finished(commands) => return self.carry_out(commands),
            }
        }
    }

    /// The outcome of a commit is unknown: when that has lasted for the journal's patience, those
    /// who wait, and whose commands and behaviours were not decided on, are told.
    fn commit_unknown(self: &Arc<Self>, why: &StoreError) {
        let begun = self.lock().commit_unknown(why);
        begun.into_iter().for_each(|wait| self.start_timeout(wait, |_| {}));
    }

    /// Starts the timeout of a wait. When it has lasted, `then` is called, and those who wait look
    /// again.
    pub(super) fn start_timeout(
        self: &Arc<Self>,
        wait: WaitId,
        then: impl FnOnce(&Self) + Send + 'static,
    ) {
        let this = Arc::downgrade(self);
        let timeout = self.entity.client.after_patience(move || {
            let Some(this) = this.upgrade() else { return };
            let is_waiting = this.lock().mark_wait_lasting(wait);
            if is_waiting {
                then(&this);
                this.wake_all();
            }
        });
        let unused = self.lock().timeout_started(wait, timeout);
        drop(unused);
    }

    // The end of the runtime, or of the journal.

    /// Abandons what is pending, if the runtime is cancelled: to be called behind all that is
    /// added. Who cancels the runtime wakes [`CancelWaker`] behind that, which finds what was added
    /// if this does not.
    fn abandon_if_cancelled(self: &Arc<Self>) {
        if self.abandonments.runtime().is_cancelled() {
            // (A behaviour that waits is dropped by the runtime.)
            self.start_abandonment(Vec::new());
        }
    }

    /// Abandons what is pending in a behaviour, also if the runtime drops that.
    fn start_abandonment(self: &Arc<Self>, waiting: Vec<Arc<dyn WaitingBehaviour>>) {
        let task = AbandonmentTask(Arc::clone(self), waiting);
        when(&self.abandonments, move |()| drop(task));
    }

    /// Tells what the pipeline gives up that it is lost, and what other members of its commits give
    /// up then.
    fn abandon(
        self: &Arc<Self>,
        event: impl FnOnce(&mut Pipeline) -> Vec<PipelineEntry<DriverResources>>,
    ) {
        let mut others = Vec::new();
        let entries = event(&mut self.lock());
        self.tell_lost(entries, &mut others);
        // One after the other: the members of a commit have commits with members.
        while let Some((other, number)) = others.pop() {
            let entries = other.lock().part_abandoned(number);
            if let Some(entries) = entries {
                other.tell_lost(entries, &mut others);
            }
        }
    }

    fn tell_lost(
        self: &Arc<Self>,
        entries: Vec<PipelineEntry<DriverResources>>,
        others: &mut Vec<(Arc<Self>, u64)>,
    ) {
        for QueueEntry { kind, readers, .. } in entries {
            match kind {
                EntryKind::Own { post_commit, .. } => run_all([post_commit], &CommitOutcome::Lost),
                EntryKind::Part { commit, .. } => commit.abandon(others),
            }
            run_all(readers, &CommitOutcome::Lost);
        }
        self.on_event(Pipeline::wake_and_release);
    }
}

type DriverCommands = PipelineCommands<DriverResources>;

fn run_all(post_commits: impl IntoIterator<Item = PostCommit>, outcome: &CommitOutcome) {
    post_commits.into_iter().for_each(|post_commit| drop_quietly(|| post_commit(outcome)));
}

impl EntityOwner for PipelineDriver {
    fn close(self: Arc<Self>) {
        self.on_event(Pipeline::close);
    }

    fn give_up(self: Arc<Self>) {
        let waiting = take(&mut *lock(&self.waiting_behaviours));
        self.start_abandonment(waiting);
    }
}

impl QueuedOwner for PipelineDriver {
    fn wake_waiters(self: Arc<Self>) {
        self.wake_all();
    }
}

/// Is woken when the runtime is cancelled.
struct CancelWaker(Weak<PipelineDriver>);

impl Wake for CancelWaker {
    fn wake(self: Arc<Self>) {
        self.0.upgrade().iter().for_each(PipelineDriver::abandon_if_cancelled);
    }
}

/// Abandons what is pending when it is dropped.
struct AbandonmentTask(Arc<PipelineDriver>, Vec<Arc<dyn WaitingBehaviour>>);

impl Drop for AbandonmentTask {
    fn drop(&mut self) {
        let Self(driver, waiting) = self;
        waiting.iter().for_each(|behaviour| behaviour.abandon());
        driver.abandon(Pipeline::abandon_all);
    }
}

/// A delivery, on a worker.
struct DeliveryTask(Option<Arc<PipelineDriver>>);

impl DeliveryTask {
    fn run(mut self) {
        self.0.take().iter().for_each(PipelineDriver::deliver);
    }
}

impl Drop for DeliveryTask {
    fn drop(&mut self) {
        self.0.take().iter().for_each(|driver| driver.abandon(Pipeline::delivery_dropped));
    }
}

/// Learns the outcome of a commit of one entity.
struct CommandReceipt {
    driver: Arc<PipelineDriver>,
    submitted: SubmittedCommit,
    is_answered: bool,
}

impl CommitObserver for CommandReceipt {
    fn home(&self) -> (&StoreClient, &Cown<()>) {
        self.driver.home()
    }

    fn unknown(&mut self, why: &StoreError) {
        self.submitted.is_unknown = true;
        self.driver.commit_unknown(why);
    }

    fn answered(mut self, answer: Result<Position, CommitRefusal>) {
        self.is_answered = true;
        self.driver.on_event(|pipeline| pipeline.commit_answered(self.submitted, &answer));
    }
}

impl Drop for CommandReceipt {
    /// If it was not answered, the runtime in which it was waited for has ended, or the journal is
    /// closed.
    fn drop(&mut self) {
        if !self.is_answered {
            let why = NotCommitted::new(RuntimeEnded);
            self.driver.on_event(|pipeline| pipeline.commit_lost(self.submitted, why));
        }
    }
}

impl PipelineDriver {
    /// See [`CommitObserver::home`].
    pub(crate) fn home(&self) -> (&StoreClient, &Cown<()>) {
        (&self.entity.client, &self.deliveries)
    }

    /// A behaviour waits for its commit, of which this is a member: so that a journal that closes
    /// finds it.
    pub(crate) fn behaviour_waits(&self, behaviour: Arc<dyn WaitingBehaviour>) {
        lock(&self.waiting_behaviours).push(behaviour);
    }

    /// The behaviour does not wait any more.
    pub(crate) fn behaviour_goes_on(&self, behaviour: &Arc<impl WaitingBehaviour>) {
        let mut waiting = lock(&self.waiting_behaviours);
        let found = waiting
            .iter()
            .position(|other| ptr::addr_eq(Arc::as_ptr(other), Arc::as_ptr(behaviour)));
        let gone = found.map(|at| waiting.swap_remove(at));
        drop(waiting);
        drop(gone);
    }

    /// A behaviour's commit that the entity is a member of is stored or refused.
    pub(crate) fn member_answered(self: &Arc<Self>, answer: &Result<Position, CommitRefusal>) {
        self.on_event(|pipeline| pipeline.member_answered(answer, false, false));
    }
}

// Commits of pipelined behaviours.

/// An entity that takes part in the commit of a behaviour.
pub(crate) struct CommitMember {
    pub(crate) driver: Arc<PipelineDriver>,
    ticket: Arc<OwnershipTicket>,
    /// The size of what it has to be stored, if there is anything.
    pub(crate) bytes: Option<usize>,
}

impl CommitMember {
    pub(crate) fn new(driver: &Arc<PipelineDriver>, ticket: &Arc<OwnershipTicket>) -> Self {
        Self { driver: Arc::clone(driver), ticket: Arc::clone(ticket), bytes: None }
    }

    /// Whether nothing of the entity is pending, and all is stored that was.
    pub(crate) fn is_settled(&self) -> bool {
        self.driver.lock().is_settled()
    }

    /// The commit is refused before the store is asked: if it has changed the entity, that is
    /// recovered.
    pub(crate) fn refuse(&self, why: &NotCommitted) {
        if self.bytes.is_some() {
            self.driver.on_event(|pipeline| pipeline.undo(why.clone()));
        }
    }
}

/// Stores the commit of a pipelined behaviour, or checks it. `post_commit` runs on a worker, behind
/// all that the members have pending.
pub(crate) fn store_pipelined(commit: Commit, members: Vec<CommitMember>, post_commit: PostCommit) {
    let Some(first) = members.first().map(|member| Arc::clone(&member.driver)) else { return };
    let shared = SharedCommit::join(&members, true, post_commit);
    let pending = Some((shared, members));
    let receipt = PipelinedReceipt { first: Arc::clone(&first), pending, is_unknown: false };
    CommitRequest::send(&first.entity.client, commit, receipt);
}

/// Runs the post-commit of a pipelined behaviour that has persisted nothing behind all that its
/// members have pending, on a worker, or at once if that is nothing.
pub(crate) fn wait_behind(members: &[CommitMember], post_commit: PostCommit) {
    let outcome = CommitOutcome::Stored(Position::ZERO);
    if members.iter().all(CommitMember::is_settled) {
        post_commit(&outcome);
    } else {
        SharedCommit::join(members, false, post_commit).answered(outcome);
    }
}

/// A commit that several entities take part in.
pub(super) struct SharedCommit {
    parts: Vec<CommitPart>,
    state: Mutex<PipelinedCommit<PostCommit>>,
}

/// Its entry in the pipeline of a member.
struct CommitPart {
    driver: Arc<PipelineDriver>,
    /// Once it is there.
    number: OnceLock<u64>,
}

/// Held while the parts of a commit are added, so that any two commits have the same order for all
/// members that they share. (Behaviours that only read a state decide at once; others come one
/// after the other as it is.)
static JOIN_ORDER: Mutex<()> = Mutex::new(());

impl SharedCommit {
    /// Puts a commit behind what its members have pending.
    fn join(members: &[CommitMember], asks_store: bool, post_commit: PostCommit) -> Arc<Self> {
        let part = |member: &CommitMember| CommitPart {
            driver: Arc::clone(&member.driver),
            number: OnceLock::new(),
        };
        let state = PipelinedCommit::new(members.len(), asks_store, post_commit);
        let parts = members.iter().map(part).collect();
        let shared = Arc::new(Self { parts, state: Mutex::new(state) });
        {
            let _guard = lock(&JOIN_ORDER);
            for (part, CommitMember { bytes, .. }) in shared.parts.iter().zip(members) {
                let size = BYTES_PER_PART + bytes.unwrap_or_default();
                let mut pipeline = part.driver.lock();
                let number = pipeline.enqueue_part(Arc::clone(&shared), bytes.is_some(), size);
                // (Under the lock: who finds the entry finds its number.)
                part.number.get_or_init(|| number);
            }
        }
        for CommitMember { driver, ticket, .. } in members {
            if driver.lock().needs_hold() {
                driver.hold(ticket);
            }
            driver.abandon_if_cancelled();
        }
        // A member that was given up meanwhile has told those parts that were added before.
        if lock(&shared.state).is_completed() {
            shared.complete(&CommitOutcome::Lost);
        }
        shared
    }

    /// The outcome is known.
    fn answered(&self, outcome: CommitOutcome) {
        lock(&self.state).answered(outcome);
        self.tell_parts(Pipeline::part_decided);
    }

    /// It has come to the front of a member's queue: if that was the last one, its post-commit
    /// runs.
    fn arrived(&self, refusal: Option<NotCommitted>) {
        let last = lock(&self.state).arrived(refusal);
        let Some((post_commit, outcome)) = last else { return };
        drop_quietly(|| post_commit(&outcome));
        let outcome = lock(&self.state).completed();
        self.complete(&outcome);
    }

    fn complete(&self, outcome: &CommitOutcome) {
        self.tell_parts(|pipeline, number| pipeline.part_completed(number, outcome.clone()));
    }

    fn tell_parts(&self, event: impl Fn(&mut Pipeline, u64) -> DriverCommands) {
        for (driver, number) in self.entries() {
            driver.on_event(|pipeline| event(pipeline, number));
        }
    }

    /// A member is given up. Adds the entries of all members to those that are to be told.
    fn abandon(&self, others: &mut Vec<(Arc<PipelineDriver>, u64)>) {
        let post_commit = lock(&self.state).abandon();
        run_all(post_commit, &CommitOutcome::Lost);
        others.extend(self.entries().map(|(driver, number)| (Arc::clone(driver), number)));
    }

    fn entries(&self) -> impl Iterator<Item = (&Arc<PipelineDriver>, u64)> {
        self.parts.iter().filter_map(|part| Some((&part.driver, *part.number.get()?)))
    }
}

/// Learns the outcome of a pipelined behaviour's commit.
struct PipelinedReceipt {
    first: Arc<PipelineDriver>,
    /// Until it is told.
    pending: Option<(Arc<SharedCommit>, Vec<CommitMember>)>,
    is_unknown: bool,
}

impl CommitObserver for PipelinedReceipt {
    fn home(&self) -> (&StoreClient, &Cown<()>) {
        self.first.home()
    }

    fn unknown(&mut self, why: &StoreError) {
        self.is_unknown = true;
        let members = self.pending.iter().flat_map(|(_, members)| members);
        members.for_each(|member| member.driver.commit_unknown(why));
    }

    fn answered(mut self, answer: Result<Position, CommitRefusal>) {
        let Some((shared, members)) = self.pending.take() else { return };
        for CommitMember { driver, bytes, .. } in &members {
            let changes = bytes.is_some();
            let was_unknown = self.is_unknown;
            driver.on_event(|pipeline| pipeline.member_answered(&answer, changes, was_unknown));
        }
        shared.answered((&answer).into());
    }
}

impl Drop for PipelinedReceipt {
    /// The runtime in which it was waited for has ended, or the journal is closed.
    fn drop(&mut self) {
        let Some((shared, members)) = self.pending.take() else { return };
        for CommitMember { driver, bytes, .. } in &members {
            let undone = bytes.map(|_| NotCommitted::new(RuntimeEnded));
            driver.on_event(|pipeline| pipeline.member_lost(undone, self.is_unknown));
        }
        shared.answered(CommitOutcome::Lost);
    }
}
