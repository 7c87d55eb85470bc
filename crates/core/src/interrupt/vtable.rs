//! What the core knows of an interruptible cown's type, and the cown's creation with it.

use std::any::type_name;
use std::mem::ManuallyDrop;

use super::interrupt_task::run;
use super::interruptible::Interruptible;
use super::last_handle::temporary_handle::give_back;
use super::layout::{self, InterruptibleBlock};
use super::send_interrupt::interrupt;
use super::state_callbacks::{on_interrupt, take_turn};
use crate::cown::handle::{Cown, WeakCown};
use crate::cown::layout::CownBox;
use crate::fault::Broken;
use crate::panic::{catch, drop_quietly};
use crate::queue::header::Flags;
use crate::queue::interrupt_header::{GuardVTable, link};
use crate::queue::live_cown::LiveCown;
use crate::queue::member_interrupt::interrupt_last;
use crate::runtime_ids::RuntimeId;
use crate::sched::ending::Ending;
use crate::task::{TaskKind, TaskVTable};

/// The functions for a `T`.
struct StateFunctions<T>(std::marker::PhantomData<T>);

impl<T: Interruptible> StateFunctions<T> {
    const VTABLE: TaskVTable =
        TaskVTable::new(run::<T>, link, type_name::<T>).of_kind(TaskKind::new(&Self::GUARD_VTABLE));
    const GUARD_VTABLE: GuardVTable = GuardVTable {
        failed: fail::<T>,
        on_interrupt: on_interrupt::<T>,
        take_turn: take_turn::<T>,
        end: end::<T>,
        number: number::<T>,
        release: release::<T>,
        unlist: layout::unlist,
        free: InterruptibleBlock::<T>::free,
    };
}

/// Allocates a cown with one handle, a shared state and a guard; as a member of the leader's group
/// if one is given (with a count for it). `complete` receives it before there is a handle.
pub(super) fn allocate<T: Interruptible>(
    runtime: RuntimeId,
    leader: Option<LiveCown>,
    shared: T::SharedState,
    make_state: impl FnOnce(WeakCown<T>) -> T,
    complete: impl FnOnce(LiveCown),
) -> LiveCown {
    InterruptibleBlock::<T>::allocate(
        &StateFunctions::<T>::VTABLE,
        runtime,
        leader,
        shared,
        make_state,
        complete,
    )
}

/// The `failed` of a guard's functions.
///
/// # Safety
/// The caller holds the cown exclusively; it is an interruptible `T`.
unsafe fn fail<T: Interruptible>(cown: LiveCown, why: &Broken) {
    if cown.header().has(Flags::CLOSED) {
        // The state has ended, and need not be told.
        return;
    }
    // SAFETY: the caller has exclusive access to the state, a `T`. The cown is alive, so a weak
    // handle of it can be created, and forgotten.
    unsafe {
        let state = &mut *CownBox::<T>::state(cown);
        let shared = layout::shared_state::<T>(cown).as_ref();
        drop_quietly(|| state.failed(shared, why));
        match ManuallyDrop::new(WeakCown::<T>::from_header(cown)).upgrade() {
            Some(handle) => {
                interrupt(cown);
                give_back(handle);
            }
            // No handle is left, so the request that ends the cown is in the queue or on its way
            // there: an empty one behind it would be for a cown that is gone by then.
            None => interrupt_last(cown),
        }
    }
}

/// Returns the caller's handle.
///
/// # Safety
/// The cown is of type `T`, and the caller has a handle of it.
unsafe fn handle<T: Interruptible>(cown: LiveCown) -> ManuallyDrop<Cown<T>> {
    // SAFETY: the caller has a handle, which is not given up here.
    ManuallyDrop::new(unsafe { Cown::from_header(cown) })
}

/// # Safety
/// See [`handle`].
unsafe fn end<T: Interruptible>(cown: LiveCown, ending: &Ending) {
    // SAFETY: the conditions are those of `handle`.
    let handle = unsafe { handle::<T>(cown) };
    drop_quietly(|| T::end(handle.shared_state(), ending));
    handle.interrupt();
}

/// # Safety
/// See [`handle`].
unsafe fn number<T: Interruptible>(cown: LiveCown) -> u64 {
    // SAFETY: the conditions are those of `handle`.
    let handle = unsafe { handle::<T>(cown) };
    // A panic here must not stop a runtime that is ending: the order is only a preference.
    catch(|| T::number(handle.shared_state())).unwrap_or(0)
}

/// # Safety
/// See [`handle`]; the handle is given up.
unsafe fn release<T: Interruptible>(cown: LiveCown) {
    // SAFETY: the caller has a handle, and gives it up.
    give_back(ManuallyDrop::into_inner(unsafe { handle::<T>(cown) }));
}
