//! Behaviours over states that [settle](crate::cown::settling): they are detained until what they have done is kept.
//!
//! Such a behaviour waits until all of its members are ready, calls its closure, collects what its members have to
//! keep, waits until that is kept, and then ends. Those who wait for its result, or for its cowns, see neither before.
//!
//! A [pipelined](crate::cown::set::Pipelined) one releases its cowns when what it leaves is on its way, and takes its stages along: its
//! result is told when that is kept.
//!
//! All other behaviours pass through here at no cost: whether a set has such members is known when it is compiled.

use std::any::type_name;
use std::error::Error;
use std::fmt;
use std::mem::{replace, transmute};
use std::ptr::NonNull;
use std::sync::Arc;

use coact_sync::shim::atomic::{AtomicU64, Ordering};

use super::admission::Admitted;
use super::detain::{self, Detained, RunHere, Stages, Step, StepTurn};
use super::refusal::Refusal;
use super::spawn;
use crate::body::{Completion, Ended, Forget, Name};
use crate::cown::set::{CownSet, refuse_volatile_beside_durable};
use crate::cown::settling::{Kept, Readiness, SettlingMember, Unsettled};
use crate::current::{self, deciding, refuse_in_decision};
use crate::fault::{Broken, NotCommitted};
use crate::panic::{catch, drop_quietly, run_quietly};
use crate::queue::append::StepEntry;
use crate::queue::multi_block::Multi;

/// Spawns a behaviour that calls `closure` with the cowns of the set: see [`spawn::spawn`].
#[inline(always)]
#[cfg_attr(any(debug_assertions, feature = "sim"), track_caller)]
pub(crate) fn spawn<S, F, C>(set: S, closure: F, completion: C) -> Result<(), (Refusal, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
    C::Value: Send,
{
    refuse_in_decision();
    if !S::SETTLES {
        return spawn::spawn(set, closure, completion);
    }
    spawn_settling(set, closure, completion, None)
}

/// The same for a set whose members may settle, and that may be run here.
pub(super) fn spawn_settling<S, F, C>(
    set: S,
    closure: F,
    completion: C,
    here: Option<(RunHere, Decider)>,
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

/// Makes such a behaviour for a batch: see [`detain::prepare`].
pub(super) fn prepare<S, F>(
    set: &S,
    closure: F,
    admitted: Option<Admitted<Forget>>,
    requests: &mut dyn FnMut(StepEntry),
) -> Result<NonNull<Multi>, (Refusal, F)>
where
    S: CownSet<Owned = S> + Send + 'static,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    detain::prepare::<S, F, F>(
        set,
        closure,
        |closure| begin::<S, F, Forget>(closure, Forget, None),
        admitted,
        requests,
    )
}

/// Spawns a behaviour for what was named before, and passed the checks then. One that is refused all the same, as a
/// mailbox is full by now, tells its completion.
pub(crate) fn with_owned<S, F, C>(set: S::Owned, closure: F, completion: C)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
    C::Value: Send,
{
    match spawn(set, closure, completion) {
        Ok(()) => {}
        Err((Refusal::Full { position }, closure, completion)) => {
            let behaviour = type_name::<F>();
            tracing::warn!(behaviour, position, "a deferred behaviour is refused");
            drop_quietly(move || drop(closure));
            drop_quietly(move || completion.failed(Broken::Full { position }));
        }
        Err((refusal, ..)) => unreachable!("a set of the same cowns has passed: {refusal}"),
    }
}

type Begun<S> = (Step<S>, Option<Box<dyn Stages<S>>>);

fn begin<S, F, C>(closure: F, completion: C, decider: Option<Decider>) -> Begun<S::Owned>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
    C::Value: Send,
{
    // (Each function that a program calls says so as well, where the error has the program's line.)
    const { refuse_volatile_beside_durable::<S>() };
    let state = Settler { closure: Some(closure), outcome: Outcome::Owed(completion), decider };
    let stages: Box<dyn Stages<S::Owned> + '_> = Box::new(state);
    // SAFETY: only the lifetime changes. A node without stages holds its closure and its completion just so, type-erased:
    // what they borrow from is a scope, which waits until the completion is dropped. This drops it last.
    let stages: Box<dyn Stages<S::Owned>> = unsafe { transmute(stages) };
    (go_on(type_name::<F>), Some(stages))
}

/// The number of the thread that has called the closure.
pub(super) type Decider = Arc<AtomicU64>;

/// The stages of a behaviour.
struct Settler<F, C: Completion> {
    /// Until it is called.
    closure: Option<F>,
    outcome: Outcome<C>,
    /// Is told who has called it.
    decider: Option<Decider>,
}

/// How far the outcome of a behaviour is known.
enum Outcome<C: Completion> {
    /// The closure was not called yet.
    Owed(C),
    /// It has ended, and what it has done is not kept yet.
    Unsettled(Ended<C>),
    Settled(Ended<C>),
    Told,
}

