//! The end of a runtime, and the report on it.
//!
//! A deadline is a deadline: once it has passed, a shutdown waits only for what ends by itself
//! within moments. Bodies that have begun get [`STANDSTILL`] to end; what is queued is dropped, and
//! the shutdown waits for that as long as it makes progress, up to [`CANCEL_GRACE`]. A thread that
//! is still in a body then is left alone and named in the report; it drops what it has and ends
//! when the body does, and the last thread of a runtime to end drops what is left behind
//! (`RuntimeShared::count_out`).
//!
//! Destructors and wakers are user code as well, and may not return. So dropping and waking are
//! done on a separate thread (`run_on_end_thread`), and threads are joined after the destructors of
//! their thread-locals have run (`TrackedThread`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::blocking::BlockingPool;
use super::future::FutureWakers;
use super::runtime::{Runtime, assert_may_wait_for};
use super::shutdown_report::ShutdownReport;
use crate::behaviour::detain::DetentionTable;
use crate::current::{self, CancelMark, EnteredRuntime};
use crate::interrupt;
use crate::sched::context;
use crate::sched::phase::RuntimePhase;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::runtime_shared::RuntimeShared;
use crate::sched::services::SharedService;
use crate::sched::stuck_thread::Stuck;
use crate::sched::tracked_thread::TrackedThread;
use crate::simulated;
use crate::time::TimerService;

/// If nothing at all has happened for this long after the deadline, busy threads are stuck.
pub(super) const STANDSTILL: Duration = Duration::from_millis(100);

/// How long it may take to drop the bodies that are queued at the deadline.
const CANCEL_GRACE: Duration = Duration::from_secs(1);

/// How often a thread that waits for an end checks for it.
const LOOK: Duration = Duration::from_millis(1);

impl Runtime {
    /// Stops the runtime: waits up to `deadline` for its work to end, and then for the end of its
    /// actors, which are told to stop when there is no work, or after half of the deadline. Then it
    /// drops what is still queued without running it, cuts off the actors that have not ended, and
    /// ends the workers.
    ///
    /// Later behaviours on cowns of this runtime are dropped; [`try_when`](crate::try_when) reports
    /// this.
    ///
    /// After the deadline, running behaviours and blocking jobs have about 100 ms to end; dropping
    /// what is queued may take up to a second. Those still running are left alone: the
    /// [report](ShutdownReport) names them, and their threads end after them.
    ///
    /// A behaviour that waits for a cown which a behaviour of *another* runtime holds, or is to
    /// have first, is not waited for, however far the deadline is: if its turn comes after the end,
    /// it is dropped then ([`Cancelled`](crate::Broken::Cancelled)), and not counted. To have it
    /// run, wait for both runtimes first, with [`wait_idle_all`](Self::wait_idle_all).
    ///
    /// A guard of [`enter`](Self::enter) borrows the runtime: drop it first.
    ///
    /// # Panics
    /// Panics where it would wait for itself; see [`run`](Self::run).
    #[track_caller]
    pub fn shutdown(self, deadline: Duration) -> ShutdownReport {
        context::prepare_to_block(
            "`Runtime::shutdown`",
            "shut it down from the thread that created it",
        );
        assert_may_wait_for(&[self.shared]);
        self.stop(deadline)
    }

    /// Cancels the runtime's work: what is queued is dropped from now on and not run, as after the
    /// deadline of a [shutdown](Self::shutdown). To stop several runtimes that wait for each other,
    /// cancel all, then shut down each.
    ///
    /// A behaviour that another thread runs inline at that moment ([`when_here`](crate::when_here))
    /// may still run, on a cown behind whose queue it would have waited, had that not just been
    /// dropped.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Broken, Cown, Runtime, call};
    ///
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// let cown = runtime.run(|| Cown::new(0));
    /// runtime.cancel();
    /// assert_eq!(call(&cown, |n| *n).wait(), Err(Broken::Cancelled));
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    pub fn cancel(&self) {
        if self.shared.phase() == RuntimePhase::Running {
            self.shared.set_phase(RuntimePhase::Cancelling);
            cancel_hidden(self.shared);
        }
    }

