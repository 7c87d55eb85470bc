//! Behaviours that end with a commit: they have members that take
//! [part in one](crate::cown::commit_participant), and are detained until it has ended.
//!
//! Such a behaviour waits until all of its members are ready, calls its closure, collects what its
//! members have to commit, waits for the outcome, and then ends. Its result and its cowns are
//! available to others only then.
//!
//! A [pipelined](crate::cown::set::Pipelined) one releases its cowns as soon as its commit has
//! begun, and takes its stages along: its result is told when the commit has ended.

use std::any::type_name;
use std::error::Error;
use std::fmt;
use std::mem::{replace, transmute};
use std::sync::Arc;

use coact_sync::shim::atomic::{AtomicU64, Ordering};

use super::admission::AdmittedCompletion;
use super::detain::{self, Detained, DetainedStages, DetainedStep, FirstStep, RunHere, StepTurn};
use super::multi::UnqueuedBehaviour;
use super::refusal::Refusal;
use crate::body::{BehaviourName, BodyOutcome, Completion, NoResult};
use crate::cown::commit_participant::{CommitOutcome, HeldParticipant, PendingCommit, Readiness};
use crate::cown::set::{CownSet, refuse_volatile_beside_durable};
use crate::current::{self, deciding};
use crate::fault::{Broken, NotCommitted};
use crate::panic::{catch, drop_quietly, run_quietly};
use crate::queue::append::StepEntry;

/// Spawns a behaviour that ends with a commit. It runs on this thread as far as it can, if `here`
/// says how.
///
/// # Errors
/// Returns the closure and the completion if the set cannot be used.
pub(super) fn spawn_committed<S, F, C>(
    set: S,
    closure: F,
    completion: C,
    here: Option<(RunHere, DeciderThread)>,
) -> Result<(), (Refusal, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
    C::Value: Send,
{
    let content = (closure, completion);
    let (run, decider) = here.unzip();
    let begin = |(closure, completion)| begin::<S, F, C>(closure, completion, decider);
    detain::spawn::<S, F, _>(set, content, begin, run)
        .map_err(|(refusal, (closure, completion))| (refusal, closure, completion))
}

/// Makes a behaviour with a commit for a batch: see [`detain::prepare`].
pub(super) fn prepare<S, F>(
    set: &S,
    closure: F,
    admitted: Option<AdmittedCompletion<NoResult>>,
    requests: &mut dyn FnMut(StepEntry),
) -> Result<UnqueuedBehaviour, (Refusal, F)>
where
    S: CownSet<Owned = S> + Send + 'static,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    let begin = |closure| begin::<S, F, NoResult>(closure, NoResult, None);
    let node = detain::prepare::<S, F, F>(set, closure, begin, admitted, requests)?;
    Ok(UnqueuedBehaviour { node, discard: detain::discard::<S> })
}

fn begin<S, F, C>(closure: F, completion: C, decider: Option<DeciderThread>) -> FirstStep<S::Owned>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
    C::Value: Send,
{
    // (Each function that a program calls says so as well, where the error has the program's line.)
    const { refuse_volatile_beside_durable::<S>() };
    let state = CommitStages {
        closure: Some(closure),
        outcome: StagedOutcome::NotRun(completion),
        decider,
    };
    let stages: Box<dyn DetainedStages<S::Owned> + '_> = Box::new(state);
    // SAFETY: only the lifetime changes. A node without stages holds its closure and its completion
    // just so, type-erased: what they borrow from is a scope, which waits until the completion is
    // dropped. This drops it last.
    let stages: Box<dyn DetainedStages<S::Owned>> = unsafe { transmute(stages) };
    (go_on(type_name::<F>), Some(stages))
}

/// The number of the thread that has called a closure.
pub(super) type DeciderThread = Arc<AtomicU64>;

/// The stages of a behaviour with a commit: get ready, decide, commit.
struct CommitStages<F, C: Completion> {
    /// Until it is called.
    closure: Option<F>,
    outcome: StagedOutcome<C>,
    /// Set by the thread that calls it.
    decider: Option<DeciderThread>,
}

/// How far the outcome of a behaviour's closure is known.
enum StagedOutcome<C: Completion> {
    /// The closure was not called yet.
    NotRun(C),
    /// The closure has ended, and its commit has not.
    Uncommitted(BodyOutcome<C>),
    /// It is delivered as soon as the cowns are released.
    Final(BodyOutcome<C>),
    Delivered,
}

/// Returns the step that goes on where a behaviour was left.
fn go_on<S: CownSet + Send + 'static>(name: BehaviourName) -> DetainedStep<S> {
    DetainedStep {
        call: Box::new(|mut turn, guard| {
            let mut leaves = None;
            with_stages(&mut turn, |stages, turn| leaves = stages.go_on(turn, guard));
            if let Some(pending) = leaves
                && let Some(stages) = turn.stages.take()
            {
                leave_behind(&mut turn, stages, pending);
            }
            false
        }),
        name,
    }
}

