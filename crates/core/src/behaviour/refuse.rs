//! Panics for behaviours that are refused.

use super::refusal::Refusal;
use crate::panic::run_quietly;
use crate::sched::refuse_outside_simulation;

/// Panics because the set of a behaviour was refused. The closure is dropped before: if its
/// destructor panicked while this panic unwinds, the process would end.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn panic_refused<F, C>((refusal, closure, completion): (Refusal, F, C)) -> ! {
    drop_both(closure, completion);
    panic!("{refusal}");
}

/// The same for a set in a simulation of which this thread is no part.
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn refuse_outside<F, C>(closure: F, completion: C) -> ! {
    drop_both(closure, completion);
    refuse_outside_simulation::panic_outside_simulation();
}

fn drop_both<F, C>(closure: F, completion: C) {
    let (mut closure, mut completion) = (Some(closure), Some(completion));
    run_quietly(&mut || drop(closure.take()));
    run_quietly(&mut || drop(completion.take()));
}
