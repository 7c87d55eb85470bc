//! Attempts to run a behaviour inline, and how long they last.

use crate::current;

use coact_sync::adaptive_poll::AdaptivePoll;

use super::one_or_two::OneOrTwo;
use super::run::{claim_and_run_any, run_plain};
use super::where_to_run::{
    at_work_from_outside, may_nest, open_to_external_threads, place_elsewhere,
};
use crate::behaviour::erased_closure::{erase, renamed};
use crate::body::Completion;
use crate::code_sharing::SHARES_CODE;
use crate::cown::set::CownSet;
use crate::path_coverage::FastPath;
use crate::sched::ReadySink;
use crate::sched::{context, schedule};
use crate::simulated;

/// Returns the set, the closure and the completion if the behaviour cannot run inline. Passes what
/// becomes ready in the end to `ready`.
#[inline]
fn try_here<S, F, C>(
    set: S,
    closure: F,
    completion: C,
    ready: &mut impl ReadySink,
) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    if !may_nest() {
        return Some((set, closure, completion));
    }
    let members = OneOrTwo::of(&set);
    let home = members.plain_home();
    // A worker of that runtime has found the cowns in use before, or special.
    let Some(home) = home.filter(|home| !context::is_worker_of(*home)) else {
        return try_any_here(set, closure, completion, ready);
    };
    let Some(home) = open_to_external_threads(home) else {
        return Some((set, closure, completion));
    };
    at_work_from_outside(home, || {
        // SAFETY: the members are those of the set, whose handles keep them alive.
        unsafe { run_plain::<false, _, _, _>(set, members, home, closure, completion, ready) }
    })
}

/// Like [`try_here`], for any set.
#[inline(never)]
fn try_any_here<S, F, C>(
    set: S,
    closure: F,
    completion: C,
    ready: &mut impl ReadySink,
) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let Some(place) = place_elsewhere(&set) else { return Some((set, closure, completion)) };
    place.at_work(|| claim_and_run_any(set, place.home, closure, completion, ready))
}

/// Like [`try_here`], but tries again for a while if the cowns are taken.
#[inline(always)]
pub(super) fn try_here_for_a_while<S, F, C>(set: S, closure: F, completion: C) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    if !SHARES_CODE {
        return try_on_any_thread(set, closure, completion);
    }
    let (erased, original) = erase::<S, F, _>(closure);
    let (set, erased, renamed) = try_on_any_thread(set, erased, renamed::<F, _>(completion))?;
    // SAFETY: they were erased together.
    Some((set, unsafe { original.restore(erased) }, renamed.completion))
}

#[inline(always)]
fn try_on_any_thread<S, F, C>(set: S, closure: F, completion: C) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    if let Some(worker) = context::worker() {
        let (members, home) = (OneOrTwo::of(&set), worker.id());
        // SAFETY: the set's handles keep its members alive.
        unsafe {
            if members.are_plain(home) && may_nest() {
                let ready = &mut schedule;
                return run_plain::<true, _, _, _>(set, members, home, closure, completion, ready);
            }
        }
    }
    try_elsewhere(set, closure, completion)
}

/// The same on a thread that is not a worker, or on a set that is not plain.
#[inline(never)]
fn try_elsewhere<S, F, C>(set: S, closure: F, completion: C) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let (set, closure, completion) = try_here(set, closure, completion, &mut schedule)?;
    keep_trying(set, closure, completion)
}

/// Returns whether to wait briefly for cowns that are taken, instead of waking a worker: other
/// threads may be running similarly short behaviours on them. A worker does not wait, since it has
/// other tasks; neither does a thread inside an inline behaviour, which may itself hold the cowns,
/// nor one that cannot run behaviours on them inline at all. (A behaviour on a blocking thread may
/// poll in vain, if it asks for what it holds: for some microseconds, and less each time.)
fn is_worth_waiting<S: CownSet>(set: &S) -> bool {
    let is_outside = context::worker().is_none() && current::nested_bodies() == 0;
    // A loom model would explore each poll.
    is_outside
        && !cfg!(loom)
        && !simulated::is_inside()
        && OneOrTwo::has_few_queues(set)
        && place_elsewhere(set).is_some()
}

thread_local! {
    static POLL: AdaptivePoll = const { AdaptivePoll::new() };
}

/// Tries again whenever the cowns look free, if that is worthwhile.
#[cold]
#[inline(never)]
fn keep_trying<S, F, C>(set: S, closure: F, completion: C) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    if !is_worth_waiting(&set) {
        return Some((set, closure, completion));
    }
    let mut rest = Some((set, closure, completion));
    // A closure, so that this is a separate instance of `try_here`: the first attempt then has one
    // caller, and stays inline.
    let mut ready = |task, home| schedule(task, home);
    let mut attempt = || {
        let look_free = rest.as_ref().is_some_and(|(set, ..)| OneOrTwo::look_free(set));
        if look_free {
            let (set, closure, completion) = rest.take()?;
            rest = try_here(set, closure, completion, &mut ready);
        }
        rest.is_none().then(|| FastPath::HereAfterAll.take())
    };
    if simulated::is_active() {
        // Nothing changes from one look to the next, except at scheduling points. And a run must
        // not depend on how often earlier ones have waited in vain.
        let _ = attempt();
    } else {
        POLL.with(|poll| poll.look_for(&mut attempt));
    }
    rest
}