/// Commits what a pipelined behaviour leaves, which ends meanwhile.
fn leave_behind<S: CownSet + Send + 'static>(
    turn: &mut StepTurn<'_, S>,
    mut stages: Box<dyn DetainedStages<S>>,
    pending: Box<dyn PendingCommit>,
) {
    // If the callback is dropped, so are the stages, which tell that they were cut off.
    let done = Box::new(move |outcome| stages.pipelined_commit_ended(outcome));
    // A panic drops it. It was reported.
    let _ = catch(move || pending.commit_behind(done));
    tell_members(turn, &Ok(()));
}

/// Returns whether the step has failed: never.
fn with_stages<S: CownSet + Send + 'static>(
    turn: &mut StepTurn<'_, S>,
    step: impl FnOnce(&mut dyn DetainedStages<S>, &mut StepTurn<'_, S>),
) -> bool {
    if let Some(mut stages) = turn.stages.take() {
        step(&mut *stages, turn);
        *turn.stages = Some(stages);
    }
    false
}

impl<S, F, C> DetainedStages<S> for CommitStages<F, C>
where
    S: CownSet + Send + 'static,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
    C::Value: Send,
{
    fn go_on(
        &mut self,
        turn: &mut StepTurn<'_, S>,
        guard: Detained<S>,
    ) -> Option<Box<dyn PendingCommit>> {
        match get_ready(turn, guard, type_name::<F>) {
            Ok(guard) => {
                let pending = self.decide(turn)?;
                if const { S::KIND.is_pipelined } {
                    return Some(pending);
                }
                self.await_end(pending, guard);
            }
            Err(Some(why)) => self.refuse(why),
            // It comes again.
            Err(None) => {}
        }
        None
    }

    fn commit_ended(&mut self, turn: &mut StepTurn<'_, S>, outcome: Option<CommitOutcome>) {
        let (told, failure, mut then) = match outcome {
            Some(Ok(then)) => (Ok(()), None, Some(then)),
            Some(Err(why)) => (Err(why.clone()), Some(Broken::NotCommitted(why)), None),
            None => (Err(NotCommitted::new(OutcomeUnknown)), Some(Broken::Cancelled), None),
        };
        tell_members(turn, &told);
        // Before the cowns are released, so that what it sends comes before what others send who
        // see the states.
        run_quietly(&mut || then.take().into_iter().for_each(|then| then()));
        self.set_final(failure);
    }

    fn pipelined_commit_ended(&mut self, outcome: CommitOutcome) {
        match outcome {
            Ok(then) => {
                drop_quietly(then);
                self.set_final(None);
            }
            Err(why) => self.set_final(Some(Broken::NotCommitted(why))),
        }
    }
}

impl<F, C: Completion> CommitStages<F, C> {
    /// Calls the closure. Returns what it leaves to be committed, if there is anything.
    fn decide<S>(&mut self, turn: &mut StepTurn<'_, S>) -> Option<Box<dyn PendingCommit>>
    where
        S: CownSet + Send + 'static,
        F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
        C::Value: Send,
    {
        let closure = self.closure.take()?;
        let StagedOutcome::NotRun(completion) =
            replace(&mut self.outcome, StagedOutcome::Delivered)
        else {
            return None;
        };
        let mut ended = deciding(|| turn.run(closure, completion));
        // ORDERING: Relaxed. A thread that finds its own number has written it.
        self.decider.iter().for_each(|decider| decider.store(current::number(), Ordering::Relaxed));
        let mut pending = None;
        if let BodyOutcome::Done(..) = ended {
            match catch(|| collect(turn)) {
                Ok(found) => pending = found,
                Err(why) => {
                    turn.fail(&why);
                    ended = failed(ended, why);
                }
            }
        }
        if let BodyOutcome::Failed(_, why @ Broken::Panicked(_)) = &ended {
            tell_members(turn, &Err(NotCommitted::new(why.clone())));
        }
        // Before the commit can end.
        self.outcome = match &pending {
            Some(_) => StagedOutcome::Uncommitted(ended),
            None => StagedOutcome::Final(ended),
        };
        pending
    }

    /// Commits what the closure has left, and goes on when that has ended.
    fn await_end<S: CownSet + Send + 'static>(
        &self,
        pending: Box<dyn PendingCommit>,
        guard: Detained<S>,
    ) {
        let receipt = CommitReceipt { guard: Some(guard), name: type_name::<F> };
        // A panic drops the receipt, which tells the members. It was reported.
        let _ = catch(move || pending.commit(Box::new(move |outcome| receipt.resolve(outcome))));
    }

    /// Completes the outcome with that of the commit.
    fn set_final(&mut self, failure: Option<Broken>) {
        self.outcome = match (replace(&mut self.outcome, StagedOutcome::Delivered), failure) {
            (StagedOutcome::Uncommitted(ended), Some(why)) => {
                StagedOutcome::Final(failed(ended, why))
            }
            (StagedOutcome::Uncommitted(ended), None) => StagedOutcome::Final(ended),
            (other, _) => other,
        };
    }

