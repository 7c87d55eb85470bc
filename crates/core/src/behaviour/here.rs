//! Behaviours that run at once on the thread that asks for them, if their cowns are free.

use std::mem::{offset_of, size_of};
use std::ptr::NonNull;

use smallvec::SmallVec;

use super::body::{Body, Forget};
use super::release::release;
use super::slot::Slot;
use super::task::{Mode, Ready, RunContext, TaskPtr, run_task};
use super::{claim, spawn};
use crate::cown::access::Cursor;
use crate::cown::header::Member;
use crate::cown::set::{CownSet, sealed::Visitor};
use crate::group::join::Grouped;
use crate::runtime::RuntimeId;
use crate::sched::{Successor, context, guest, schedule, shared};
use crate::sim;

/// How many bodies may lie on top of each other on one stack.
pub const MAX_NESTED_HERE: u32 = 32;

/// Runs a behaviour at once, on the calling thread, if all its cowns are free and nothing stands in
/// their queues; otherwise spawns it as [`when`](crate::when) does. Returns whether it had its turn
/// at once: to run, or to be skipped for poison.
///
/// The order is that of `when`: a behaviour may run any time after it is spawned, so it may run
/// right away. What the caller gives for it is its own time.
///
/// **Cost.** With free cowns, two atomic operations a cown and no allocation: about what locking
/// and unlocking a mutex for each costs. With a busy cown, that attempt on top of `when`.
///
/// If one of the cowns belongs to a [`Pump`](crate::Pump), it runs at once on that pump's thread only,
/// and is spawned elsewhere.
///
/// Calls from inside such behaviours nest up to [`MAX_NESTED_HERE`] deep; deeper ones are spawned.
///
/// ```
/// use coact_core::{Cown, when_here};
///
/// let (a, b) = (Cown::new(1), Cown::new(2));
/// let ran = when_here((&a, &b), |(a, b)| std::mem::swap(a, b));
/// assert!(ran);
/// assert_eq!((a.into_inner().unwrap(), b.into_inner().unwrap()), (2, 1));
/// ```
///
/// # Panics
/// If the set names a cown twice, or cowns of different pumps. A panic of the closure is caught as in `when`.
#[inline]
#[track_caller]
pub fn when_here<S, F>(set: S, closure: F) -> bool
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    match try_here(set, closure, &mut schedule) {
        None => true,
        Some((set, closure)) => {
            crate::when(set, closure);
            false
        }
    }
}

/// As [`when_here`], and the caller goes on with what others have queued on the cowns meanwhile, up to so
/// many behaviours, before it hands over to the workers: **caller runs**. So a burst from several threads
/// is worked off by one of them, which has the state in its cache, and the workers are not woken for it.
///
/// What becomes ready at the end of such a behaviour runs here as it would on a worker: the next one on the
/// same cown, or one over several cowns that has waited for this cown. Those of other runtimes are left to
/// these.
///
/// ```
/// use coact_core::{Cown, serve_here};
///
/// let sum = Cown::new(0);
/// assert!(serve_here(&sum, 10, |sum| *sum += 1));
/// assert_eq!(sum.into_inner(), Ok(1));
/// ```
///
/// # Panics
/// As [`when_here`].
#[track_caller]
pub fn serve_here<S, F>(set: S, batch: u32, closure: F) -> bool
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    let home = spawn::home_of(&set);
    let serve = || {
        let mut next = Successor::new(home);
        let refused = try_here(set, closure, &mut next);
        if let Some(task) = next.take() {
            run_batch(task, home, batch);
        }
        refused
    };
    let refused = if context::worker().is_some() { serve() } else { guest::visit(home, serve) };
    match refused {
        None => true,
        Some((set, closure)) => {
            crate::when(set, closure);
            false
        }
    }
}

/// Runs a task of a runtime, and those that follow it, up to so many; the rest is the workers'.
#[cold]
fn run_batch(task: TaskPtr, home: RuntimeId, batch: u32) {
    let nested = context::Nested::enter();
    let before = context::enter(home);
    let mut next = Some(task);
    for _ in 0..batch {
        let Some(task) = next else { break };
        // SAFETY: a successor is ready, and ours alone.
        next = unsafe { run_task(task, &run_context(home)) };
    }
    context::enter(before);
    drop(nested);
    if let Some(task) = next {
        schedule(task, home);
    }
}

/// Looked up each time: the task before may have run past a shutdown's deadline.
fn run_context(home: RuntimeId) -> RunContext {
    // The runtime of a model does not exist.
    if cfg!(loom) {
        return RunContext { home, mode: Mode::Run };
    }
    shared::get(home).run_context()
}

