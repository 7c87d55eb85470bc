//! Deterministic mode: runs whole programs under a seeded scheduler, on one thread, in virtual
//! time.
//!
//! ```
//! # use coact_core as coact;
//! use coact::{Cown, call, sim, when};
//!
//! sim::check(|| {
//!     let log = Cown::new(Vec::new());
//!     let other = Cown::new(());
//!     let far = log.clone();
//!     when(&other, move |()| when(&far, |log| log.push("far")));
//!     when(&log, |log| log.push("near"));
//!     // Both orders are legal, and both are explored.
//!     assert_eq!(call((&other, &log), |(_, log)| log.len()).wait().map(|n| n >= 1), Ok(true));
//! });
//! ```
//!
//! # What is explored
//!
//! The program runs unchanged: the same queues, grants, releases, promises and timers as on real
//! workers. But each behaviour is a fiber, one of them runs at a time, and before every step that
//! other threads can observe (spawning, completing a promise) the strategy decides which one goes
//! on. It also decides between the steps of longer operations: queueing, interrupts, granting a
//! cown to readers. (Except where the order of the steps is that of addresses.) The decisions of
//! the strategy form the schedule; the seed determines them. Time stands still while anything can
//! run, and then jumps to the next timer.
//!
//! Runtimes that the program builds are part of the run, and so have no threads. Each runs as much
//! concurrently as it was built for: its number of workers, its number of blocking threads, or a
//! pump's one thread while it is pumped. Their hooks for threads are not called, but that of a pump
//! is. Each runtime costs about 3 KB that are not freed (a runtime can be named forever), in each
//! run of the program.
//!
//! # When a run fails
//!
//! A run fails if the program or one of its threads panics, if a behaviour panics (unless
//! [`Sim::allow_faults`]), or on a deadlock. The first failure is reported; other threads go on as
//! far as they can. The report contains the seed and the schedule, and the environment variables
//! that repeat the run:
//!
//! ```text
//! COACT_SIM_SEED=42 cargo test my_test          # the same exploration
//! COACT_SIM_SCHEDULE=coact1-... cargo test my_test   # this very run
//! ```
//!
//! For a deadlock, the report has a line for each simulated thread: what it is (its number is the
//! one in schedules), where it waits, for what, and what that depends on. Below are futures and
//! behaviours that wait without a thread. For example, two behaviours on blocking threads that ask
//! for each other's cowns:
//!
//! ```text
//! deadlock: 3 simulated threads wait, and nothing is left that could wake them
//!     #0, the main program, waits at tests/bank.rs:20:15 for runtime `files` to have no work left
//!     #1, `bank::test::{{closure}}` on runtime `files`, waits at tests/bank.rs:13:29 for the result of
//!         `bank::test::{{closure}}::{{closure}}` (tests/bank.rs:13:14), which is queued behind #2
//!     #2, `bank::test::{{closure}}` on runtime `files`, waits at tests/bank.rs:17:29 for the result of
//!         `bank::test::{{closure}}::{{closure}}` (tests/bank.rs:17:14), which is queued behind #1
//! ```
//!
//! (Each entry is a single line.) A run that makes more than [`Sim::max_steps`] decisions fails,
//! too, and the report says which threads the last thousand went to. Its schedule has the same
//! length; if that takes more than 4,096 characters, the report prints only the last choices.
//! Repeat such a run by its seed, or with [`Failure::schedule`] and [`Method::Replay`].
//!
//! # Limits
//!
//! The program must depend on nothing but the schedule: not on real time, threads of its own,
//! addresses, or hash maps with random seeds. [`check_determinism`] finds what does. Simulate plain
//! threads with [`thread`] and randomness with [`choose`].
//!
//! All simulated threads share one thread. If one waits for something that the simulation does not
//! know (a lock of `std` whose owner waits in simulated time), none goes on. When the thread has
//! used no processor time for a second, a report is written to the standard error, with the
//! simulated thread that blocks and the places where others wait. (On Linux.) The run goes on if
//! that wait ends.

mod creation_order;
mod engine;
mod hooks;
mod pump;
mod sim_fiber;
mod stall_watch;
mod trace;
mod wait_graph;
mod wait_tables;

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

pub use coact_sim::{Bounds, Config, Failure, Method, Schedule, Seed};
use coact_sim::{Explorer, SchedulingStrategy};

use engine::{RunObservers, RunSettings};
use hooks::InstalledRun;
use sim_fiber::FiberSubject;
use stall_watch::StallWatch;
use trace::{RunTrace, TraceEvent, difference_of_ends};

