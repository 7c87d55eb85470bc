//! What the watchdog of a runtime shares with its spares.

use std::sync::Weak;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use coact_sync::shim::sync::{Condvar, Mutex};

use super::spare_state::SpareState;
use crate::config::WorkerConfig;
use crate::sched::stuck_thread::Stuck;
use crate::sched::tracked_thread::TrackedThread;

/// How often the marks are checked per limit.
const LOOKS: u32 = 4;
/// The shortest and the longest interval between two checks.
const INTERVALS: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(1);

/// What the watchdog of a runtime shares with its spares.
pub(crate) struct Watchdog {
    pub(super) limit: Duration,
    pub(super) max_spares: usize,
    /// The number of spares there should be: that of stalled threads.
    pub(super) wanted: AtomicUsize,
    /// The number of spares.
    pub(super) spares: AtomicUsize,
    stopped: Mutex<bool>,
    stop: Condvar,
    /// The handles of running spares, and of some that have ended.
    pub(super) handles: Mutex<Vec<(TrackedThread, Weak<SpareState>)>>,
}

impl Watchdog {
    /// Creates the watchdog of a runtime with workers, if it is configured.
    pub(crate) fn new(config: &WorkerConfig) -> Option<Self> {
        let limit = config.watchdog.filter(|_| config.has_workers())?;
        Some(Self {
            limit,
            max_spares: config.spare_workers.unwrap_or(config.workers),
            wanted: AtomicUsize::new(0),
            spares: AtomicUsize::new(0),
            stopped: Mutex::new(false),
            stop: Condvar::new(),
            handles: Mutex::new(Vec::new()),
        })
    }

    /// Ends [`run`](Self::run).
    pub(crate) fn stop(&self) {
        *self.stopped.lock() = true;
        self.stop.notify_all();
    }

    /// Waits for the ends of spares that have counted themselves out of the runtime.
    pub(crate) fn join_until(&self, until: Instant) {
        for (spare, _) in std::mem::take(&mut *self.handles.lock()) {
            spare.join_until(until);
        }
    }

    /// Stops waiting for spares.
    pub(crate) fn detach(&self) {
        let spares = std::mem::take(&mut *self.handles.lock());
        drop(spares);
    }

    /// Returns the spares that are still running something, and what. One that is not is about to
    /// end, as soon as it has a processor.
    pub(crate) fn stuck_spares(&self) -> Vec<Stuck> {
        let handles = self.handles.lock();
        let running = handles.iter().filter_map(|(handle, spare)| {
            let work = spare.upgrade()?.mark.look()?.name;
            Some(Stuck { thread: handle.name().to_owned(), work: Some(work()) })
        });
        running.collect()
    }

    /// Sleeps until the next check is due; returns `false` once the runtime stops.
    pub(super) fn rest(&self) -> bool {
        let interval = (self.limit / LOOKS).clamp(*INTERVALS.start(), *INTERVALS.end());
        let until = Instant::now() + interval;
        let mut stopped = self.stopped.lock();
        while !*stopped {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            stopped = self.stop.wait_timeout(stopped, left).0;
        }
        false
    }

    /// Returns whether there are more spares than stalled threads.
    pub(super) fn has_surplus(&self) -> bool {
        // ORDERING: Relaxed, both. Counts; `dismisses_spare` decides by one read-modify-write.
        self.spares.load(Ordering::Relaxed) > self.wanted.load(Ordering::Relaxed)
    }

    /// Returns whether the calling spare must end; if so, it is counted out.
    pub(super) fn dismisses_spare(&self) -> bool {
        // ORDERING: Relaxed, all. The count guards nothing.
        let wanted = self.wanted.load(Ordering::Relaxed);
        let one_less = |spares: usize| (spares > wanted).then(|| spares - 1);
        self.spares.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }
}