/// Returns the step that goes on where a behaviour was left.
fn go_on<S: CownSet + Send + 'static>(name: Name) -> Step<S> {
    Step {
        call: Box::new(|mut turn, guard| {
            let mut leaves = None;
            with_stages(&mut turn, |stages, turn| leaves = stages.go_on(turn, guard));
            if let Some(unsettled) = leaves
                && let Some(stages) = turn.stages.take()
            {
                leave_behind(&mut turn, stages, unsettled);
            }
            false
        }),
        name,
    }
}

/// Has kept what a pipelined behaviour leaves, which ends meanwhile.
fn leave_behind<S: CownSet + Send + 'static>(
    turn: &mut StepTurn<'_, S>,
    mut stages: Box<dyn Stages<S>>,
    unsettled: Box<dyn Unsettled>,
) {
    // What was not told is dropped, and that tells that it was cut off.
    let done = Box::new(move |kept| stages.settled_behind(kept));
    // A panic drops it. It was reported.
    let _ = catch(move || unsettled.settle_behind(done));
    tell_members(turn, &Ok(()));
}

/// Returns whether the step has failed: never.
fn with_stages<S: CownSet + Send + 'static>(
    turn: &mut StepTurn<'_, S>,
    step: impl FnOnce(&mut dyn Stages<S>, &mut StepTurn<'_, S>),
) -> bool {
    if let Some(mut stages) = turn.stages.take() {
        step(&mut *stages, turn);
        *turn.stages = Some(stages);
    }
    false
}

impl<S, F, C> Stages<S> for Settler<F, C>
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
    ) -> Option<Box<dyn Unsettled>> {
        match get_ready(turn, guard, type_name::<F>) {
            Ok(guard) => {
                let unsettled = self.decide(turn)?;
                if S::PIPELINED {
                    return Some(unsettled);
                }
                self.await_end(unsettled, guard);
            }
            Err(Some(why)) => self.refuse(why),
            // It comes again.
            Err(None) => {}
        }
        None
    }

    fn settled(&mut self, turn: &mut StepTurn<'_, S>, kept: Option<Kept>) {
        let (told, failure, mut then) = match kept {
            Some(Ok(then)) => (Ok(()), None, Some(then)),
            Some(Err(why)) => (Err(why.clone()), Some(Broken::NotCommitted(why)), None),
            None => (Err(NotCommitted::new(Untold)), Some(Broken::Cancelled), None),
        };
        tell_members(turn, &told);
        // Before the cowns are released, so that what it sends comes before what others send who see the states.
        run_quietly(&mut || then.take().into_iter().for_each(|then| then()));
        self.has_settled(failure);
    }

    fn settled_behind(&mut self, kept: Kept) {
        match kept {
            Ok(then) => {
                drop_quietly(then);
                self.has_settled(None);
            }
            Err(why) => self.has_settled(Some(Broken::NotCommitted(why))),
        }
    }
}

impl<F, C: Completion> Settler<F, C> {
    /// Calls the closure. Returns what is to be kept, if there is anything.
    fn decide<S>(&mut self, turn: &mut StepTurn<'_, S>) -> Option<Box<dyn Unsettled>>
    where
        S: CownSet + Send + 'static,
        F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
        C::Value: Send,
    {
        let closure = self.closure.take()?;
        let Outcome::Owed(completion) = replace(&mut self.outcome, Outcome::Told) else {
            return None;
        };
        let mut ended = deciding(|| turn.run(closure, completion));
        // ORDERING: Relaxed. A thread that finds its own number has written it.
        self.decider.iter().for_each(|decider| decider.store(current::number(), Ordering::Relaxed));
        let mut unsettled = None;
        if let Ended::Done(..) = ended {
            match catch(|| collect(turn)) {
                Ok(found) => unsettled = found,
                Err(why) => {
                    turn.fail(&why);
                    ended = failed(ended, why);
                }
            }
        }
        if let Ended::Failed(_, why @ Broken::Panicked(_)) = &ended {
            tell_members(turn, &Err(NotCommitted::new(why.clone())));
        }
        // Before it can be settled.
        self.outcome = match &unsettled {
            Some(_) => Outcome::Unsettled(ended),
            None => Outcome::Settled(ended),
        };
        unsettled
    }

    /// Has kept what the closure has left, and goes on then.
    fn await_end<S: CownSet + Send + 'static>(
        &self,
        unsettled: Box<dyn Unsettled>,
        guard: Detained<S>,
    ) {
        let owed = Owed { guard: Some(guard), name: type_name::<F> };
        // A panic drops what is owed, and that is told. It was reported.
        let _ = catch(move || unsettled.settle(Box::new(move |kept| owed.tell(kept))));
    }