use crate::fault::Broken;
use crate::promise::Promise;

/// Runs a program under many schedules: [`Sim::check`] with the default settings.
///
/// # Panics
/// Panics with a [`Failure`] report if a run fails.
#[track_caller]
pub fn check(program: impl Fn() + 'static) {
    Sim::new().check(program);
}

/// Checks that a program depends on nothing but the schedule: [`Sim::check_determinism`] with the
/// default settings.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, sim, when};
/// use std::collections::BTreeMap;
///
/// sim::check_determinism(|| {
///     // With a `HashMap`, the order of the behaviours differs from one run to the next.
///     let cowns: BTreeMap<u32, Cown<u32>> = (0..8).map(|key| (key, Cown::new(key))).collect();
///     for cown in cowns.values() {
///         when(cown, |n| *n += 1);
///     }
/// });
/// ```
///
/// # Panics
/// Panics with a [`Failure`] report if a run differs from the one before, or fails.
#[track_caller]
pub fn check_determinism(program: impl Fn() + 'static) {
    Sim::new().check_determinism(program);
}

/// The settings of a simulated program: how many workers it has, and what does not fail it. Which
/// schedules are tried is in its [`Config`].
#[derive(Clone, Debug)]
#[must_use = "settings do nothing until `check` or `run` is called"]
pub struct Sim {
    config: Config,
    settings: RunSettings,
}

impl Default for Sim {
    fn default() -> Self {
        Self::new()
    }
}

impl Sim {
    /// Creates settings for a hundred random runs with two workers.
    pub fn new() -> Self {
        Self { config: Config::new().runs(100), settings: RunSettings::default() }
    }

    /// Sets which schedules are tried, and how many. Environment variables take precedence
    /// ([`Config::with_env`]).
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Sets how many behaviours can run concurrently (default: 2).
    ///
    /// # Panics
    /// Panics if `workers` is zero.
    #[track_caller]
    pub fn workers(mut self, workers: usize) -> Self {
        assert!(workers > 0, "a simulation needs at least one worker");
        self.settings.workers = workers;
        self
    }

    /// Sets whether behaviours may panic without failing the run (default: no). Enable this to test
    /// how a program handles panics.
    pub fn allow_faults(mut self, allow: bool) -> Self {
        self.settings.allow_faults = allow;
        self
    }

    /// Sets the number of scheduling decisions after which a run counts as endless (default:
    /// 1,000,000).
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.settings.max_steps = steps;
        self
    }

    /// Runs the program once per schedule.
    ///
    /// # Panics
    /// Panics with the report if a run fails, if an environment variable cannot be parsed, or
    /// inside a simulation.
    #[track_caller]
    pub fn check(self, program: impl Fn() + 'static) {
        if let Err(failure) = self.run(program) {
            panic!("{failure}");
        }
    }

    /// Like [`check`](Self::check), but returns the report.
    ///
    /// # Errors
    /// Returns the report of the first run that fails.
    ///
    /// # Panics
    /// Panics if an environment variable cannot be parsed, or inside a simulation.
    #[track_caller]
    pub fn run(self, program: impl Fn() + 'static) -> Result<(), Failure> {
        let config = match self.config.with_env() {
            Ok(config) => config,
            Err(error) => panic!("{error}"),
        };
        let program = Rc::new(program);
        let watch = StallWatch::new();
        let observers = RunObservers { watch: &watch, trace: None };
        let explored = config.explorer().explore(|explorer| {
            let program = Rc::clone(&program);
            engine::run(explorer, &self.settings, observers, &InstalledRun, move || program())
        });
        explored.map(drop)
    }

    /// Checks that the program depends on nothing but the schedule: makes each run twice, with the
    /// same choices, and compares what they do. So it makes twice as many runs as
    /// [`check`](Self::check), and keeps a trace of each.
    ///
    /// Compared are the tasks that can run at each decision, which behaviours are spawned from
    /// where on which cowns, the times, what the program adds with [`trace`](trace()), and how the
    /// runs end. Not compared are values that decide nothing: add these with `trace`. A run that
    /// fails with a thread in the middle of a panic is reported as it is: it cannot be made again
    /// on the same thread of the system.
    ///
    /// The report says after how many events the runs part, what was the same before, what each of
    /// them did then, and what to look for.
    ///
    /// # Panics
    /// Panics with the report if two runs differ, or if the program fails in both, and where
    /// [`check`](Self::check) does.
    #[track_caller]
    pub fn check_determinism(self, program: impl Fn() + 'static) {
        if let Err(failure) = self.compare_runs(program) {
            panic!("{failure}");
        }
    }

    /// Like [`check_determinism`](Self::check_determinism), but returns the report.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::sim::{self, Sim};
    /// use std::cell::Cell;
    ///
    /// thread_local! { static RUNS: Cell<u64> = const { Cell::new(0) } }
    ///
    /// let report = Sim::new().compare_runs(|| sim::trace(RUNS.replace(RUNS.get() + 1))).unwrap_err();
    /// assert!(report.cause().contains("the first run:   `sim::trace`: 0"));
    /// assert!(report.cause().contains("the second run:  `sim::trace`: 1"));
    /// ```
    ///
    /// # Errors
    /// Returns the report of the first run that cannot be repeated, or that fails.
    ///
    /// # Panics
    /// Panics where [`run`](Self::run) does.
    #[track_caller]
    pub fn compare_runs(self, program: impl Fn() + 'static) -> Result<(), Failure> {
        let config = match self.config.with_env() {
            Ok(config) => config,
            Err(error) => panic!("{error}"),
        };
        let program = Rc::new(program);
        let watch = StallWatch::new();
        let explored = config.explorer().explore(|explorer| {
            let trace = RunTrace::default();
            let observers = RunObservers { watch: &watch, trace: Some(&trace) };
            let run = |explorer: &mut Explorer| {
                let program = Rc::clone(&program);
                engine::run(explorer, &self.settings, observers, &InstalledRun, move || program())
            };
            let was_panicking = std::thread::panicking();
            let first = run(explorer);
            if first.is_err() && std::thread::panicking() && !was_panicking {
                // A fiber is stuck in the middle of a panic: the engine can no longer tell which
                // of the next run's fibers are.
                return first;
            }
            trace.compare();
            let again = Config::new().method(Method::Replay(explorer.schedule().clone()));
            let mut again = again.explorer();
            again.begin_run();
            let second = run(&mut again);
            // What it would report is part of the traces.
            let _ = again.end_run();
            match trace.difference().or_else(|| difference_of_ends(&first, &second)) {
                Some(difference) => Err(difference),
                None => first,
            }
        });
        explored.map(drop)
    }
}