    /// Waits for the work up to a deadline, drops what is left, and ends the threads.
    pub(super) fn stop(&self, deadline: Duration) -> ShutdownReport {
        let shared = self.shared;
        let (mut stuck, mut external_threads) = (Vec::new(), 0);
        if shared.phase() == RuntimePhase::Stopped {
            // It was shut down before, and is dropped now: threads left alone then are not waited
            // for.
            return report(shared, external_threads);
        }
        let in_order = self.end_in_order(deadline);
        if !in_order {
            shared.set_phase(RuntimePhase::Cancelling);
            cancel_hidden(shared);
            (stuck, external_threads) = cancel(shared);
        }
        shared.close();
        if in_order && !has_hidden(shared) {
            drop_hidden_and_cut_off(shared);
        } else {
            cancel_hidden(shared);
        }
        if let Some(watchdog) = shared.watchdog() {
            watchdog.stop();
        }
        end_blocking(shared);
        if shared.config.simulated {
            return report_of_simulated(shared);
        }
        self.join(&stuck);
        let cancel_queues = |shared: &'static RuntimeShared| {
            shared.cancel_queues();
            if shared.find_service::<BlockingPool>().is_some() {
                BlockingPool::cancel_tasks(shared);
            }
        };
        if in_order {
            cancel_queues(shared)
        } else {
            run_on_end_thread(shared, cancel_queues)
        }
        report(shared, external_threads)
    }

    /// Stops without waiting: for one of the runtime's own threads, or inside a behaviour. The
    /// threads end by themselves.
    pub(super) fn abandon(&self) {
        let shared = self.shared;
        if shared.phase() != RuntimePhase::Stopped {
            shared.set_phase(RuntimePhase::Cancelling);
            cancel_hidden(shared);
            shared.close();
        }
        if let Some(watchdog) = shared.watchdog() {
            watchdog.stop();
        }
        end_blocking(shared);
        shared.threads.lock().clear();
        if let Some(watchdog) = shared.watchdog() {
            watchdog.detach();
        }
        if let Some(hosted) = shared.hosted() {
            hosted.detach();
        }
        detach_helpers(shared);
    }

    /// Waits for the ends of all threads that are not stuck.
    fn join(&self, stuck: &[usize]) {
        let shared = self.shared;
        let until = Instant::now() + CANCEL_GRACE;
        while !shared.workers_have_ended_but(stuck) && Instant::now() < until {
            shared.wait_for_change(LOOK);
        }
        let soon = Instant::now() + STANDSTILL;
        while !shared.others_have_ended() && Instant::now() < soon {
            shared.wait_for_change(LOOK);
        }
        // Threads that have counted themselves out are about to end, unless the destructor of a
        // user's thread-local delays them.
        let all_ended = !shared.is_alive();
        let soon = if all_ended { Instant::now() + STANDSTILL } else { Instant::now() };
        let threads = std::mem::take(&mut *shared.threads.lock());
        threads.into_iter().for_each(|thread| thread.join_until(soon));
        if let Some(watchdog) = shared.watchdog().filter(|_| all_ended) {
            watchdog.join_until(soon);
        }
        if let Some(hosted) = shared.hosted() {
            hosted.join_until(soon);
        }
        join_helpers(shared);
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // A behaviour or a job may own the last handle, but must not wait for itself.
        if current::may_wait_for(self.id()) {
            self.stop(Duration::ZERO);
        } else {
            self.abandon();
        }
    }
}

