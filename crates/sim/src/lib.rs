//! The deterministic engine below Coact: decides which task runs next, and can repeat its
//! decisions.
//!
//! A concurrent program is a tree. Its nodes are *scheduling points*, where several tasks could
//! run, and its paths are *schedules*. A real scheduler walks one path, a different one each time.
//! This crate walks them on purpose: a driver (the runtime under test) runs its tasks one at a time
//! and asks a [`SchedulingStrategy`] at every scheduling point which of them goes next.
//!
//! ```text
//!   driver (knows tasks)                          this crate (knows ids)
//!   --------------------                          ----------------------
//!   while begin_run() ─────────────────────────▶  Explorer   counts runs, knows the settings
//!     │                                              │
//!     ├─ choose_task(&[0, 1, 4], Some(1)) ────────▶  ScheduleRecorder   keeps this run's Schedule
//!     │      runs task 4 to its next point           │
//!     ├─ choose_value(6), a random number ────────▶  SchedulingStrategy
//!     │                                                 random, pct, dfs, replay, fifo
//!     └─ end_run(), or failure("what went wrong"): seed, schedule, how to replay
//! ```
//!
//! # Which strategy
//!
//! | strategy | what a run is | what it promises | use it |
//! | --- | --- | --- | --- |
//! | [`RandomWalk`] | a uniform pick at every point | reaches any schedule, sooner or later | first; cheap breadth |
//! | [`Pct`] | priorities, with a few changes at random points | a bug that needs `d` ordered steps shows with probability ≥ 1/(n·kᵈ⁻¹) per run | long runs, rare bugs |
//! | [`DepthFirstSearch`] | the next unexplored path | every schedule within its bounds, exactly once | small programs, proofs |
//! | [`ScheduleReplay`] | the choices of a recorded [`Schedule`] | the same run, or a [`RunDivergence`] | a failure in hand |
//! | [`FifoOrder`] | no preemption, first come first served | one plain, fair run | a baseline, a debugger |
//!
//! # Example
//!
//! Two tasks increment a counter in two steps, a load and a store. Depth-first search finds the
//! lost update, and the failure says how to see it again.
//!
//! ```
//! # mod coact { pub use coact_sim as sim; }
//! use coact::sim::{Bounds, Config, Explorer, Method, SchedulingStrategy, TaskId};
//!
//! /// Runs the two tasks under `explorer` and returns the counter's final value.
//! fn racy_counter(explorer: &mut Explorer) -> u32 {
//!     let (mut counter, mut loaded, mut steps) = (0, [0, 0], [0, 0]);
//!     let mut running = None;
//!     loop {
//!         let runnable = (0..2).filter(|&t| steps[t] < 2).map(|t| TaskId(t as u32));
//!         let runnable: Vec<_> = runnable.collect();
//!         if runnable.is_empty() {
//!             return counter;
//!         }
//!         let task = explorer.choose_task(&runnable, running.filter(|t| runnable.contains(t)));
//!         let t = task.0 as usize;
//!         match steps[t] {
//!             0 => loaded[t] = counter,
//!             _ => counter = loaded[t] + 1,
//!         }
//!         steps[t] += 1;
//!         running = Some(task);
//!     }
//! }
//!
//! fn check(explorer: &mut Explorer) -> Result<(), String> {
//!     match racy_counter(explorer) {
//!         2 => Ok(()),
//!         lost => Err(format!("the counter is {lost}, not 2")),
//!     }
//! }
//!
//! let one_preemption = Method::Dfs(Bounds::new().preemptions(1));
//! let failure = Config::new().method(one_preemption).explorer().explore(check).unwrap_err();
//! assert_eq!(failure.cause(), "the counter is 1, not 2");
//!
//! // The printed schedule is all that is needed to see the same failure again.
//! let printed = failure.schedule().to_string();
//! let replay = Method::Replay(printed.parse().unwrap());
//! let again = Config::new().method(replay).explorer().explore(check).unwrap_err();
//! assert_eq!(again.schedule(), failure.schedule());
//! ```
//!
//! # Settings and replay
//!
//! A test states its settings in code as a [`Config`] and lets the environment override them with
//! [`Config::with_env`], so that a failing test can be replayed without editing it:
//!
//! | variable | value | overrides |
//! | --- | --- | --- |
//! | `COACT_SIM_SCHEDULE` | a printed [`Schedule`] | everything: that one run is replayed |
//! | `COACT_SIM_STRATEGY` | `random`, `pct[:depth]`, `dfs[:preemptions]` or `fifo` | [`Config::method`] |
//! | `COACT_SIM_RUNS` | a number above zero | [`Config::runs`] |
//! | `COACT_SIM_SEED` | a [`Seed`], decimal or `0x` and hex | [`Config::seed`] |
//!
//! # Limits
//!
//! The engine finds what depends on the order of the choices it is asked for, and nothing else: the
//! program must be deterministic apart from those choices (no wall-clock time, addresses, hash
//! order or threads of its own). [`DepthFirstSearch`] and [`ScheduleReplay`] notice when it is not.
//! It also assumes sequential consistency; weak memory orderings need a model checker such as loom.

#![forbid(unsafe_code)]

mod choice;
mod clock;
mod config;
mod divergence;
mod environment;
mod explorer;
mod failure;
mod prng;
mod recorder;
mod schedule;
mod seed;
pub mod strategy;
mod variables;

pub use choice::{Choice, SchedulingOffer, TaskId};
pub use clock::VirtualClock;
pub use config::{Config, Method, MethodParseError};
pub use divergence::RunDivergence;
pub use environment::EnvError;
pub use explorer::Explorer;
pub use failure::Failure;
pub use recorder::ScheduleRecorder;
pub use schedule::{ChoiceIter, Schedule, ScheduleParseError};
pub use seed::{Seed, SeedParseError};
#[doc(no_inline)]
pub use strategy::{
    Bounds, DepthFirstSearch, FifoOrder, Pct, RandomWalk, ScheduleReplay, SchedulingStrategy,
};