/// Simulates a plain thread, and returns a promise of its result. It is not a behaviour: it may
/// block.
///
/// A panic in it fails the run, whatever happens to the promise ([`Broken::Panicked`]).
///
/// # Panics
/// Panics outside of a simulation.
#[track_caller]
pub fn thread<R: Send + 'static>(main: impl FnOnce() -> R + Send + 'static) -> Promise<R> {
    thread_from(Location::caller(), main)
}

/// The same for a thread that reports call after another place of the program.
#[doc(hidden)]
pub fn thread_from<R: Send + 'static>(
    place: &'static Location<'static>,
    main: impl FnOnce() -> R + Send + 'static,
) -> Promise<R> {
    let (resolver, promise) = Promise::channel();
    let (who, keeps) = (FiberSubject::Thread(place), Some(promise.cell()));
    let run = move || match catch_unwind(AssertUnwindSafe(main)) {
        Ok(value) => resolver.resolve(value),
        Err(payload) => resolver.fail(Broken::Panicked(engine::fail(payload))),
    };
    engine::spawn_outside(engine::home(), who, keeps, Box::new(run));
    promise
}

/// Returns a number below `bound`, chosen by the schedule.
///
/// # Panics
/// Panics outside of a simulation, or if `bound` is 0.
#[track_caller]
pub fn choose(bound: u64) -> u64 {
    assert!(bound > 0, "`bound` must not be 0");
    engine::choose(bound)
}

/// Adds an entry to the trace of the run, which [`check_determinism`] compares: a value that a run
/// must have in common with its repetition. Without a comparison it does nothing.
///
/// # Panics
/// Panics outside of a simulation.
#[track_caller]
pub fn trace(entry: impl Display) {
    // Not within the engine: this is foreign code.
    let entry = entry.to_string();
    engine::expect_run();
    engine::trace(|| TraceEvent::Noted(entry));
}

/// Returns the virtual time since the run began.
///
/// # Panics
/// Panics outside of a simulation. Code that also runs in production uses
/// [`RuntimeHandle::elapsed`](crate::runtime::RuntimeHandle::elapsed): virtual time in a
/// simulation, real time elsewhere.
#[track_caller]
pub fn elapsed() -> Duration {
    let now = crate::simulated::now().expect(
        "only simulated programs can call `sim::elapsed`: `RuntimeHandle::current().elapsed()` works \
         in every program",
    );
    Duration::from_nanos(now)
}
