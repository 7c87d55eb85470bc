//! Short lives: things that are made and ended at once, a few at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use coact::prelude::{Actor, Cown, spawn, when};
use coact_bench_workloads::{Given, Measured};

use crate::runtime;

/// An actor is spawned, and its address dropped.
pub fn dropped(given: &Given) -> anyhow::Result<Measured> {
    run(given, |state| drop(spawn(state)))
}

/// An actor is spawned and stopped.
pub fn stopped(given: &Given) -> anyhow::Result<Measured> {
    run(given, |state| spawn(state).stop().expect("it has just been spawned"))
}

/// A cown is made, and its handle dropped.
pub fn of_cowns(given: &Given) -> anyhow::Result<Measured> {
    run(given, |state| drop(Cown::new(state)))
}

/// The state of each: the round that it belongs to, and ends with the last of it.
struct Life {
    #[expect(dead_code, reason = "held, not read")]
    round: Arc<Round>,
}

impl Actor for Life {}

/// What the lives of one round share. Its end counts them, and begins the next round.
struct Round {
    /// Rounds to come after it.
    left: u64,
    at_once: u64,
    ended: Arc<AtomicU64>,
    live: fn(Life),
}

impl Round {
    /// Gives each of the round its life, in a behaviour.
    fn begin(self) {
        when(Cown::new(()), move |_| {
            let round = Arc::new(self);
            for _ in 0..round.at_once {
                (round.live)(Life { round: Arc::clone(&round) });
            }
        });
    }
}

impl Drop for Round {
    fn drop(&mut self) {
        // ORDERING: Relaxed. Read when the runtime is idle, which orders all that has run before.
        self.ended.fetch_add(self.at_once, Ordering::Relaxed);
        if let Some(left) = self.left.checked_sub(1) {
            let Round { at_once, live, .. } = *self;
            Round { left, at_once, ended: Arc::clone(&self.ended), live }.begin();
        }
    }
}

/// All rounds, one after the other.
fn run(given: &Given, live: fn(Life)) -> anyhow::Result<Measured> {
    let (rounds, at_once) = (given.number("rounds")?, given.number("at_once")?);
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let ended = Arc::default();
    let start = Instant::now();
    Round { left: rounds - 1, at_once, ended: Arc::clone(&ended), live }.begin();
    runtime.wait_idle();
    // ORDERING: Relaxed. The runtime was idle.
    Ok(Measured::new(start.elapsed(), rounds * at_once, ended.load(Ordering::Relaxed)))
}