    /// Ends without a call of the closure.
    fn refuse(&mut self, why: NotCommitted) {
        let mut closure = self.closure.take();
        run_quietly(&mut || drop(closure.take()));
        if let StagedOutcome::NotRun(completion) =
            replace(&mut self.outcome, StagedOutcome::Delivered)
        {
            self.outcome =
                StagedOutcome::Final(BodyOutcome::Failed(completion, Broken::NotCommitted(why)));
        }
    }
}

/// Tells the outcome, when the cowns are released.
impl<F, C: Completion> Drop for CommitStages<F, C> {
    fn drop(&mut self) {
        let mut closure = self.closure.take();
        run_quietly(&mut || drop(closure.take()));
        match replace(&mut self.outcome, StagedOutcome::Delivered) {
            StagedOutcome::Final(ended) => ended.deliver(),
            // It was cut off.
            StagedOutcome::NotRun(completion) => {
                BodyOutcome::<C>::Failed(completion, Broken::Cancelled).deliver()
            }
            StagedOutcome::Uncommitted(ended) => failed(ended, Broken::Cancelled).deliver(),
            StagedOutcome::Delivered => {}
        }
    }
}

/// Returns the guard if all members are ready. Otherwise it comes again, by the first that is not,
/// or there is a reason why it never can.
fn get_ready<S: CownSet + Send + 'static>(
    turn: &mut StepTurn<'_, S>,
    guard: Detained<S>,
    name: BehaviourName,
) -> Result<Detained<S>, Option<NotCommitted>> {
    let (mut guard, mut never) = (Some(guard), None);
    turn.visit_participants(&mut |mut member| {
        if never.is_some() || guard.is_none() {
            return;
        }
        let readiness = match &mut member {
            HeldParticipant::Exclusive(state) => state.make_ready(S::KIND.is_pipelined),
            HeldParticipant::Read(state) => state.readiness(S::KIND.is_pipelined),
        };
        match readiness {
            Readiness::Ready => {}
            Readiness::Never(why) => never = Some(why),
            Readiness::NotYet => {
                let guard = guard.take();
                let wake = Box::new(move || {
                    let DetainedStep { call, name } = go_on::<S>(name);
                    if let Some(guard) = guard {
                        guard.go_on(name, call);
                    }
                });
                match member {
                    HeldParticipant::Exclusive(state) => state.when_ready(wake),
                    HeldParticipant::Read(state) => state.when_ready(wake),
                }
            }
        }
    });
    match never {
        Some(why) => Err(Some(why)),
        None => guard.ok_or(None),
    }
}

/// Makes a failure of an outcome.
fn failed<C: Completion>(ended: BodyOutcome<C>, why: Broken) -> BodyOutcome<C> {
    match ended {
        BodyOutcome::Done(completion, value) => {
            drop_quietly(move || drop(value));
            BodyOutcome::Failed(completion, why)
        }
        failed @ BodyOutcome::Failed(..) => failed,
    }
}

/// Returns what the members have to commit, if there is anything.
fn collect<S: CownSet + Send + 'static>(
    turn: &mut StepTurn<'_, S>,
) -> Option<Box<dyn PendingCommit>> {
    let mut pending: Option<Box<dyn PendingCommit>> = None;
    turn.visit_participants(&mut |member| match member {
        HeldParticipant::Exclusive(state) => state.collect(&mut pending),
        HeldParticipant::Read(state) => state.collect_read(&mut pending),
    });
    if const { S::KIND.is_confirmed } {
        pending.iter_mut().for_each(|pending| pending.confirm());
    }
    pending.filter(|pending| !pending.is_void(S::KIND.is_pipelined))
}

fn tell_members<S: CownSet + Send + 'static>(
    turn: &mut StepTurn<'_, S>,
    outcome: &Result<(), NotCommitted>,
) {
    turn.visit_participants(&mut |member| {
        if let HeldParticipant::Exclusive(state) = member {
            state.commit_ended(outcome);
        }
    });
}

/// Takes the outcome of a commit to the behaviour that waits for it. If it is dropped instead, the
/// outcome is unknown.
struct CommitReceipt<S: CownSet + Send + 'static> {
    guard: Option<Detained<S>>,
    name: BehaviourName,
}

impl<S: CownSet + Send + 'static> CommitReceipt<S> {
    fn resolve(mut self, outcome: CommitOutcome) {
        self.go_on(Some(outcome));
    }

    fn go_on(&mut self, outcome: Option<CommitOutcome>) {
        let Some(guard) = self.guard.take() else { return };
        let step = move |mut turn: StepTurn<'_, S>, _guard: Detained<S>| {
            with_stages(&mut turn, |stages, turn| stages.commit_ended(turn, outcome))
        };
        guard.go_on(self.name, Box::new(step));
    }
}

impl<S: CownSet + Send + 'static> Drop for CommitReceipt<S> {
    fn drop(&mut self) {
        self.go_on(None);
    }
}

/// The store was closed, as at the end of a runtime, before it told the outcome of the commit.
#[derive(Debug)]
struct OutcomeUnknown;

impl fmt::Display for OutcomeUnknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("commit outcome unknown")
    }
}

impl Error for OutcomeUnknown {}
