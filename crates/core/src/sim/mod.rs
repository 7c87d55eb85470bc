//! Deterministic mode: whole programs under a seeded scheduler, on one thread, in virtual time.
//!
//! ```
//! # use coact_core as coact;
//! use coact::{Cown, ask, sim, when};
//!
//! sim::check(|| {
//!     let log = Cown::new(Vec::new());
//!     let other = Cown::new(());
//!     let far = log.clone();
//!     when(&other, move |()| when(&far, |log| log.push("far")));
//!     when(&log, |log| log.push("near"));
//!     // Both orders are legal, and both are tried.
//!     assert_eq!(ask((&other, &log), |(_, log)| log.len()).wait().map(|n| n >= 1), Ok(true));
//! });
//! ```
//!
//! # What is explored
//!
//! The program runs as it is: the same queues, grants, releases, promises and timers as under the
//! real workers. But each behaviour is a fiber, one of them runs at a time, and before everything
//! that others could notice (spawning, giving a value to a promise) the strategy decides who goes
//! on. So it does between the steps of what takes several: queueing, interrupts, giving a cown to readers. (Not where the
//! order of the steps is that of addresses.) What the strategy decides is the schedule; the seed decides what the strategy decides.
//! Time stands still while anything can run, and then jumps to the next timer.
//!
//! Runtimes that the program builds are part of the run, and so have no threads. Each has the room that
//! it was built with: so many workers, so many threads that may block, or a pump's one thread while
//! somebody pumps. Their hooks for threads are not called, but that of a pump is. Each costs some 3 KB that are not
//! given back (a runtime can be named for ever), in each run of the program.
//!
//! # When a run fails
//!
//! A run fails if the program or one of its threads panics, if a behaviour panics (unless [`Sim::allow_faults`]), or
//! if everybody waits for somebody else. What goes wrong first is reported; the others go on, as far as they can. The
//! report names the seed and the schedule, and the environment variables that run it again:
//!
//! ```text
//! COACT_SIM_SEED=42 cargo test my_test          # the same exploration
//! COACT_SIM_SCHEDULE=coact1-... cargo test my_test   # this very run
//! ```
//!
//! Where everybody waits, the report has a line for each simulated thread: what it is (its number is the one in
//! schedules), where it waits, for what, and who is to see to that. Below are futures and behaviours that wait
//! without a thread. Two behaviours on blocking threads that ask for each other's cowns:
//!
//! ```text
//! deadlock: 3 simulated threads wait, and nothing is left that could wake them
//!     #0, the main program, waits at tests/bank.rs:20:15 for runtime `files` to have no work left
//!     #1, `bank::test::{{closure}}` on runtime `files`, waits at tests/bank.rs:13:29 for the result of
//!         `bank::test::{{closure}}::{{closure}}` (tests/bank.rs:13:14), which stands in a queue behind #2
//!     #2, `bank::test::{{closure}}` on runtime `files`, waits at tests/bank.rs:17:29 for the result of
//!         `bank::test::{{closure}}::{{closure}}` (tests/bank.rs:17:14), which stands in a queue behind #1
//! ```
//!
//! (Each is one line.) A run that makes more than [`Sim::max_steps`] decisions fails, too, and the report says who made
//! the last thousand of them. Its schedule is as long; of one that takes more than 4,096 characters the report prints
//! the last choices only, and the run is repeated by the seed, or by [`Failure::schedule`] and [`Method::Replay`].
//!
//! # What a program must not do
//!
//! Depend on anything but the schedule: real time, threads of its own, addresses, hash maps with
//! random seeds. Plain threads are simulated with [`thread`], randomness comes from [`choose`].

mod creation_order;
mod engine;
mod fiber;
mod hooks;
mod known;
mod pump;
mod sanitizer;
mod waits;

use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::time::Duration;

pub use coact_sim::{Bounds, Config, Failure, Method, Schedule, Seed};

use engine::Settings;
use fiber::Who;
use hooks::Installed;

