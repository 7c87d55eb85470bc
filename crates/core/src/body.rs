//! The user's part of a behaviour, and what becomes of its result.

use std::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::cown::cursor::Cursor;
use crate::cown::set::CownSet;
use crate::fault::{Broken, Fault};
use crate::ids::RuntimeId;
use crate::panic::{self, Payload, drop_quietly};
use crate::sched::runtime_handle::count_abandoned;
use crate::simulated::Spawned;
use crate::task::{Mode, RunContext};

/// What happens to a behaviour's result once its cowns are released.
pub(crate) trait Completion: Send {
    type Value;
    /// Whether [`done`](Self::done) does nothing.
    const FORGETS: bool = false;
    /// The closure is about to be called; the cowns are held.
    #[inline(always)]
    fn begins(&mut self) {}
    fn done(self, value: Self::Value);
    fn failed(self, why: Broken);
    /// The promise of the result, as the simulation knows it.
    #[inline(always)]
    fn promise(&self) -> Option<usize> {
        None
    }
}

/// The completion of a behaviour without a result: nothing, and it costs nothing.
pub(crate) struct Forget;

impl Completion for Forget {
    type Value = ();
    const FORGETS: bool = true;
    #[inline]
    fn done(self, (): ()) {}
    fn failed(self, _: Broken) {}
}

/// A behaviour's closure with all that is needed to call it.
pub(crate) struct Body<S: CownSet, F, C> {
    pub(crate) shape: S::Shape,
    pub(crate) closure: F,
    pub(crate) completion: C,
    /// What a report of the simulation tells of it.
    pub(crate) spawned: Spawned,
}

/// A body that has ended, in one way or another, and is yet to say so.
pub(crate) enum Ended<C: Completion> {
    Done(C, C::Value),
    Failed(C, Broken),
}

impl<C: Completion> Ended<C> {
    /// Delivers the result. Foreign code (wakers, destructors) runs in here, so no cown may be held
    /// and nothing may depend on its return: a panic is caught and reported.
    #[inline]
    pub(crate) fn deliver(self) {
        match self {
            Ended::Done(completion, value) => {
                if std::mem::needs_drop::<C>() || std::mem::needs_drop::<C::Value>() {
                    drop_quietly(move || completion.done(value));
                } else {
                    completion.done(value);
                }
            }
            Ended::Failed(completion, why) => drop_quietly(move || completion.failed(why)),
        }
    }
}

/// A body that has panicked; its panic is not reported yet.
pub(crate) struct Panicked<C> {
    completion: C,
    payload: Payload,
}

impl<C: Completion> Panicked<C> {
    /// Reports the panic as that of closure `F`, and poisons the cowns that the behaviour holds exclusively.
    ///
    /// # Safety
    /// They are held still, by the behaviour that the members are of.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn tell<F>(self, members: &Cursor<'_>, home: RuntimeId) -> Ended<C> {
        let why = panic::caught(self.payload, type_name::<F>(), home);
        // SAFETY: by the caller's word.
        unsafe { members.fail(&why) };
        Ended::Failed(self.completion, why)
    }
}

impl<S, F, C> Body<S, F, C>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value,
    C: Completion,
{
    #[inline(always)]
    pub(crate) fn new(shape: S::Shape, closure: F, completion: C) -> Self {
        let spawned = Spawned::new(type_name::<F>, completion.promise());
        Self { shape, closure, completion, spawned }
    }

    /// Calls the closure with its cowns, unless they are poisoned or closed, or the runtime is past
    /// its deadline. (What comes [unchecked](CownSet::UNCHECKED) comes to a state that has ended then.) Catches a
    /// panic, and poisons what was held exclusively.
    ///
    /// # Safety
    /// The behaviour holds the cowns that `members` runs over, and they match the shape.
    #[inline(always)]
    pub(crate) unsafe fn execute(self, members: Cursor<'_>, context: &RunContext) -> Ended<C> {
        let Body { shape, closure, completion, spawned } = self;
        // SAFETY: the members are held.
        let refused = unsafe {
            match context.mode() {
                Mode::Cancel if S::UNCHECKED => refuse_late(members.clone(), context.home),
                Mode::Cancel => Some(Broken::Cancelled),
                Mode::Run => members.find_refusal(),
            }
        };
        if let Some(why) = refused {
            // SAFETY: the members match the shape, and their access is not built.
            drop_quietly(|| unsafe { S::abandon(shape, &mut members.clone()) });
            return refuse(closure, completion, why, context);
        }
        let body = Body { shape, closure, completion, spawned };
        // SAFETY: by the caller's word.
        match unsafe { body.call(&mut members.clone()) } {
            Ok((completion, value)) => Ended::Done(completion, value),
            // SAFETY: as above.
            Err(panicked) => unsafe { panicked.tell::<F>(&members, context.home) },
        }
    }

    /// Calls the closure with its cowns, of which none is poisoned or closed. Catches a panic.
    ///
    /// # Safety
    /// As [`execute`](Self::execute).
    #[inline(always)]
    pub(crate) unsafe fn call(
        self,
        members: &mut Cursor<'_>,
    ) -> Result<(C, C::Value), Panicked<C>> {
        let Body { shape, closure, mut completion, spawned } = self;
        completion.begins();
        spawned.begins();
        // SAFETY: held, by the caller's word, and for the time of the call only: the closure takes
        // the access for every lifetime.
        let call = || closure(unsafe { S::access(shape, members) });
        match catch_unwind(AssertUnwindSafe(call)) {
            Ok(value) => Ok((completion, value)),
            Err(payload) => Err(Panicked { completion, payload }),
        }
    }

    /// As [`execute`](Self::execute), where a call more does not matter.
    ///
    /// # Safety
    /// As [`execute`](Self::execute).
    #[inline(never)]
    pub(crate) unsafe fn execute_outlined(
        self,
        members: Cursor<'_>,
        context: &RunContext,
    ) -> Ended<C> {
        // SAFETY: by the caller's word.
        unsafe { self.execute(members, context) }
    }
}

/// Refuses a body that comes unchecked, of a runtime that is past its deadline, unless the state has ended.
///
/// # Safety
/// The behaviour holds the members exclusively.
#[cold]
#[inline(never)]
unsafe fn refuse_late(members: Cursor<'_>, home: RuntimeId) -> Option<Broken> {
    // SAFETY: by the caller's word.
    if !unsafe { members.end_states() } {
        return Some(Broken::Cancelled);
    }
    // It comes too late for what it was to do, and only says so.
    count_abandoned(home);
    None
}

/// Drops a closure that is not to run.
#[cold]
fn refuse<F, C: Completion>(
    closure: F,
    completion: C,
    why: Broken,
    context: &RunContext,
) -> Ended<C> {
    let behaviour = type_name::<F>();
    match why {
        Broken::Poisoned { position } => {
            panic::report(&Fault::Skipped { behaviour, position }, context.home);
        }
        Broken::Closed { position } => {
            panic::report(&Fault::Closed { behaviour, position }, context.home);
        }
        _ => count_abandoned(context.home),
    }
    drop_quietly(move || drop(closure));
    Ended::Failed(completion, why)
}
