//! Turnstiles: where threads wait in front of a queue that more of them append to than there are
//! processors.
//!
//! Appenders wait for each other in the order of their arrival (README.md, "Append"), which takes
//! nanoseconds while each has a processor. If there are more of them than processors, the one whose
//! turn it is has often lost its own, and all others wait until the system lets it run again. A
//! thread that has waited for long marks the cown as *crowded*. From then on appenders enter its
//! queue one by one, through a lock that any running thread may take, in any order. They hold it
//! until they are placed, and no longer. A thread that finds it taken lets others run, and goes
//! past it if that was in vain for a tenth of a second.
//!
//! A turnstile only delays, so it has no part in the order of the queue: some appenders may pass it
//! and others not. It adds no circle either. A thread takes its turnstiles before its first
//! exchange, in the order of their numbers. Then no thread waits for one that waits at a turnstile,
//! except others at turnstiles of lower numbers; and the threads that it waits for inside the
//! queues have theirs already.

use std::thread;
use std::time::{Duration, Instant};

use coact_sync::CachePadded;
use coact_sync::shim::process::{Mutex, MutexGuard};
use smallvec::SmallVec;

use super::header::{CownHeader, Flags};
use crate::path_coverage::FastPath;
use crate::simulated;

/// How often in a row a turnstile must be found free before a cown behind it is no longer crowded.
const CALM: u32 = 1_000;

/// How long a thread waits in front of a turnstile before it goes past. The lock is not fair: two
/// threads that spawn all the time could keep out the very worker that their behaviours wait for.
/// But it is long beside the time that those inside take to get through if none follows them: those
/// who wait inside hold a turnstile, and if all others went past it meanwhile, the crowd would stay
/// inside for ever.
const PATIENCE: Duration = Duration::from_millis(100);

/// The number of turnstiles. Cowns may share one, which only delays.
const COUNT: usize = 64;

static TURNSTILES: [CachePadded<Turnstile>; COUNT] =
    [const { CachePadded::new(Turnstile(Mutex::new(0))) }; COUNT];

/// A lock over how often it was found free in a row.
struct Turnstile(Mutex<u32>);

/// The turnstiles that a thread has passed. It holds them until this is dropped: no longer than its
/// requests take to be placed, and not while it grants, which may run code of an executor.
pub(super) struct TurnstilePassage {
    _held: SmallVec<[MutexGuard<'static, u32>; 2]>,
}

/// Passes the turnstiles of those of these cowns that are crowded.
#[cold]
#[inline(never)]
pub(super) fn pass<'h>(cowns: impl Iterator<Item = &'h CownHeader> + Clone) -> TurnstilePassage {
    FastPath::Turnstile.take();
    let crowded = cowns.filter(|cown| cown.has(Flags::CROWDED));
    let numbers = crowded.clone().fold(0_u64, |numbers, cown| numbers | 1 << number(cown));
    // With all the room that it takes: from the first lock on, nothing is allocated.
    let mut held = SmallVec::with_capacity(numbers.count_ones() as usize);
    let mut calm = 0_u64;
    for number in (0..COUNT).filter(|number| numbers >> number & 1 == 1) {
        let (turnstile, is_calm) = TURNSTILES[number].pass();
        calm |= u64::from(is_calm) << number;
        held.extend(turnstile);
    }
    let passage = TurnstilePassage { _held: held };
    for cown in crowded.filter(|cown| calm >> number(cown) & 1 == 1) {
        cown.set(Flags::CROWDED, false);
    }
    passage
}

/// Marks a cown as crowded. For a thread that waits for its place in the queue, and has for long.
#[cold]
pub(crate) fn note_crowd(cown: &CownHeader) {
    // What only delays is left out of models.
    if !cfg!(loom) && !cown.has(Flags::CROWDED) {
        cown.set(Flags::CROWDED, true);
    }
}

/// The number of a cown's turnstile: a hash of its address.
fn number(cown: &CownHeader) -> usize {
    let address = std::ptr::from_ref(cown).addr() as u64;
    (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize
}

impl Turnstile {
    /// Takes the lock, unless others hold it all the time; also returns whether it has been found
    /// free often enough.
    fn pass(&self) -> (Option<MutexGuard<'_, u32>>, bool) {
        if let Some(mut free) = self.0.try_lock() {
            *free += 1;
            let is_calm = *free >= CALM;
            if is_calm {
                *free = 0;
            }
            return (Some(free), is_calm);
        }
        // In a simulation the holder is on this very thread, which must not wait.
        if simulated::is_active() {
            return (None, false);
        }
        let taken = self.wait().map(|mut free| {
            *free = 0;
            free
        });
        (taken, false)
    }

    /// Waits for the lock, but no longer than [`PATIENCE`].
    fn wait(&self) -> Option<MutexGuard<'_, u32>> {
        let until = Instant::now() + PATIENCE;
        // Several tries in a row would keep the lock's line from those who get on: two to three
        // times the time of a few threads.
        while Instant::now() < until {
            thread::yield_now();
            let taken = self.0.try_lock();
            if taken.is_some() {
                return taken;
            }
        }
        None
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::iter::once;

    use super::*;
    use crate::runtime_ids::RuntimeId;

    #[test]
    fn a_cown_is_crowded_until_its_turnstile_was_free_for_long() {
        let cown = CownHeader::new(RuntimeId::NONE);
        for _ in 0..2 {
            note_crowd(&cown);
            // Other tests may use the same turnstile, and then it takes longer.
            let passed = (1..).find(|_| {
                drop(pass(once(&cown)));
                !cown.has(Flags::CROWDED)
            });
            assert!(passed.is_some_and(|passed| passed >= CALM / 2), "{passed:?}");
        }
    }

    #[test]
    fn only_turnstiles_of_crowded_cowns_are_passed_and_each_once() {
        let cowns: [_; 200] = std::array::from_fn(|_| CownHeader::new(RuntimeId::NONE));
        assert_eq!(pass(cowns.iter())._held.len(), 0);
        cowns.iter().step_by(2).for_each(note_crowd);
        let numbers: std::collections::BTreeSet<_> = cowns.iter().step_by(2).map(number).collect();
        assert_eq!(pass(cowns.iter())._held.len(), numbers.len());
        assert!(numbers.len() > COUNT / 2, "addresses spread: {numbers:?}");
    }
}
