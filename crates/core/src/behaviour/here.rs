//! Behaviours that run at once on the thread that asks for them, if their cowns are free.

use std::mem::size_of;
use std::ptr::{NonNull, null_mut};

use coact_sync::shim::atomic::Ordering;
use smallvec::SmallVec;

use super::body::{Body, Forget};
use super::grant::grant;
use super::release::{leave, release};
use super::slot::Slot;
use super::spawn;
use super::task::{Mode, RunContext};
use crate::cown::access::Cursor;
use crate::cown::header::{Member, ONE_READER};
use crate::cown::set::{CownSet, sealed::Visitor};
use crate::runtime::RuntimeId;
use crate::sched::{context, guest, schedule};

/// How many bodies may lie on top of each other on one stack.
pub const MAX_NESTED_HERE: u32 = 32;

/// Runs a behaviour at once, on the calling thread, if all its cowns are free and nothing stands in
/// their queues; otherwise spawns it as [`when`](crate::when) does. Returns whether it has run.
///
/// The order is that of `when`: a behaviour may run any time after it is spawned, so it may run
/// right away. What the caller gives for it is its own time.
///
/// **Cost.** With free cowns, two atomic operations a cown and no allocation: about what locking
/// and unlocking a mutex for each costs. With a busy cown, that attempt on top of `when`.
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
/// If the set names a cown twice. A panic of the closure is caught as in `when`.
#[inline]
#[track_caller]
pub fn when_here<S, F>(set: S, closure: F) -> bool
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    match try_here(&set, closure) {
        Ok(()) => true,
        Err(closure) => {
            crate::when(set, closure);
            false
        }
    }
}

#[inline]
fn try_here<S, F>(set: &S, closure: F) -> Result<(), F>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send,
{
    if context::nested_bodies() >= MAX_NESTED_HERE || spawn::is_closed(set) {
        return Err(closure);
    }
    let home = spawn::home_of(set);
    if context::worker().is_some() {
        return claim_and_run(set, home, closure);
    }
    guest::visit(home, || claim_and_run(set, home, closure))
}

fn claim_and_run<S, F>(set: &S, home: RuntimeId, closure: F) -> Result<(), F>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send,
{
    let mut slots = SmallVec::<[Slot; 8]>::new();
    set.visit(&mut Visitor(&mut |member: Member| slots.push(Slot::new(member))));
    // From here on the slots do not move: they stand in queues.
    let claim = Claim { slots: &slots };
    // SAFETY: the set's handles keep the cowns alive, and the slots outlive the claim.
    if !unsafe { claim.take() } {
        return Err(closure);
    }
    let body = Body::<S, F, Forget> { shape: set.shape(), closure, completion: Forget };
    let context = RunContext { home, mode: Mode::Run };
    let ended = {
        let _nested = context::Nested::enter();
        let before = context::enter(home);
        // SAFETY: all cowns of the set are held, in its order.
        let ended = unsafe { body.execute(claim.cursor(), &context) };
        context::enter(before);
        ended
    };
    for slot in &slots {
        // SAFETY: held until here.
        unsafe { release(NonNull::from(slot), &mut schedule) };
    }
    ended.deliver();
    Ok(())
}

/// Slots on the stack, by which free cowns are taken without a lock.
struct Claim<'a> {
    slots: &'a [Slot],
}

impl Claim<'_> {
    fn cursor(&self) -> Cursor<'_> {
        let first = self.slots.as_ptr().cast::<u8>().wrapping_add(std::mem::offset_of!(Slot, member));
        // SAFETY: the members lie in the slots, one slot's size apart.
        unsafe { Cursor::new(first.cast(), size_of::<Slot>(), self.slots.len()) }
    }

    /// Takes all cowns, or none. See README.md, "Claiming free cowns".
    ///
    /// # Safety
    /// The cowns are alive, and the slots stay where they are until they are released.
    #[inline]
    unsafe fn take(&self) -> bool {
        for (index, slot) in self.slots.iter().enumerate() {
            // SAFETY: alive, by the caller's word.
            if !unsafe { take_free(slot) } {
                // SAFETY: these were taken.
                unsafe { Self::undo(&self.slots[..index]) };
                return false;
            }
        }
        if !self.is_first_everywhere() {
            // SAFETY: all were taken.
            unsafe { Self::undo(self.slots) };
            return false;
        }
        for slot in self.slots.iter().filter(|slot| slot.member.is_read()) {
            // SAFETY: taken, and read from here on.
            unsafe { become_reader(slot) };
        }
        true
    }

    /// Whether, at the moment at which the last cown was taken, nobody had come behind us on any
    /// other. Somebody who had might have spawned on the last one since, and run there already:
    /// then we would come after him on one cown and before him on another.
    fn is_first_everywhere(&self) -> bool {
        let Some((_, earlier)) = self.slots.split_last() else { return true };
        earlier.iter().all(|slot| {
            // SAFETY: alive: our slot stands in its queue.
            let header = unsafe { slot.member.header() };
            // ORDERING: Relaxed. The exchange that took the last cown has acquired what those who
            // let go of it did before (release in `leave`), their coming behind us included, and
            // being an acquire it is not overtaken by this load.
            std::ptr::eq(header.tail.load(Ordering::Relaxed), slot)
        })
    }

    /// Gives cowns back that were taken, and not used.
    ///
    /// # Safety
    /// The slots hold their cowns exclusively.
    #[cold]
    unsafe fn undo(taken: &[Slot]) {
        for slot in taken {
            let cown = slot.member.header_ptr();
            // SAFETY: the slot is the head of the queue, and the token ours.
            unsafe {
                if let Some(next) = leave(cown.as_ref(), NonNull::from(slot)) {
                    grant(cown, next, &mut schedule);
                }
            }
        }
    }
}

/// Takes a cown, if its queue is empty and, unless it is to be read, nobody reads it.
///
/// # Safety
/// The cown is alive, and the slot is not queued.
#[inline]
unsafe fn take_free(slot: &Slot) -> bool {
    // SAFETY: alive, by the caller's word.
    let header = unsafe { slot.member.header() };
    if header.is_in_use(slot.member.is_read()) {
        return false;
    }
    let tail = std::ptr::from_ref(slot).cast_mut();
    // ORDERING: AcqRel, as the exchange in `append`, whose place this takes.
    let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
    if header.tail.compare_exchange(null_mut(), tail, ok, failed).is_err() {
        return false;
    }
    // The readers can be no more than before, now that we have the token; but those whose token
    // ended between the two looks are seen only here.
    // ORDERING: Acquire pairs with the release in `drop_reader`.
    if slot.member.is_read() || header.readers.load(Ordering::Acquire) == 0 {
        return true;
    }
    // SAFETY: taken, and given back at once.
    unsafe { Claim::undo(std::slice::from_ref(slot)) };
    false
}

/// Turns an exclusive hold into that of one reader among others.
///
/// # Safety
/// The slot holds its cown by the token.
#[cold]
unsafe fn become_reader(slot: &Slot) {
    let cown = slot.member.header_ptr();
    // SAFETY: held. The reader that is counted keeps the cown alive afterwards.
    unsafe {
        // ORDERING: Relaxed, as in `grant_readers`.
        cown.as_ref().readers.fetch_add(ONE_READER, Ordering::Relaxed);
        if let Some(next) = leave(cown.as_ref(), NonNull::from(slot)) {
            grant(cown, next, &mut schedule);
        }
    }
}

#[cfg(all(test, loom))]
mod loom;
