//! Behaviours that run at once on the thread that asks for them, if their cowns are free.

use std::mem::{offset_of, size_of};
use std::ptr::NonNull;

use smallvec::SmallVec;

use super::body::{Body, Forget};
use super::release::release;
use super::slot::Slot;
use super::task::{Mode, RunContext};
use super::{claim, spawn};
use crate::cown::access::Cursor;
use crate::cown::header::Member;
use crate::cown::set::{CownSet, sealed::Visitor};
use crate::group::join::Grouped;
use crate::runtime::RuntimeId;
use crate::sched::{context, guest, schedule, shared};
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
    match try_here(set, closure) {
        None => true,
        Some((set, closure)) => {
            crate::when(set, closure);
            false
        }
    }
}

#[inline]
fn try_here<S, F>(set: S, closure: F) -> Option<(S, F)>
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
        return claim_and_run(set, home, closure);
    }
    sim::point();
    guest::visit(home, || claim_and_run(set, home, closure))
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
fn claim_and_run<S, F>(set: S, home: RuntimeId, closure: F) -> Option<(S, F)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send,
{
    let mut slots = SmallVec::<[Slot; 8]>::new();
    set.visit(&mut Visitor(&mut |member: Member| slots.push(Slot::new(member))));
    // A foreign handle may name another cown than before.
    if spawn::place_among(slots.iter().map(|slot| slot.member)) != Ok(home) {
        return Some((set, closure));
    }
    // From here on the slots do not move: they stand in queues.
    // SAFETY: the set's handles keep the cowns alive, and the slots stay until they are released
    // below. (A cown that is named twice is not free the second time.)
    if !unsafe { take_all(&slots) } {
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
        unsafe { release(NonNull::from(slot), &mut schedule) };
    }
    ended.deliver();
    None
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
