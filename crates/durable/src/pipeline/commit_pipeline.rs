//! The commits of one entity, as a state machine: events go in, commands come out.
//!
//! It knows neither stores nor actors nor locks nor clocks, so it can be tested directly:
//! `exploration.rs` tries all orders of events for a few commits. `driver.rs` drives it.
//!
//! Commands of an entity do not wait for the commits of those before them. Their post-commits
//! (their answers above all) wait here, and are *delivered* in order once the outcomes are known.
//! So do those of pipelined behaviours, which have an entry in the queue of each member
//! (`pipelined_commit.rs`). All other behaviours wait until nothing is pending.
//!
//! **Invariants.**
//! * Entries leave from the front, when their outcome is known. What is abandoned leaves out of
//!   order, and is told [`CommitOutcome::Lost`].
//! * Each post-commit is given out once: run at the front, or abandoned.
//! * There is one delivery at a time: from [`PipelineCommand::Deliver`] until
//!   [`NextDelivery::Finished`], or [`delivery_dropped`](CommitPipeline::delivery_dropped).
//!   Whenever the front is deliverable, a delivery is running or has been requested.
//! * What persists nothing, and comes behind a change that was refused, is refused for the same
//!   reason, until the state is recovered.
//! * The hold (the entity's ticket, and the runtime) stays as long as something is pending, once it
//!   was offered.
//! * Waiters are woken when a delivery has ended, when a recovery has ended, when what they wait
//!   for has lasted, and when the actor is stopped.

use std::collections::VecDeque;
use std::mem::take;

use coact_actor::actor::ExitReason;
use coact_core::behaviour::NotCommitted;
use coact_persist::{CommitRefusal, EntityId, Position, StoreError};
use smallvec::SmallVec;

use super::commit_outcome::{CommitOutcome, not_committed};

/// What a pipeline keeps for its driver, and does not look into.
pub(crate) trait PipelineResources {
    /// Runs with the outcome of a commit.
    type PostCommit;
    /// A commit that several entities take part in.
    type SharedCommit;
    /// Someone to wake when the [standing](CommitPipeline::standing) may have changed.
    type Waiter;
    /// A timeout that was started; dropping it cancels it.
    type Timeout;
    /// What is held as long as something is pending.
    type Hold;
}

/// What the driver is to do, without the lock.
#[cfg_attr(test, derive(Clone, Debug))]
pub(crate) enum PipelineCommand<R: PipelineResources> {
    /// Cancel a timeout.
    Cancel(R::Timeout),
    /// Have the actor recover its state before anything else sees it.
    RecoverActor,
    /// Stop the actor: the entity has another owner, or cannot be recovered, or the journal is
    /// closed.
    StopActor { reason: ExitReason, why: NotCommitted },
    /// Wake these.
    Wake(Vec<R::Waiter>),
    /// Drop what was held.
    Release(R::Hold),
    /// Ask for the [next delivery](CommitPipeline::next_delivery), on a worker, until there is
    /// none.
    Deliver,
}

/// The commands of one event, in order.
pub(crate) type PipelineCommands<R> = SmallVec<[PipelineCommand<R>; 2]>;

/// What a delivery does next.
pub(crate) enum NextDelivery<R: PipelineResources> {
    /// The front is an entry of this commit, and has arrived there, behind `refusal` if something
    /// was refused.
    Arrived { commit: R::SharedCommit, refusal: Option<NotCommitted> },
    /// The front has left: its post-commit runs, then those behind it.
    Left { entry: PipelineEntry<R>, outcome: CommitOutcome, outcome_behind: CommitOutcome },
    /// There is nothing more to deliver.
    Finished(PipelineCommands<R>),
}