use crate::fault::Broken;
use crate::promise::Promise;

/// Runs a program under many schedules: [`Sim::check`] with the default settings.
///
/// # Panics
/// With a [`Failure`] report if a run fails.
#[track_caller]
pub fn check(program: impl Fn() + 'static) {
    Sim::new().check(program);
}

/// Settings of an exploration.
#[derive(Clone, Debug)]
#[must_use = "settings do nothing until `check` or `run` is called"]
pub struct Sim {
    config: Config,
    settings: Settings,
}

impl Default for Sim {
    fn default() -> Self {
        Self::new()
    }
}

impl Sim {
    /// A hundred random runs with two workers.
    pub fn new() -> Self {
        Self { config: Config::new().runs(100), settings: Settings::default() }
    }

    /// Which schedules are tried, and how many. Environment variables override it
    /// ([`Config::with_env`]).
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// How many behaviours can be in their bodies at a time (default: 2).
    ///
    /// # Panics
    /// If there are none.
    #[track_caller]
    pub fn workers(mut self, workers: usize) -> Self {
        assert!(workers > 0, "without workers nothing runs");
        self.settings.workers = workers;
        self
    }

    /// Whether behaviours may panic without failing the run (default: no). Turn it on to test how a
    /// program deals with panics.
    pub fn allow_faults(mut self, allow: bool) -> Self {
        self.settings.allow_faults = allow;
        self
    }

    /// After how many scheduling decisions a run is given up as endless (default: 1,000,000).
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.settings.max_steps = steps;
        self
    }

    /// Runs the program once for each schedule.
    ///
    /// # Panics
    /// With the report, if a run fails; if an environment variable cannot be read; or if it is
    /// called inside of a simulation.
    #[track_caller]
    pub fn check(self, program: impl Fn() + 'static) {
        if let Err(failure) = self.run(program) {
            panic!("{failure}");
        }
    }

    /// Like [`check`](Self::check), but gives the report back.
    ///
    /// # Errors
    /// The report of the first run that fails.
    ///
    /// # Panics
    /// If an environment variable cannot be read, or if it is called inside of a simulation.
    #[track_caller]
    pub fn run(self, program: impl Fn() + 'static) -> Result<(), Failure> {
        let config = match self.config.with_env() {
            Ok(config) => config,
            Err(error) => panic!("{error}"),
        };
        let program = std::rc::Rc::new(program);
        let explored = config.explorer().explore(|explorer| {
            let program = std::rc::Rc::clone(&program);
            engine::run(explorer, &self.settings, &Installed, move || program())
        });
        explored.map(drop)
    }
}

/// Simulates a plain thread, and returns a promise of its result. It is no behaviour: it may wait.
///
/// A panic in it fails the run, whatever becomes of the promise ([`Broken::Panicked`]).
///
/// # Panics
/// Outside of a simulation.
#[track_caller]
pub fn thread<R: Send + 'static>(main: impl FnOnce() -> R + Send + 'static) -> Promise<R> {
    let (resolver, promise) = Promise::channel();
    let (who, keeps) = (Who::Thread(Location::caller()), Some(promise.cell()));
    let run = move || match catch_unwind(AssertUnwindSafe(main)) {
        Ok(value) => resolver.resolve(value),
        Err(payload) => resolver.fail(Broken::Panicked(engine::fail(payload))),
    };
    engine::spawn_outside(engine::home(), who, keeps, Box::new(run));
    promise
}

/// A number below `bound`, chosen by the schedule.
///
/// # Panics
/// Outside of a simulation, or if `bound` is 0.
#[track_caller]
pub fn choose(bound: u64) -> u64 {
    assert!(bound > 0, "no number is below 0");
    engine::choose(bound)
}

/// The virtual time since the run began.
///
/// # Panics
/// Outside of a simulation.
#[track_caller]
pub fn elapsed() -> Duration {
    let now = crate::simulated::now().expect("`sim::elapsed` is for simulated programs");
    Duration::from_nanos(now)
}
