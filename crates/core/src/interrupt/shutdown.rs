//! Ends the interruptible cowns of a runtime with it.
//!
//! A runtime that is shut down first completes its work. Then its live cowns are told to end, and
//! may still work towards that. Those that have not ended at the deadline are *cut off*: they are
//! interrupted while the runtime drops what is queued, and so are
//! [cancelled](super::Interruptible::cancel).

use crate::sched::ending::Ending;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use coact_sync::shim::atomic::{Ordering, fence};

use super::registry::{self, ListedCown};
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::runtime_shared;

/// Waits until the runtimes have no work left, or the time has passed; returns whether they have
/// none.
type WaitFn<'a> = dyn FnMut(Duration) -> bool + 'a;

/// Tells the live cowns of the runtimes to end, and waits until they have ended and no work is
/// left, or the time has passed. Returns whether they have.
pub(crate) fn end_in_order(
    homes: &[RuntimeHandle],
    timeout: Duration,
    clock: &dyn Fn() -> Duration,
    wait: &mut WaitFn<'_>,
) -> bool {
    for home in homes {
        // ORDERING: Relaxed. A state that ends because its runtime does was told so after this,
        // through some chain of calls.
        runtime_shared::get(home.0).ending.store(true, Ordering::Relaxed);
    }
    let until = clock().saturating_add(timeout);
    let left = || until.saturating_sub(clock());
    let mut ending = Ending { homes: homes.into(), forced: false };
    let mut told = HashMap::new();
    loop {
        let living = youngest_first(homes);
        if living.is_empty() {
            return wait(left());
        }
        if left().is_zero() {
            return false;
        }
        if !tell(living, &ending, &mut told) {
            if ending.forced {
                return false;
            }
            // The remaining ones wait for a cown that does not end.
            ending.forced = true;
            continue;
        }
        wait(left());
    }
}

/// Returns the live cowns of the runtimes. Their handles are given up in this order as well: other
/// threads can observe that, so in a simulation it must not depend on their places in the table.
fn youngest_first(homes: &[RuntimeHandle]) -> Vec<ListedCown> {
    let mut living = registry::find(homes);
    living.sort_by_cached_key(|living| Reverse(living.number()));
    living
}

/// Tells those that do not know yet, in this order; returns whether there are any.
fn tell(
    mut living: Vec<ListedCown>,
    ending: &Ending,
    told: &mut HashMap<(u64, usize), bool>,
) -> bool {
    living.retain(|living| told.insert(living.number(), ending.forced) != Some(ending.forced));
    let any = !living.is_empty();
    living.into_iter().for_each(|living| living.end(ending));
    any
}

/// Interrupts all live cowns of a runtime, which from now on cancels them.
pub(crate) fn cut_off(home: RuntimeHandle) {
    // ORDERING: SeqCst pairs with the fence in `moved`: either this thread finds what was moved
    // here before (the record of the move, and the cown's new home), or the mover sees that the
    // runtime drops what is queued.
    fence(Ordering::SeqCst);
    youngest_first(&[home]).into_iter().for_each(|living| living.interrupt());
}

/// Something was moved to a runtime. If the runtime has ended meanwhile, it has not seen that.
pub(crate) fn moved(home: RuntimeHandle) {
    // ORDERING: SeqCst, see `cut_off`.
    fence(Ordering::SeqCst);
    // Most models have no runtimes.
    if (!cfg!(loom) || runtime_shared::is_registered(home.0)) && home.is_cancelled() {
        cut_off(home);
    }
}

#[cfg(all(test, loom))]
mod loom;