/// The commits of one entity, and how far its owner may decide.
#[cfg_attr(test, derive(Clone, Debug))]
pub(crate) struct CommitPipeline<R: PipelineResources> {
    entity: EntityId,
    queue: VecDeque<QueueEntry<R::PostCommit, R::SharedCommit>>,
    next_number: u64,
    bytes_in_flight: usize,
    /// Whether a delivery runs, or is about to.
    is_delivering: bool,
    /// While something is pending.
    hold: Option<R::Hold>,
    /// Why the state is not what is stored.
    failure: Option<PipelineFailure>,
    /// Why the first change that has left since the last recovery was not stored: what comes behind
    /// it may have seen it.
    first_refusal: Option<NotCommitted>,
    /// Recoveries under way: those that are not wanted any more end soon.
    recoveries: usize,
    /// What a recovery waits for.
    recovery_wait: Option<StoreWait<R::Timeout>>,
    /// Whether a recovery waits for its turn: then the outage that others find counts.
    is_queued: bool,
    /// Commits whose outcome is unknown, and the wait for them.
    unknown_commits: usize,
    unknown_wait: Option<StoreWait<R::Timeout>>,
    next_wait: u64,
    waiters: Vec<R::Waiter>,
}

/// An entry of a pipeline's queue.
pub(crate) type PipelineEntry<R> =
    QueueEntry<<R as PipelineResources>::PostCommit, <R as PipelineResources>::SharedCommit>;

/// An entry of the queue, with post-commits `P`, and commits `S` that several entities take part
/// in.
#[cfg_attr(test, derive(Clone, Debug))]
pub(crate) struct QueueEntry<P, S> {
    pub(crate) kind: EntryKind<P, S>,
    /// The post-commits of decisions that have persisted nothing, and come behind this one.
    pub(crate) readers: Vec<P>,
    /// Whether it stores something of this entity.
    changes: bool,
    bytes: usize,
    /// Grows from each entry to the next.
    number: u64,
}

#[cfg_attr(test, derive(Clone, Debug))]
pub(crate) enum EntryKind<P, S> {
    /// A commit of this entity alone, and its outcome once that is known.
    Own { post_commit: P, outcome: Option<CommitOutcome> },
    /// This entity's part of a commit.
    Part { commit: S, progress: PartProgress },
}

#[derive(Clone)]
#[cfg_attr(test, derive(Debug))]
pub(crate) enum PartProgress {
    /// The outcome is not known.
    Submitted,
    /// The outcome is known.
    Decided,
    /// It was told to have arrived at the front, and waits for the other members.
    AtFront,
    /// It may leave: the post-commit has run, or never will.
    Completed(CommitOutcome),
}

#[derive(Clone)]
#[cfg_attr(test, derive(Debug))]
enum PipelineFailure {
    /// A commit was not stored: the state has to be recovered.
    Undone(NotCommitted),
    /// The actor is stopped.
    Final(NotCommitted),
}

/// A wait for the store, or for another owner.
#[cfg_attr(test, derive(Clone, Debug))]
struct StoreWait<T> {
    id: WaitId,
    why: NotCommitted,
    /// Whether it has lasted for the journal's patience: then those who wait fail.
    has_lasted: bool,
    timeout: Option<T>,
}

/// Names a wait, so that a timeout that fires late finds another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WaitId(u64);

/// A commit of one entity that was given to the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubmittedCommit {
    pub(crate) number: u64,
    /// Whether it stores something, and is no check.
    pub(crate) changes: bool,
    /// Whether its outcome was told to be unknown.
    pub(crate) is_unknown: bool,
}

/// What the owner of an entity may do.
#[cfg_attr(test, derive(PartialEq, Debug))]
pub(crate) enum OwnerStanding {
    /// Anything.
    Free,
    /// Decide on commands and pipelined behaviours: commits are pending.
    Committing,
    /// Nothing yet: the state is being recovered, or there is no room for more.
    Waiting,
    /// Nothing before its state is recovered.
    Undone(NotCommitted),
    /// Nothing: for good, or as long as what it waits for lasts, which has been long.
    Never(NotCommitted),
}

