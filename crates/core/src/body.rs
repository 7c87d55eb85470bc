//! The closure of a behaviour: calling it, catching its panic, delivering its result.

use std::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::cown::member_cursor::MemberCursor;
use crate::cown::set::CownSet;
use crate::fault::{Broken, Fault};
use crate::panic::{self, PanicPayload, drop_quietly, run_quietly};
use crate::runtime_ids::RuntimeId;
use crate::sched::runtime_handle::count_abandoned;
use crate::sched::watchdog::current_task;
use crate::simulated::SpawnedWork;
use crate::task::{RunContext, RunMode, TaskName};

/// What happens with a behaviour's result after its cowns are released.
pub(crate) trait Completion: Send {
    type Value;
    /// Whether [`done`](Self::done) does nothing.
    const FORGETS: bool = false;
    /// Whether a behaviour that a shutdown drops is work of the program, and counts as abandoned.
    const IS_WORK: bool = true;
    /// Called just before the closure; the cowns are held.
    #[inline(always)]
    fn begins(&mut self) {}
    fn done(self, value: Self::Value);
    fn failed(self, why: Broken);
    /// The promise of the result, as identified in a simulation.
    #[inline(always)]
    fn promise(&self) -> Option<usize> {
        None
    }
    /// Whether [`name`](Self::name) may return one.
    const MAY_RENAME: bool = false;
    /// The behaviour's name in reports, if it is not that of its closure.
    #[inline(always)]
    fn name(&self) -> Option<BehaviourName> {
        None
    }
}

/// Returns the name of a behaviour: that of a type.
pub(crate) type BehaviourName = TaskName;

/// The completion of a behaviour without a result: does nothing and costs nothing.
pub(crate) struct NoResult;

impl Completion for NoResult {
    type Value = ();
    const FORGETS: bool = true;
    #[inline]
    fn done(self, (): ()) {}
    fn failed(self, _: Broken) {}
}

/// The same for a behaviour of the runtime's own.
pub(crate) struct RuntimeUpkeep;

impl Completion for RuntimeUpkeep {
    type Value = ();
    const FORGETS: bool = true;
    const IS_WORK: bool = false;
    #[inline]
    fn done(self, (): ()) {}
    fn failed(self, _: Broken) {}
}

/// Another completion, for closures that share a type: with the name of this one.
pub(crate) struct NamedCompletion<C> {
    pub(crate) completion: C,
    pub(crate) name: BehaviourName,
}

impl<C: Completion> Completion for NamedCompletion<C> {
    type Value = C::Value;
    const FORGETS: bool = C::FORGETS;
    const IS_WORK: bool = C::IS_WORK;
    const MAY_RENAME: bool = true;

    #[inline]
    fn begins(&mut self) {
        self.completion.begins();
    }

    #[inline]
    fn done(self, value: C::Value) {
        self.completion.done(value);
    }

    fn failed(self, why: Broken) {
        self.completion.failed(why);
    }

    fn promise(&self) -> Option<usize> {
        self.completion.promise()
    }

    fn name(&self) -> Option<BehaviourName> {
        Some(self.name)
    }
}

/// A behaviour's closure with everything needed to call it.
pub(crate) struct Body<S: CownSet, F, C> {
    pub(crate) shape: S::Shape,
    pub(crate) closure: F,
    pub(crate) completion: C,
    /// The behaviour in reports of the simulation.
    pub(crate) spawned: SpawnedWork,
}

/// A body that has ended and has yet to deliver its outcome.
pub(crate) enum BodyOutcome<C: Completion> {
    Done(C, C::Value),
    Failed(C, Broken),
}

impl<C: Completion> BodyOutcome<C> {
    /// Delivers the outcome. This runs foreign code (wakers, destructors), so no cown may be held
    /// and nothing may depend on the return: a panic is caught and reported.
    #[inline]
    pub(crate) fn deliver(self) {
        match self {
            BodyOutcome::Done(completion, value) => {
                if std::mem::needs_drop::<C>() || std::mem::needs_drop::<C::Value>() {
                    drop_quietly(move || completion.done(value));
                } else {
                    completion.done(value);
                }
            }
            BodyOutcome::Failed(completion, why) => drop_quietly(move || completion.failed(why)),
        }
    }
}

/// A body that has panicked; the panic is not reported yet.
pub(crate) struct PanickedBody<C> {
    completion: C,
    payload: PanicPayload,
}

impl<C: Completion> PanickedBody<C> {
    /// Reports the panic as that of a closure of this name, and poisons the cowns that the
    /// behaviour holds exclusively.
    ///
    /// # Safety
    /// The behaviour of `members` still holds them.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn tell(
        self,
        closure: BehaviourName,
        members: &MemberCursor<'_>,
        home: RuntimeId,
    ) -> BodyOutcome<C> {
        let name = self.completion.name().unwrap_or(closure);
        let why = panic::caught(self.payload, name(), home);
        // SAFETY: the behaviour still holds the members, as this function requires.
        unsafe { members.fail(&why) };
        BodyOutcome::Failed(self.completion, why)
    }
}

/// From where a body is called. Each of these has a catch of its own: the compiler makes a call of
/// one that is used twice, which takes 12 instructions.
pub(crate) mod call_site {
    pub(crate) const QUEUE: u8 = 0;
    pub(crate) const HERE: u8 = 1;
    pub(crate) const HERE_ON_WORKER: u8 = 2;
    /// Where a call does not matter.
    pub(crate) const OTHER: u8 = 3;
}