/// Waits for the ends of the threads that serve timers and blocking jobs, except stuck ones.
pub(super) fn join_helpers(shared: &RuntimeShared) {
    let until = Instant::now() + STANDSTILL;
    let (timers, blocking) =
        (shared.find_service::<TimerService>(), shared.find_service::<BlockingPool>());
    let have_ended = || {
        timers.is_none_or(TimerService::has_ended)
            && blocking.is_none_or(BlockingPool::has_ended_but_stuck)
    };
    while !have_ended() && Instant::now() < until {
        shared.wait_for_change(LOOK);
    }
    detach_helpers(shared);
}

/// Stops waiting for the threads that serve timers and blocking jobs.
fn detach_helpers(shared: &RuntimeShared) {
    shared.find_service().into_iter().for_each(TimerService::detach);
    shared.find_service().into_iter().for_each(BlockingPool::detach);
}

/// Ends the threads for blocking jobs, if there are any.
pub(super) fn end_blocking(shared: &RuntimeShared) {
    if let Some(blocking) = shared.find_service::<BlockingPool>() {
        blocking.end_if_deserted(shared);
    }
}

/// Returns whether there is something to drop or wake once no work is left.
fn has_hidden(shared: &RuntimeShared) -> bool {
    shared.find_service().is_some_and(|timers: &TimerService| !timers.is_empty())
        || !has_no_jobs(shared)
        || shared.find_service().is_some_and(|futures: &FutureWakers| !futures.is_empty())
        || shared.find_service().is_some_and(|detained: &DetentionTable| !detained.is_empty())
}

fn has_no_jobs(shared: &RuntimeShared) -> bool {
    shared.find_service().is_none_or(BlockingPool::is_at_rest)
}

/// Figures that change with everything that a thread of the runtime does, and not while all are in
/// a body.
fn figures(shared: &RuntimeShared) -> impl PartialEq + use<> {
    (shared.progress(), shared.find_service().map(BlockingPool::turns))
}

/// Drops the work that is in no queue: timers, blocking jobs that have not started, and futures.
/// Any thread may do it.
fn drop_hidden(shared: &RuntimeShared) {
    let _cancelling = CancelMark::enter();
    let _entered = EnteredRuntime::new(shared.id);
    shared.find_service().into_iter().for_each(|timers: &TimerService| timers.stop(shared));
    shared.find_service().into_iter().for_each(|blocking: &BlockingPool| blocking.stop(shared));
    shared.find_service().into_iter().for_each(|futures: &FutureWakers| futures.stop(shared));
    shared.find_service().into_iter().for_each(|detained: &DetentionTable| detained.stop(shared));
}

/// Ends the interruptible cowns. For a pump, only its own thread can, which owns the states.
fn cut_off(shared: &RuntimeShared) {
    let _cancelling = CancelMark::enter();
    let _entered = EnteredRuntime::new(shared.id);
    interrupt::cut_off(RuntimeHandle(shared.id));
}

fn drop_hidden_and_cut_off(shared: &'static RuntimeShared) {
    drop_hidden(shared);
    cut_off(shared);
}

/// Waits until what is queued has been dropped, as long as that makes progress. Returns the stuck
/// workers, and the number of other stuck threads.
fn cancel(shared: &'static RuntimeShared) -> (Vec<usize>, usize) {
    if shared.config.simulated {
        // The clock stands still while anything makes progress.
        shared.wait_idle_for(STANDSTILL);
        return (Vec::new(), 0);
    }
    if wait_while_it_goes_on(shared, || shared.is_at_rest() && has_no_jobs(shared)) {
        (Vec::new(), 0)
    } else {
        (shared.awake(), shared.external_threads())
    }
}

/// Waits until something is done, as long as anything happens; returns whether it was.
fn wait_while_it_goes_on(shared: &RuntimeShared, is_done: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    let (mut progress, mut since) = (figures(shared), start);
    while !is_done() {
        let (now, seen) = (Instant::now(), figures(shared));
        if seen != progress {
            (progress, since) = (seen, now);
        }
        if now - since >= STANDSTILL || now - start >= CANCEL_GRACE {
            return false;
        }
        shared.wait_for_change(LOOK);
    }
    true
}