impl<R: PipelineResources> CommitPipeline<R> {
    pub(crate) fn new(entity: EntityId) -> Self {
        Self {
            entity,
            queue: VecDeque::new(),
            next_number: 0,
            bytes_in_flight: 0,
            is_delivering: false,
            hold: None,
            failure: None,
            first_refusal: None,
            recoveries: 0,
            recovery_wait: None,
            is_queued: false,
            unknown_commits: 0,
            unknown_wait: None,
            next_wait: 0,
            waiters: Vec::new(),
        }
    }

    // Questions.

    /// Returns what the owner may do, with at most `max_bytes` in flight. `queue_outage` says why
    /// recoveries that wait for their turn fail, if the store cannot be reached.
    pub(crate) fn standing(
        &self,
        max_bytes: usize,
        queue_outage: impl FnOnce() -> Option<NotCommitted>,
    ) -> OwnerStanding {
        if let Some(PipelineFailure::Final(why)) = &self.failure {
            return OwnerStanding::Never(why.clone());
        }
        let unknown = || lasting(self.unknown_wait.as_ref());
        if self.recoveries > 0 {
            let why = match self.is_queued {
                true => queue_outage(),
                false => lasting(self.recovery_wait.as_ref()),
            };
            return why.or_else(unknown).map_or(OwnerStanding::Waiting, OwnerStanding::Never);
        }
        if let Some(why) = unknown() {
            return OwnerStanding::Never(why);
        }
        match &self.failure {
            Some(PipelineFailure::Undone(why)) => OwnerStanding::Undone(why.clone()),
            _ if self.bytes_in_flight >= max_bytes => OwnerStanding::Waiting,
            _ if self.is_pending() => OwnerStanding::Committing,
            _ => OwnerStanding::Free,
        }
    }