impl<S, F, C> Body<S, F, C>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value,
    C: Completion,
{
    #[inline(always)]
    pub(crate) fn new(shape: S::Shape, closure: F, completion: C) -> Self {
        let name = completion.name().unwrap_or(type_name::<F>);
        let spawned = SpawnedWork::new(name, completion.promise());
        Self { shape, closure, completion, spawned }
    }

    /// Returns the behaviour's name in reports.
    pub(crate) fn name(&self) -> BehaviourName {
        self.completion.name().unwrap_or(type_name::<F>)
    }

    /// Calls the closure with its cowns, unless they are poisoned or closed, or the runtime is past
    /// its deadline. ([Unchecked](crate::cown::set::Unchecked) closures see an ended state in that
    /// case.) Catches a panic, and poisons the cowns held exclusively.
    ///
    /// # Safety
    /// The behaviour holds the cowns that `members` iterates over, and these match `self.shape`.
    #[inline(always)]
    pub(crate) unsafe fn execute(
        self,
        members: MemberCursor<'_>,
        context: &RunContext,
    ) -> BodyOutcome<C> {
        // SAFETY: the behaviour holds the members.
        let why = unsafe {
            if context.just_runs() {
                members.find_refusal()
            } else {
                let name = self.completion.name().unwrap_or(type_name::<F>);
                look_closely(&members, context, name, const { S::KIND.is_unchecked })
            }
        };
        if let Some(why) = why {
            // SAFETY: the members match the shape, and no access to them has been created.
            return unsafe { self.refuse(&members, why, context) };
        }
        // SAFETY: the behaviour holds the members, and these match the shape.
        match unsafe { self.call::<{ call_site::OTHER }>(&mut members.clone()) } {
            Ok((completion, value)) => BodyOutcome::Done(completion, value),
            // SAFETY: the behaviour still holds the members: they are released after this function.
            Err(panicked) => unsafe { panicked.tell(type_name::<F>, &members, context.home) },
        }
    }

    /// Drops a body that is not going to run.
    ///
    /// # Safety
    /// The behaviour holds the cowns that `members` iterates over, which match `self.shape`, and no
    /// access to them has been created.
    #[cold]
    #[inline(never)]
    unsafe fn refuse(
        self,
        members: &MemberCursor<'_>,
        why: Broken,
        context: &RunContext,
    ) -> BodyOutcome<C> {
        let Body { shape, closure, completion, spawned: _spawned } = self;
        // SAFETY: the conditions are those of this function, and the closure is called once.
        run_quietly(&mut || unsafe { S::abandon(shape, &mut members.clone()) });
        if C::IS_WORK {
            report_refusal(completion.name().unwrap_or(type_name::<F>), &why, context.home);
        }
        let mut closure = Some(closure);
        run_quietly(&mut || drop(closure.take()));
        BodyOutcome::Failed(completion, why)
    }

    /// Calls the closure with its cowns, none of which is poisoned or closed. Catches a panic.
    /// `SITE` is one of [`call_site`].
    ///
    /// # Safety
    /// See [`execute`](Self::execute).
    #[inline(always)]
    pub(crate) unsafe fn call<const SITE: u8>(
        self,
        members: &mut MemberCursor<'_>,
    ) -> Result<(C, C::Value), PanickedBody<C>> {
        let Body { shape, closure, mut completion, spawned } = self;
        completion.begins();
        spawned.begins();
        // SAFETY: the behaviour holds the members, which match the shape. The access lives only for
        // the call: the closure accepts it for every lifetime, so it cannot keep it.
        let call = || closure(unsafe { S::access(shape, members) });
        match catch_unwind(AssertUnwindSafe(call)) {
            Ok(value) => Ok((completion, value)),
            Err(payload) => Err(PanickedBody { completion, payload }),
        }
    }

    /// Like [`execute`](Self::execute), where an additional call does not matter.
    ///
    /// # Safety
    /// See [`execute`](Self::execute).
    #[inline(never)]
    pub(crate) unsafe fn execute_outlined(
        self,
        members: MemberCursor<'_>,
        context: &RunContext,
    ) -> BodyOutcome<C> {
        // SAFETY: the caller satisfies the conditions of `execute`.
        unsafe { self.execute(members, context) }
    }
}

/// Returns why a body must not run, if there is a reason, where its runtime has a watchdog or is
/// past its deadline. What does not depend on the body's type is in functions like this one, which
/// are compiled once.
///
/// # Safety
/// The behaviour holds the members.
#[cold]
#[inline(never)]
unsafe fn look_closely(
    members: &MemberCursor<'_>,
    context: &RunContext,
    name: BehaviourName,
    unchecked: bool,
) -> Option<Broken> {
    current_task::goes_on_with(name);
    match context.mode() {
        // SAFETY: the behaviour holds the members, as this function requires; an unchecked one
        // exclusively.
        RunMode::Cancel if unchecked => unsafe { refuse_late(members.clone(), context.home) },
        RunMode::Cancel => Some(Broken::Cancelled),
        RunMode::Run => members.find_refusal(),
    }
}

/// Ends the states for an unchecked body whose runtime is past its deadline, or refuses the body.
///
/// # Safety
/// The behaviour holds the members exclusively.
#[cold]
#[inline(never)]
unsafe fn refuse_late(members: MemberCursor<'_>, home: RuntimeId) -> Option<Broken> {
    // SAFETY: the behaviour holds the members exclusively.
    if !unsafe { members.end_states() } {
        return Some(Broken::Cancelled);
    }
    // The state has ended, so the body can only report that.
    count_abandoned(home);
    None
}

fn report_refusal(behaviour: BehaviourName, why: &Broken, home: RuntimeId) {
    let behaviour = behaviour();
    match *why {
        Broken::Poisoned { position } => {
            panic::report(&Fault::Skipped { behaviour, position }, home);
        }
        Broken::Closed { position } => {
            panic::report(&Fault::Closed { behaviour, position }, home);
        }
        _ => count_abandoned(home),
    }
}