    /// Takes note of what has come of what the closure has left.
    fn has_settled(&mut self, failure: Option<Broken>) {
        self.outcome = match (replace(&mut self.outcome, Outcome::Told), failure) {
            (Outcome::Unsettled(ended), Some(why)) => Outcome::Settled(failed(ended, why)),
            (Outcome::Unsettled(ended), None) => Outcome::Settled(ended),
            (other, _) => other,
        };
    }

    /// Ends without a call of the closure.
    fn refuse(&mut self, why: NotCommitted) {
        let mut closure = self.closure.take();
        run_quietly(&mut || drop(closure.take()));
        if let Outcome::Owed(completion) = replace(&mut self.outcome, Outcome::Told) {
            self.outcome = Outcome::Settled(Ended::Failed(completion, Broken::NotCommitted(why)));
        }
    }
}

/// Tells the outcome, when the cowns are released.
impl<F, C: Completion> Drop for Settler<F, C> {
    fn drop(&mut self) {
        let mut closure = self.closure.take();
        run_quietly(&mut || drop(closure.take()));
        match replace(&mut self.outcome, Outcome::Told) {
            Outcome::Settled(ended) => ended.deliver(),
            // It was cut off.
            Outcome::Owed(completion) => {
                Ended::<C>::Failed(completion, Broken::Cancelled).deliver()
            }
            Outcome::Unsettled(ended) => failed(ended, Broken::Cancelled).deliver(),
            Outcome::Told => {}
        }
    }
}

/// Returns the guard if all members are ready. Otherwise it comes again, by the first that is not, or there is a
/// reason why it never can.
fn get_ready<S: CownSet + Send + 'static>(
    turn: &mut StepTurn<'_, S>,
    guard: Detained<S>,
    name: Name,
) -> Result<Detained<S>, Option<NotCommitted>> {
    let (mut guard, mut never) = (Some(guard), None);
    turn.settling(&mut |mut member| {
        if never.is_some() || guard.is_none() {
            return;
        }
        let readiness = match &mut member {
            SettlingMember::Exclusive(state) => state.make_ready(S::PIPELINED),
            SettlingMember::Read(state) => state.readiness(S::PIPELINED),
        };
        match readiness {
            Readiness::Ready => {}
            Readiness::Never(why) => never = Some(why),
            Readiness::NotYet => {
                let guard = guard.take();
                let wake = Box::new(move || {
                    let Step { call, name } = go_on::<S>(name);
                    if let Some(guard) = guard {
                        guard.go_on(name, call);
                    }
                });
                match member {
                    SettlingMember::Exclusive(state) => state.when_ready(wake),
                    SettlingMember::Read(state) => state.when_ready(wake),
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
fn failed<C: Completion>(ended: Ended<C>, why: Broken) -> Ended<C> {
    match ended {
        Ended::Done(completion, value) => {
            drop_quietly(move || drop(value));
            Ended::Failed(completion, why)
        }
        failed @ Ended::Failed(..) => failed,
    }
}

/// Returns what the members have to keep, if there is anything.
fn collect<S: CownSet + Send + 'static>(turn: &mut StepTurn<'_, S>) -> Option<Box<dyn Unsettled>> {
    let mut unsettled: Option<Box<dyn Unsettled>> = None;
    turn.settling(&mut |member| match member {
        SettlingMember::Exclusive(state) => state.collect(&mut unsettled),
        SettlingMember::Read(state) => state.collect_read(&mut unsettled),
    });
    if S::CONFIRMED {
        unsettled.iter_mut().for_each(|unsettled| unsettled.confirm());
    }
    unsettled.filter(|unsettled| !unsettled.is_void(S::PIPELINED))
}

fn tell_members<S: CownSet + Send + 'static>(
    turn: &mut StepTurn<'_, S>,
    kept: &Result<(), NotCommitted>,
) {
    turn.settling(&mut |member| {
        if let SettlingMember::Exclusive(state) = member {
            state.settled(kept);
        }
    });
}

/// The duty to say what has come of what a behaviour has left.
struct Owed<S: CownSet + Send + 'static> {
    guard: Option<Detained<S>>,
    name: Name,
}

impl<S: CownSet + Send + 'static> Owed<S> {
    fn tell(mut self, kept: Kept) {
        self.go_on(Some(kept));
    }

    fn go_on(&mut self, kept: Option<Kept>) {
        let Some(guard) = self.guard.take() else { return };
        let step = move |mut turn: StepTurn<'_, S>, _guard: Detained<S>| {
            with_stages(&mut turn, |stages, turn| stages.settled(turn, kept))
        };
        guard.go_on(self.name, Box::new(step));
    }
}

impl<S: CownSet + Send + 'static> Drop for Owed<S> {
    fn drop(&mut self) {
        self.go_on(None);
    }
}

/// What was to keep a behaviour's work has gone without saying whether it has, as it does at the end of a runtime.
#[derive(Debug)]
struct Untold;

impl fmt::Display for Untold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it was not told whether it is stored")
    }
}

impl Error for Untold {}