    /// Whether the actor was stopped for good.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.failure, Some(PipelineFailure::Final(_)))
    }

    /// Whether nothing is pending, and all is stored that was.
    pub(crate) fn is_settled(&self) -> bool {
        !self.is_pending() && self.failure.is_none()
    }

    pub(crate) fn needs_hold(&self) -> bool {
        self.hold.is_none()
    }

    /// Whether something is in the queue, or is being delivered.
    fn is_pending(&self) -> bool {
        !self.queue.is_empty() || self.is_delivering
    }

    // A decision was made.

    /// Adds a commit of this entity alone.
    pub(crate) fn enqueue_commit(
        &mut self,
        post_commit: R::PostCommit,
        changes: bool,
        bytes: usize,
    ) -> SubmittedCommit {
        let kind = EntryKind::Own { post_commit, outcome: None };
        let number = self.enqueue(kind, changes, bytes);
        SubmittedCommit { number, changes, is_unknown: false }
    }

    /// Adds this entity's part of a commit. Returns its number.
    pub(crate) fn enqueue_part(
        &mut self,
        commit: R::SharedCommit,
        changes: bool,
        bytes: usize,
    ) -> u64 {
        let kind = EntryKind::Part { commit, progress: PartProgress::Submitted };
        self.enqueue(kind, changes, bytes)
    }

    /// Adds the post-commit of a decision that has persisted nothing behind what it has seen.
    /// Returns it with its outcome if that is known, as nothing is pending.
    pub(crate) fn enqueue_reader(
        &mut self,
        post_commit: R::PostCommit,
    ) -> Option<(R::PostCommit, CommitOutcome)> {
        if let Some(last) = self.queue.back_mut() {
            last.readers.push(post_commit);
            return None;
        }
        // What was pending when it decided may have left by now.
        let outcome = match &self.failure {
            Some(PipelineFailure::Undone(why) | PipelineFailure::Final(why)) => {
                CommitOutcome::NotStored(why.clone())
            }
            None => CommitOutcome::Stored(Position::ZERO),
        };
        if self.is_delivering {
            let outcome = Some(outcome);
            self.enqueue(EntryKind::Own { post_commit, outcome }, true, 0);
            return None;
        }
        Some((post_commit, outcome))
    }

    fn enqueue(
        &mut self,
        kind: EntryKind<R::PostCommit, R::SharedCommit>,
        changes: bool,
        bytes: usize,
    ) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.bytes_in_flight += bytes;
        self.queue.push_back(QueueEntry { kind, readers: Vec::new(), changes, bytes, number });
        number
    }

    /// Offers what is to be held while something is pending. Returns what is not needed.
    pub(crate) fn offer_hold(&mut self, hold: R::Hold) -> Option<R::Hold> {
        // Otherwise the runtime has ended by now.
        if self.is_pending() { self.hold.replace(hold) } else { Some(hold) }
    }

    // The store has answered.

    /// A commit of this entity alone is stored or refused.
    pub(crate) fn commit_answered(
        &mut self,
        commit: SubmittedCommit,
        answer: &Result<Position, CommitRefusal>,
    ) -> PipelineCommands<R> {
        let mut commands = self.member_answered(answer, commit.changes, commit.is_unknown);
        self.set_outcome(commit.number, answer.into());
        self.start_delivery(&mut commands);
        commands
    }

    /// A commit of this entity alone is not waited for any more: the runtime has ended, or the
    /// journal is closed.
    pub(crate) fn commit_lost(
        &mut self,
        commit: SubmittedCommit,
        why: NotCommitted,
    ) -> PipelineCommands<R> {
        let mut commands = self.member_lost(commit.changes.then_some(why), commit.is_unknown);
        self.set_outcome(commit.number, CommitOutcome::Lost);
        self.start_delivery(&mut commands);
        commands
    }

    /// A commit that the entity is a member of is stored or refused. `changes`: it has changed the
    /// state, which any refusal undoes; otherwise only one that is about this entity does.
    pub(crate) fn member_answered(
        &mut self,
        answer: &Result<Position, CommitRefusal>,
        changes: bool,
        was_unknown: bool,
    ) -> PipelineCommands<R> {
        let mut commands = PipelineCommands::new();
        self.end_unknown(was_unknown, &mut commands);
        match answer {
            Err(refusal @ CommitRefusal::Fenced { entity, .. }) if *entity == self.entity => {
                commands.extend(self.fail(not_committed(refusal)));
            }
            Err(refusal @ CommitRefusal::Conflict { entity, .. }) if *entity == self.entity => {
                commands.extend(self.undo(not_committed(refusal)));
            }
            Err(refusal) if changes => commands.extend(self.undo(not_committed(refusal))),
            _ => {}
        }
        commands
    }

    /// A commit that the entity is a member of is not waited for any more. If it has changed the
    /// state, `undone` says why that is not what is stored.
    pub(crate) fn member_lost(
        &mut self,
        undone: Option<NotCommitted>,
        was_unknown: bool,
    ) -> PipelineCommands<R> {
        let mut commands = PipelineCommands::new();
        self.end_unknown(was_unknown, &mut commands);
        undone.into_iter().for_each(|why| commands.extend(self.undo(why)));
        commands
    }

    /// The outcome of a commit is unknown. If it is the only one, the wait for it begins: its
    /// timeout is to be started.
    pub(crate) fn commit_unknown(&mut self, why: &StoreError) -> Option<WaitId> {
        self.unknown_commits += 1;
        if self.unknown_commits > 1 {
            return None;
        }
        let why = format!("it is not known yet whether a commit is stored: {why}");
        let wait = self.new_wait(NotCommitted::new(StoreError::Unavailable { why }));
        let id = wait.id;
        self.unknown_wait = Some(wait);
        Some(id)
    }

    fn end_unknown(&mut self, was_unknown: bool, commands: &mut PipelineCommands<R>) {
        if !was_unknown {
            return;
        }
        self.unknown_commits -= 1;
        if self.unknown_commits == 0 {
            let timeout = self.unknown_wait.take().and_then(|wait| wait.timeout);
            commands.extend(timeout.map(PipelineCommand::Cancel));
        }
    }

    fn set_outcome(&mut self, number: u64, known: CommitOutcome) {
        if let Some(EntryKind::Own { outcome, .. }) = self.kind_of(number) {
            *outcome = Some(known);
        }
    }

    // A commit of several entities goes on.

    /// The outcome of a part's commit is known.
    pub(crate) fn part_decided(&mut self, number: u64) -> PipelineCommands<R> {
        if let Some(EntryKind::Part { progress: progress @ PartProgress::Submitted, .. }) =
            self.kind_of(number)
        {
            *progress = PartProgress::Decided;
        }
        self.deliver_if_ready()
    }

    /// The post-commit of a part's commit has run, or never will: the part may leave.
    pub(crate) fn part_completed(
        &mut self,
        number: u64,
        outcome: CommitOutcome,
    ) -> PipelineCommands<R> {
        self.complete_part(number, outcome);
        self.deliver_if_ready()
    }

    fn complete_part(&mut self, number: u64, outcome: CommitOutcome) {
        if let Some(EntryKind::Part { progress, .. }) = self.kind_of(number) {
            *progress = PartProgress::Completed(outcome);
        }
    }

    fn kind_of(&mut self, number: u64) -> Option<&mut EntryKind<R::PostCommit, R::SharedCommit>> {
        let at = self.queue.binary_search_by_key(&number, |entry| entry.number).ok()?;
        Some(&mut self.queue[at].kind)
    }

    // Post-commits are delivered.

    /// Returns what a delivery does next.
    pub(crate) fn next_delivery(&mut self) -> NextDelivery<R>
    where
        R::SharedCommit: Clone,
    {
        if let Some(EntryKind::Part { commit, progress: progress @ PartProgress::Decided }) =
            self.queue.front_mut().map(|front| &mut front.kind)
        {
            *progress = PartProgress::AtFront;
            let (commit, refusal) = (commit.clone(), self.first_refusal.clone());
            return NextDelivery::Arrived { commit, refusal };
        }
        let Some((entry, outcome)) = self.pop_final() else {
            self.is_delivering = false;
            return NextDelivery::Finished(self.wake_and_release());
        };
        self.bytes_in_flight -= entry.bytes;
        if let (CommitOutcome::NotStored(why), true) = (&outcome, entry.changes) {
            self.first_refusal.get_or_insert_with(|| why.clone());
        }
        // What comes behind it is told of changes of this entity only, not of other members'.
        let outcome_behind = match (&outcome, &self.first_refusal) {
            (CommitOutcome::Lost, _) => CommitOutcome::Lost,
            (_, Some(why)) => CommitOutcome::NotStored(why.clone()),
            (_, None) => CommitOutcome::Stored(Position::ZERO),
        };
        NextDelivery::Left { entry, outcome, outcome_behind }
    }

    fn pop_final(&mut self) -> Option<(PipelineEntry<R>, CommitOutcome)> {
        let outcome = self.queue.front()?.final_outcome()?.clone();
        Some((self.queue.pop_front()?, outcome))
    }

    fn deliver_if_ready(&mut self) -> PipelineCommands<R> {
        let mut commands = PipelineCommands::new();
        self.start_delivery(&mut commands);
        commands
    }

    /// Starts a delivery, if the front can be delivered, and none runs.
    fn start_delivery(&mut self, commands: &mut PipelineCommands<R>) {
        if !self.is_delivering && self.queue.front().is_some_and(QueueEntry::is_deliverable) {
            self.is_delivering = true;
            commands.push(PipelineCommand::Deliver);
        }
    }

    /// Wakes those who wait, since an entry has left, and releases the hold if nothing is pending.
    pub(crate) fn wake_and_release(&mut self) -> PipelineCommands<R> {
        let mut commands = self.wake_all();
        let hold = if self.is_pending() { None } else { self.hold.take() };
        commands.extend(hold.map(PipelineCommand::Release));
        commands
    }

    // The runtime has ended, or the journal is closed.

    /// Gives everything up. The driver tells what is returned that it is lost, and then
    /// [`wake_and_release`](Self::wake_and_release).
    pub(crate) fn abandon_all(&mut self) -> Vec<PipelineEntry<R>> {
        self.bytes_in_flight = 0;
        take(&mut self.queue).into()
    }

    /// A delivery was dropped. Gives up all whose outcome is known, as
    /// [`abandon_all`](Self::abandon_all) does.
    pub(crate) fn delivery_dropped(&mut self) -> Vec<PipelineEntry<R>> {
        self.is_delivering = false;
        self.abandon_known()
    }

    /// The commit of a part was abandoned. Gives up all whose outcome is known, unless they are
    /// being delivered.
    pub(crate) fn part_abandoned(&mut self, number: u64) -> Option<Vec<PipelineEntry<R>>> {
        self.complete_part(number, CommitOutcome::Lost);
        (!self.is_delivering).then(|| self.abandon_known())
    }

    fn abandon_known(&mut self) -> Vec<PipelineEntry<R>> {
        let (known, unknown): (Vec<_>, Vec<_>) =
            take(&mut self.queue).into_iter().partition(QueueEntry::is_known);
        self.queue = unknown.into();
        self.bytes_in_flight = self.queue.iter().map(|entry| entry.bytes).sum();
        known
    }

    // The state is not what is stored.

    /// The state has to be recovered.
    pub(crate) fn undo(&mut self, why: NotCommitted) -> PipelineCommands<R> {
        self.failure.get_or_insert(PipelineFailure::Undone(why));
        [PipelineCommand::RecoverActor].into_iter().collect()
    }

    /// The actor cannot own the entity any more.
    pub(crate) fn fail(&mut self, why: NotCommitted) -> PipelineCommands<R> {
        let reason = ExitReason::Failed(why.cause().to_string().into());
        self.stop(reason, why)
    }

    /// The journal is closed.
    pub(crate) fn close(&mut self) -> PipelineCommands<R> {
        if self.has_ended() {
            return PipelineCommands::new();
        }
        self.stop(ExitReason::Shutdown, NotCommitted::new(StoreError::Closed))
    }

    fn stop(&mut self, reason: ExitReason, why: NotCommitted) -> PipelineCommands<R> {
        self.failure = Some(PipelineFailure::Final(why.clone()));
        let mut commands: PipelineCommands<R> =
            [PipelineCommand::StopActor { reason, why }].into_iter().collect();
        commands.extend(self.wake_all());
        commands
    }

    // The state is recovered.

    pub(crate) fn recovery_begun(&mut self) {
        self.recoveries += 1;
    }

    /// A recovery has ended. If it was cut off, it is not tried again, as it would end in the same
    /// way: `cut_off` says why.
    pub(crate) fn recovery_ended(&mut self, cut_off: Option<NotCommitted>) -> PipelineCommands<R> {
        self.recoveries -= 1;
        match cut_off {
            None => self.wake_all(),
            Some(why) => self.fail(why),
        }
    }

    /// A recovery is about to read what is stored, as nothing before it is pending any more: what
    /// was refused is forgotten. `None`: something is pending yet. `Some(false)`: the actor was
    /// stopped.
    pub(crate) fn take_over(&mut self) -> Option<(bool, PipelineCommands<R>)> {
        if self.is_pending() {
            return None;
        }
        let has_ended = self.has_ended();
        if !has_ended {
            self.failure = None;
        }
        self.first_refusal = None;
        let timeout = self.recovery_goes_on();
        Some((!has_ended, timeout.map(PipelineCommand::Cancel).into_iter().collect()))
    }

    /// A recovery waits. If it is not known to wait for something, the wait begins: its timeout is
    /// to be started.
    pub(crate) fn recovery_waits(&mut self, why: NotCommitted) -> Option<WaitId> {
        if let Some(wait) = &mut self.recovery_wait {
            wait.why = why;
            return None;
        }
        let wait = self.new_wait(why);
        let id = wait.id;
        self.recovery_wait = Some(wait);
        Some(id)
    }

    /// Nothing keeps the recovery waiting any more. Returns its timeout, to be cancelled.
    pub(crate) fn recovery_goes_on(&mut self) -> Option<R::Timeout> {
        self.recovery_wait.take()?.timeout
    }

    /// Returns what a recovery waits for, unless that is its turn: then it asks nothing, and learns
    /// from others.
    pub(crate) fn recovery_obstacle(&self) -> Option<NotCommitted> {
        let wait = self.recovery_wait.as_ref().filter(|_| !self.is_queued)?;
        Some(wait.why.clone())
    }

    pub(crate) fn is_recovery_waiting(&self) -> bool {
        self.recovery_wait.is_some()
    }

    /// A recovery waits for its turn, or has stopped waiting for it.
    pub(crate) fn set_queued(&mut self, is_queued: bool) {
        self.is_queued = is_queued;
    }

    // Waits.

    fn new_wait(&mut self, why: NotCommitted) -> StoreWait<R::Timeout> {
        let id = WaitId(self.next_wait);
        self.next_wait += 1;
        StoreWait { id, why, has_lasted: false, timeout: None }
    }

    fn wait_with(&mut self, id: WaitId) -> Option<&mut StoreWait<R::Timeout>> {
        let waits = self.recovery_wait.iter_mut().chain(&mut self.unknown_wait);
        waits.into_iter().find(|wait| wait.id == id)
    }

    /// The timeout of a wait was started. Returns it, to be cancelled, if the wait is over by now.
    pub(crate) fn timeout_started(
        &mut self,
        id: WaitId,
        timeout: R::Timeout,
    ) -> Option<R::Timeout> {
        match self.wait_with(id) {
            Some(wait) => wait.timeout.replace(timeout),
            None => Some(timeout),
        }
    }

    /// A wait has lasted for the journal's patience. Returns whether it is not over by now.
    pub(crate) fn mark_wait_lasting(&mut self, id: WaitId) -> bool {
        self.wait_with(id).is_some_and(|wait| {
            wait.has_lasted = true;
            true
        })
    }

    /// Adds someone to wake when the standing may have changed. Returns the waiter if there is
    /// nothing to wait for.
    pub(crate) fn add_waiter(&mut self, waiter: R::Waiter) -> Option<R::Waiter> {
        if self.recoveries == 0 && !self.is_pending() {
            return Some(waiter);
        }
        self.waiters.push(waiter);
        None
    }

    /// Adds someone to wake in any case.
    pub(crate) fn add_patient_waiter(&mut self, waiter: R::Waiter) {
        self.waiters.push(waiter);
    }

    pub(crate) fn wake_all(&mut self) -> PipelineCommands<R> {
        if self.waiters.is_empty() {
            return PipelineCommands::new();
        }
        [PipelineCommand::Wake(take(&mut self.waiters))].into_iter().collect()
    }
}

impl<P, S> QueueEntry<P, S> {
    /// Returns the outcome if the entry may leave the front.
    fn final_outcome(&self) -> Option<&CommitOutcome> {
        match &self.kind {
            EntryKind::Own { outcome, .. } => outcome.as_ref(),
            EntryKind::Part { progress: PartProgress::Completed(outcome), .. } => Some(outcome),
            EntryKind::Part { .. } => None,
        }
    }

    /// Whether a delivery has something to do for it at the front.
    fn is_deliverable(&self) -> bool {
        match &self.kind {
            EntryKind::Own { outcome, .. } => outcome.is_some(),
            EntryKind::Part { progress, .. } => {
                matches!(progress, PartProgress::Decided | PartProgress::Completed(_))
            }
        }
    }

    /// Whether the outcome is known.
    fn is_known(&self) -> bool {
        match &self.kind {
            EntryKind::Own { outcome, .. } => outcome.is_some(),
            EntryKind::Part { progress, .. } => !matches!(progress, PartProgress::Submitted),
        }
    }
}

fn lasting<T>(wait: Option<&StoreWait<T>>) -> Option<NotCommitted> {
    wait.filter(|wait| wait.has_lasted).map(|wait| wait.why.clone())
}
