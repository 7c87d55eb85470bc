//! The end of what is interruptible, with its runtime.
//!
//! A runtime that is shut down has its work done first. What then lives in it is told to end, and may
//! work to that end. What has not ended when the deadline is over is *cut off*: it is interrupted once the
//! runtime drops what is queued, and so is [cancelled](super::Interruptible::cancel).

use crate::sched::ending::Ending;
use std::collections::HashMap;
use std::time::Duration;

use coact_sync::shim::atomic::{Ordering, fence};

use super::registry::{self, LiveCown};
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::shared;

/// Waits until the runtimes have no work left, for so long at the most; returns whether they have none.
type Wait<'a> = dyn FnMut(Duration) -> bool + 'a;

/// Tells what lives in the runtimes to end, and waits until that has happened and no work is left, for so
/// long at the most. Returns whether it has come to that.
pub(crate) fn end_in_order(
    homes: &[RuntimeHandle],
    timeout: Duration,
    clock: &dyn Fn() -> Duration,
    wait: &mut Wait<'_>,
) -> bool {
    for home in homes {
        // ORDERING: Relaxed. Whoever ends since the runtime does was told so after this, by whatever chain.
        shared::get(home.0).ending.store(true, Ordering::Relaxed);
    }
    let until = clock().saturating_add(timeout);
    let left = || until.saturating_sub(clock());
    let mut ending = Ending { homes: homes.into(), forced: false };
    let mut told = HashMap::new();
    loop {
        let living = registry::find(homes);
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
            // Who is left waits for one that does not come to its end.
            ending.forced = true;
            continue;
        }
        wait(left());
    }
}

/// Tells those that do not know, the youngest first; returns whether there are any.
fn tell(
    mut living: Vec<LiveCown>,
    ending: &Ending,
    told: &mut HashMap<(u64, usize), bool>,
) -> bool {
    living.retain(|living| told.insert(living.number(), ending.forced) != Some(ending.forced));
    living.sort_unstable_by_key(|living| std::cmp::Reverse(living.number()));
    let any = !living.is_empty();
    living.into_iter().for_each(|living| living.end(ending));
    any
}

/// Has everything that lives in a runtime interrupted, which from now on means that it is cancelled.
pub(crate) fn cut_off(home: RuntimeHandle) {
    // ORDERING: SeqCst pairs with the fence in `moved`: we find what was moved here before (the note of the
    // move, and the cown's new home), or the mover sees that the runtime drops what is queued.
    fence(Ordering::SeqCst);
    let mut living = registry::find(&[home]);
    living.sort_unstable_by_key(|living| std::cmp::Reverse(living.number()));
    living.into_iter().for_each(|living| living.interrupt());
}

/// Something was moved to a runtime. One that has ended meanwhile has not seen it.
pub(crate) fn moved(home: RuntimeHandle) {
    // ORDERING: SeqCst, see `cut_off`.
    fence(Ordering::SeqCst);
    // The runtimes of most models do not exist.
    if (!cfg!(loom) || shared::is_registered(home.0)) && home.is_cancelled() {
        cut_off(home);
    }
}

#[cfg(all(test, loom))]
mod loom;