/// Gives the set and the closure back if it is not to run here. What becomes ready in the end is passed
/// to `ready`.
#[inline]
fn try_here<S, F>(set: S, closure: F, ready: &mut impl Ready) -> Option<(S, F)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send,
{
    if context::nested_bodies() >= MAX_NESTED_HERE || spawn::is_closed(&set) {
        return Some((set, closure));
    }
    // What is refused is refused by `when`.
    let Ok(home) = spawn::place_of(&set) else { return Some((set, closure)) };
    if !can_run_here(home) {
        return Some((set, closure));
    }
    if context::worker().is_some() {
        return claim_and_run(set, home, closure, ready);
    }
    sim::point();
    guest::visit(home, || claim_and_run(set, home, closure, ready))
}

/// Whether the current thread may run behaviours of the runtime.
fn can_run_here(home: RuntimeId) -> bool {
    // The runtime of a model does not exist.
    if cfg!(loom) {
        return true;
    }
    let shared = shared::get(home);
    !shared.is_pumped() || shared.is_pump_thread()
}

/// Gives the set and the closure back if some cown is not free.
fn claim_and_run<S, F>(
    set: S,
    home: RuntimeId,
    closure: F,
    ready: &mut impl Ready,
) -> Option<(S, F)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send,
{
    let mut slots = SmallVec::<[Slot; 8]>::new();
    set.visit(&mut Visitor(&mut |member: Member| slots.push(Slot::new(member))));
    // From here on the slots do not move: they stand in queues.
    // SAFETY: the set's handles keep the cowns alive, and the slots stay until they are released
    // below. (A cown that is named twice is not free the second time.)
    if !unsafe { take_all_of(home, &slots) } {
        return Some((set, closure));
    }
    let body = Body::<S, F, Forget> { shape: set.shape(), closure, completion: Forget };
    set.give();
    let context = RunContext { home, mode: Mode::Run };
    let ended = {
        let _nested = context::Nested::enter();
        let before = context::enter(home);
        // SAFETY: all cowns of the set are held, in its order.
        let ended = unsafe { body.execute(cursor_over(&slots), &context) };
        context::enter(before);
        ended
    };
    for slot in &slots {
        // SAFETY: held until here.
        unsafe { release(NonNull::from(slot), ready) };
    }
    ended.deliver();
    None
}

/// Takes the cowns of the slots if all of them are free, and a behaviour on them is this runtime's.
///
/// # Safety
/// As [`take_all`].
unsafe fn take_all_of(home: RuntimeId, slots: &[Slot]) -> bool {
    // A foreign handle may name another cown than before.
    let is_here = spawn::place_among(slots.iter().map(|slot| slot.member)) == Ok(home);
    // SAFETY: by the caller's word.
    is_here && unsafe { take_all(slots) }
}

/// Takes the cowns of the slots if all of them are free.
///
/// # Safety
/// As [`claim::take_all`]; but a cown may be named twice, and is not free then.
#[inline]
unsafe fn take_all(slots: &[Slot]) -> bool {
    // SAFETY: alive, by the caller's word.
    if slots.iter().any(|slot| unsafe { slot.member.header() }.is_grouped()) {
        // SAFETY: by the caller's word.
        return unsafe { take_groups(slots) };
    }
    // SAFETY: by the caller's word.
    if !unsafe { claim::take_all(slots.iter()) } {
        return false;
    }
    for slot in slots.iter().filter(|slot| slot.member.is_read()) {
        // SAFETY: taken, and read from here on.
        unsafe { claim::become_reader(slot) };
    }
    true
}

/// The same where some of the cowns are members of groups, each of which is taken once.
///
/// # Safety
/// As [`take_all`].
#[cold]
unsafe fn take_groups(slots: &[Slot]) -> bool {
    // SAFETY: alive, by the caller's word.
    let is_grouped = |slot: &&Slot| unsafe { slot.member.header() }.is_grouped();
    let mut grouped = Grouped::default();
    slots.iter().filter(is_grouped).for_each(|slot| grouped.push(NonNull::from(slot)));
    // SAFETY: not queued yet, and alive.
    if unsafe { grouped.join(&mut |_, _| ()) }.overlaps {
        return false;
    }
    // SAFETY: by the caller's word; one request of each group is left.
    if !unsafe { claim::take_all(slots.iter().filter(|slot| !slot.is_joined())) } {
        return false;
    }
    for slot in slots.iter().filter(|slot| slot.member.is_read() && !is_grouped(slot)) {
        // SAFETY: taken, and read from here on.
        unsafe { claim::become_reader(slot) };
    }
    true
}

fn cursor_over(slots: &[Slot]) -> Cursor<'_> {
    let first = slots.as_ptr().wrapping_byte_add(offset_of!(Slot, member)).cast();
    // SAFETY: the members lie in the slots, one slot's size apart.
    unsafe { Cursor::new(first, size_of::<Slot>(), slots.len()) }
}

#[cfg(all(test, loom))]
mod loom;
