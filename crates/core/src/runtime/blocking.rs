//! What blocks: an elastic pool of threads, beside the workers or in their place.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use coact_sync::shim::sync::{Condvar, Mutex};

use super::handle::call_hook;
use super::host::Host;
use super::{Config, current_id};
use crate::behaviour::task::{TaskPtr, run_task};
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
    BlockingPool::submit(shared::get(home), Job::Call(Box::new(run)));
    promise
}

/// How often a thread that is about to end is looked at.
const JOIN_INTERVAL: Duration = Duration::from_micros(100);

/// What a thread of the pool does. Each counts as outstanding work until it is done.
enum Job {
    /// It is called with whether it is to run, or only to be dropped.
    Call(Box<dyn FnOnce(bool) + Send>),
    /// A ready task of a runtime on blocking threads.
    Task(TaskPtr),
}

// SAFETY: a ready task may run on any thread, and is run by whoever takes the job.
unsafe impl Send for Job {}

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
    /// How many threads are in a task.
    in_tasks: usize,
    /// No more calls are taken.
    stopped: bool,
    /// No thread runs tasks any more: whoever brings one cancels it.
    closed: bool,
    /// Somebody cancels jobs, and sees to those that come meanwhile.
    cancelling: bool,
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

    /// Takes a task that is ready.
    pub(crate) fn submit_task(shared: &'static Shared, task: TaskPtr) {
        Self::submit(shared, Job::Task(task));
    }

    fn submit(shared: &'static Shared, job: Job) {
        shared.begin_outstanding();
        match job {
            Job::Call(call) if shared.config.simulated => Self::simulate(shared, call),
            job => shared.blocking.take_in(shared, job),
        }
    }

    fn simulate(shared: &'static Shared, call: Box<dyn FnOnce(bool) + Send>) {
        let run = move || {
            call(true);
            shared.end_outstanding();
        };
        sim::spawn_outside(shared.id, Box::new(run));
    }

    fn take_in(&self, shared: &'static Shared, job: Job) {
        let mut state = self.state.lock();
        if state.stopped && matches!(job, Job::Call(_)) {
            drop(state);
            return Self::abandon(shared, job);
        }
        state.jobs.push_back(job);
        if state.closed {
            drop(state);
            return Self::cancel_tasks(shared);
        }
        if state.waiting >= state.jobs.len() {
            self.work.notify_one();
        } else if state.threads < self.max_threads {
            state.threads += 1;
            let number = state.threads;
            drop(state);
            self.start_thread(shared, number);
        }
    }

    /// Starts one more thread. If the system refuses, the jobs wait for those that exist; if there
    /// are none, the jobs are abandoned.
    fn start_thread(&self, shared: &'static Shared, number: usize) {
        let mut thread =
            thread::Builder::new().name(format!("{}-blocking-{number}", shared.config.name));
        if let (Host::Blocking, Some(bytes)) = (shared.config.host, shared.config.stack_size) {
            thread = thread.stack_size(bytes);
        }
        let error = match thread.spawn(move || shared.blocking.host(shared)) {
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

    /// Waits for the ends of the threads, up to a time; those in a long job are left alone. Returns how
    /// many are still in a task.
    pub(crate) fn join(&self, until: Instant) -> usize {
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
        self.state.lock().in_tasks
    }

    /// A thread's life: with the hooks, if it stands for a worker.
    fn host(&self, shared: &'static Shared) {
        let config = &shared.config;
        let has_hooks = config.host == Host::Blocking;
        if has_hooks {
            call_hook(config.on_start.as_deref());
        }
        self.serve(shared);
        if has_hooks {
            call_hook(config.on_stop.as_deref());
        }
    }

    fn serve(&self, shared: &'static Shared) {
        let _entered = Entered::new(shared.id);
        let mut state = self.state.lock();
        loop {
            while let Some(job) = state.jobs.pop_front() {
                state.in_tasks += usize::from(matches!(job, Job::Task(_)));
                drop(state);
                let rest = Self::run(shared, job);
                state = self.state.lock();
                state.in_tasks -= usize::from(rest.was_task);
                state.jobs.extend(rest.next.map(Job::Task));
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

    /// Runs a call; or a task, and those that follow it on the same cown, up to the throughput.
    fn run(shared: &Shared, job: Job) -> Rest {
        let mut next = match job {
            Job::Task(task) => Some(task),
            Job::Call(call) => {
                call(true);
                shared.end_outstanding();
                return Rest { was_task: false, next: None };
            }
        };
        for _ in 0..shared.config.throughput {
            let Some(task) = next else { break };
            // SAFETY: ready, and taken by us alone.
            next = unsafe { run_task(task, &shared.run_context()) };
        }
        if next.is_none() {
            shared.end_outstanding();
        }
        Rest { was_task: true, next }
    }

    /// Drops the calls that have not started, and takes no more. Tasks go on: those of a runtime that
    /// is past its deadline run without their bodies.
    pub(crate) fn cancel_all(&self, shared: &Shared) {
        let calls = {
            let mut state = self.state.lock();
            state.stopped = true;
            let jobs = std::mem::take(&mut state.jobs).into_iter();
            let (calls, tasks): (VecDeque<_>, _) =
                jobs.partition(|job| matches!(job, Job::Call(_)));
            state.jobs = tasks;
            calls
        };
        self.work.notify_all();
        calls.into_iter().for_each(|job| Self::abandon(shared, job));
    }

    /// Cancels the tasks of a stopped runtime, and those that are brought from now on. One thread does
    /// so at a time: what its work makes ready comes back to the same loop, and not on top of it.
    pub(crate) fn cancel_tasks(shared: &Shared) {
        let pool = &shared.blocking;
        let mut state = pool.state.lock();
        state.closed = true;
        if std::mem::replace(&mut state.cancelling, true) {
            return;
        }
        while let Some(job) = state.jobs.pop_front() {
            drop(state);
            Self::abandon(shared, job);
            state = pool.state.lock();
        }
        state.cancelling = false;
    }

    fn abandon(shared: &Shared, job: Job) {
        match job {
            Job::Call(call) => {
                call(false);
                shared.abandoned.fetch_add(1, Ordering::Relaxed);
            }
            // SAFETY: ready, and taken by us alone. It counts itself.
            Job::Task(task) => unsafe { shared.cancel(task) },
        }
        shared.end_outstanding();
    }
}

/// What is left when a thread has run a job for long enough.
struct Rest {
    was_task: bool,
    /// The task that follows: it goes behind all others.
    next: Option<TaskPtr>,
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
