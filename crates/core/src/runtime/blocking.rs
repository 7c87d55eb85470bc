//! Jobs that block: an elastic pool of threads beside the workers.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use coact_sync::shim::sync::{Condvar, Mutex};

use super::{Config, current_id};
use crate::panic::{self, Broken, drop_quietly};
use crate::promise::Promise;
use crate::sched::shared::{self, Shared};
use crate::sim;

/// Runs a job that may block, on a thread that is kept for such jobs, and returns a promise of its
/// result. Threads are started as they are needed, up to
/// [`max_blocking`](crate::Builder::max_blocking), and end when they have had nothing to do for ten
/// seconds. The job belongs to the current runtime, which is not idle before it has ended.
///
/// ```
/// use coact_core::{Cown, blocking};
///
/// let text = Cown::new(String::new());
/// let read = blocking(|| std::fs::read_to_string("Cargo.toml").unwrap_or_default());
/// let length = read.then(&text, |text, read| {
///     *text = read.unwrap();
///     text.len()
/// });
/// assert!(length.wait().unwrap() > 0);
/// ```
///
/// A panic of the job is caught and reported, and breaks the promise.
pub fn blocking<R: Send + 'static>(job: impl FnOnce() -> R + Send + 'static) -> Promise<R> {
    let (resolver, promise) = Promise::channel();
    let home = current_id();
    let run = move |run: bool| {
        if !run {
            drop_quietly(move || drop(job));
            return drop_quietly(move || resolver.fail(Broken::Cancelled));
        }
        let result = catch_unwind(AssertUnwindSafe(job));
        drop_quietly(move || match result {
            Ok(value) => resolver.resolve(value),
            Err(payload) => resolver.fail(panic::caught(payload, home)),
        });
    };
    BlockingPool::submit(shared::get(home), Box::new(run));
    promise
}

/// How often a thread that is about to end is looked at.
const JOIN_INTERVAL: Duration = Duration::from_micros(100);

/// A job; it is called with whether it is to run, or only to be dropped.
type Job = Box<dyn FnOnce(bool) + Send>;

/// The threads for blocking jobs of one runtime.
pub(crate) struct BlockingPool {
    state: Mutex<State>,
    work: Condvar,
    max_threads: usize,
    keep_alive: Duration,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    waiting: usize,
    stopped: bool,
    /// Of the threads that run, and of some that have ended.
    handles: Vec<JoinHandle<()>>,
}

impl BlockingPool {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            state: Mutex::new(State::default()),
            work: Condvar::new(),
            max_threads: config.max_blocking,
            keep_alive: config.blocking_keep_alive,
        }
    }

    fn submit(shared: &'static Shared, job: Job) {
        let pool = &shared.blocking;
        shared.begin_outstanding();
        if shared.config.simulated {
            return sim::spawn_outside(Box::new(move || {
                job(true);
                shared.end_outstanding();
            }));
        }
        let mut state = pool.state.lock();
        if state.stopped {
            drop(state);
            return Self::abandon(shared, job);
        }
        state.jobs.push_back(job);
        if state.waiting >= state.jobs.len() {
            pool.work.notify_one();
        } else if state.threads < pool.max_threads {
            state.threads += 1;
            let number = state.threads;
            drop(state);
            pool.start_thread(shared, number);
        }
    }

    /// Starts one more thread. If the system refuses, the jobs wait for those that exist; if there
    /// are none, the jobs are abandoned.
    fn start_thread(&self, shared: &'static Shared, number: usize) {
        let thread =
            thread::Builder::new().name(format!("{}-blocking-{number}", shared.config.name));
        let error = match thread.spawn(move || shared.blocking.serve(shared)) {
            Ok(handle) => return self.keep(handle),
            Err(error) => error,
        };
        tracing::error!("could not start a thread for blocking jobs: {error}");
        let mut state = self.state.lock();
        state.threads -= 1;
        let stranded =
            if state.threads == 0 { std::mem::take(&mut state.jobs) } else { VecDeque::new() };
        drop(state);
        stranded.into_iter().for_each(|job| Self::abandon(shared, job));
    }

    fn keep(&self, handle: JoinHandle<()>) {
        let mut state = self.state.lock();
        state.handles.retain(|handle| !handle.is_finished());
        state.handles.push(handle);
    }

    /// Waits for the ends of the threads, up to a time; those in a long job are left alone.
    pub(crate) fn join(&self, until: Instant) {
        let handles = std::mem::take(&mut self.state.lock().handles);
        for handle in handles {
            while !handle.is_finished() && Instant::now() < until {
                thread::park_timeout(JOIN_INTERVAL);
            }
            if handle.is_finished() {
                // Jobs' panics are caught, so there is nothing to be told.
                let _ = handle.join();
            }
        }
    }

    fn serve(&self, shared: &'static Shared) {
        let _entered = Entered::new(shared.id);
        let mut state = self.state.lock();
        loop {
            while let Some(job) = state.jobs.pop_front() {
                drop(state);
                job(true);
                shared.end_outstanding();
                state = self.state.lock();
            }
            state.waiting += 1;
            let (woken, timeout) = self.work.wait_timeout(state, self.keep_alive);
            state = woken;
            state.waiting -= 1;
            if state.jobs.is_empty() && (timeout || state.stopped) {
                state.threads -= 1;
                return;
            }
        }
    }

    /// Drops the jobs that have not started, and takes no more.
    pub(crate) fn cancel_all(&self, shared: &Shared) {
        let jobs = {
            let mut state = self.state.lock();
            state.stopped = true;
            std::mem::take(&mut state.jobs)
        };
        self.work.notify_all();
        jobs.into_iter().for_each(|job| Self::abandon(shared, job));
    }

    fn abandon(shared: &Shared, job: Job) {
        job(false);
        shared.abandoned.fetch_add(1, Ordering::Relaxed);
        shared.end_outstanding();
    }
}

/// A thread that serves a runtime has entered it.
struct Entered(super::RuntimeId);

impl Entered {
    fn new(id: super::RuntimeId) -> Self {
        Self(crate::sched::context::enter(id))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        crate::sched::context::enter(self.0);
    }
}