/// Drops the work that is in no queue.
pub(super) fn cancel_hidden(shared: &'static RuntimeShared) {
    run_on_end_thread(shared, drop_hidden_and_cut_off);
}

/// The same for a pump, on its thread.
pub(super) fn cancel_hidden_of_pump(shared: &'static RuntimeShared) {
    run_on_end_thread(shared, drop_hidden);
    cut_off(shared);
}

/// Runs work that drops and wakes user code, which may not return. So a separate thread does it,
/// and the caller waits as long as it makes progress.
fn run_on_end_thread(shared: &'static RuntimeShared, work: fn(&'static RuntimeShared)) {
    if shared.config.simulated {
        return work(shared);
    }
    let settings = thread::Builder::new().name(format!("{}-end", shared.config.name));
    let is_done = Arc::new(AtomicBool::new(false));
    let done = Arc::clone(&is_done);
    let started = TrackedThread::start(settings, move || {
        work(shared);
        // ORDERING: Release pairs with the Acquire below: a thread that sees it sees what was
        // dropped.
        done.store(true, Ordering::Release);
        shared.tell();
    });
    match started {
        Ok(thread) => {
            // ORDERING: Acquire, see above.
            if wait_while_it_goes_on(shared, || is_done.load(Ordering::Acquire)) {
                thread.join_until(Instant::now() + STANDSTILL);
            }
        }
        Err(error) => {
            tracing::error!("could not start a thread for the end of a runtime: {error}");
            work(shared);
        }
    }
}

/// `external_threads` is the number of other threads that were stuck at the deadline.
fn report(shared: &RuntimeShared, external_threads: usize) -> ShutdownReport {
    let mut stuck = shared.stuck_workers();
    if let Some(watchdog) = shared.watchdog() {
        watchdog.detach();
    }
    let (tasks, jobs) = stuck_blocking(shared);
    let external_threads =
        external_threads.min(if external_threads > 0 { shared.external_threads() } else { 0 });
    let external_threads = (0..external_threads)
        .map(|_| Stuck { thread: "a thread of another".to_owned(), work: None });
    stuck.extend(tasks.into_iter().chain(external_threads));
    let (stuck_workers, stuck_jobs) = (stuck.len(), jobs.len());
    stuck.extend(jobs);
    let held_open = held_open(shared, stuck_workers + stuck_jobs);
    ShutdownReport { abandoned: abandoned(shared), stuck_workers, stuck_jobs, held_open, stuck }
}

/// The same for a pump, which is not stuck: it is the caller.
pub(super) fn report_of_pump(shared: &RuntimeShared) -> ShutdownReport {
    let (_, stuck) = stuck_blocking(shared);
    let (stuck_jobs, held_open) = (stuck.len(), held_open(shared, stuck.len()));
    ShutdownReport { abandoned: abandoned(shared), stuck_workers: 0, stuck_jobs, held_open, stuck }
}

fn report_of_simulated(shared: &RuntimeShared) -> ShutdownReport {
    let stuck_workers = simulated::bodies_of(shared.id);
    ShutdownReport {
        abandoned: abandoned(shared),
        stuck_workers,
        stuck_jobs: 0,
        held_open: held_open(shared, stuck_workers),
        stuck: Vec::new(),
    }
}

fn stuck_blocking(shared: &RuntimeShared) -> (Vec<Stuck>, Vec<Stuck>) {
    let blocking = shared.find_service::<BlockingPool>();
    blocking.map(|blocking| blocking.stuck(&shared.config.name)).unwrap_or_default()
}

fn abandoned(shared: &RuntimeShared) -> usize {
    // ORDERING: Relaxed. The threads that count have ended, or are stuck.
    shared.abandoned.load(Ordering::Relaxed)
}

/// The outstanding work of a runtime that has ended, except that of stuck threads.
fn held_open(shared: &RuntimeShared, stuck: usize) -> usize {
    (shared.outstanding() as usize).saturating_sub(stuck)
}
