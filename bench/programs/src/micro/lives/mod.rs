//! Short lives: things that are made and ended at once, a few at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use coact::prelude::{Actor, Cown, spawn, when};

use crate::runtime;
use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Implementation, Measured, Setup, Workload};

/// How many live at once.
const ROUND: u64 = 100;

fn rounds(setup: &Setup) -> u64 {
    setup.scaled(10_000)
}

fn lives(setup: &Setup) -> u64 {
    rounds(setup) * ROUND
}

/// Lives of actors.
pub struct ActorLives;

impl Workload for ActorLives {
    fn name(&self) -> &'static str {
        "actor-lives"
    }

    fn about(&self) -> &'static str {
        "1,000,000 actors are spawned and ended, 100 at a time; a life"
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("rounds", rounds(setup)), ("at_once", ROUND)]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of dropped states", lives(setup), measured)
    }

    fn implementations(&self) -> &'static [Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "an actor is spawned, and its address dropped",
                run: |setup| run(setup, |state| drop(spawn(state))),
            },
            Implementation {
                name: "coact-stopped",
                about: "an actor is spawned and stopped",
                run: |setup| {
                    run(setup, |state| spawn(state).stop().expect("it has just been spawned"))
                },
            },
            Implementation {
                name: "coact-cowns",
                about: "a cown is made, and its handle dropped",
                run: |setup| run(setup, |state| drop(Cown::new(state))),
            },
        ]
    }
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
    ended: Arc<AtomicU64>,
    live: fn(Life),
}

impl Round {
    /// Gives each of the round its life, in a behaviour.
    fn begin(self) {
        when(Cown::new(()), move |_| {
            let round = Arc::new(self);
            for _ in 0..ROUND {
                (round.live)(Life { round: Arc::clone(&round) });
            }
        });
    }
}

impl Drop for Round {
    fn drop(&mut self) {
        // ORDERING: Relaxed. Read when the runtime is idle, which orders all that has run before.
        self.ended.fetch_add(ROUND, Ordering::Relaxed);
        if let Some(left) = self.left.checked_sub(1) {
            Round { left, ended: Arc::clone(&self.ended), live: self.live }.begin();
        }
    }
}

/// All rounds, one after the other.
fn run(setup: &Setup, live: fn(Life)) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let ended = Arc::default();
    let start = Instant::now();
    Round { left: rounds(setup) - 1, ended: Arc::clone(&ended), live }.begin();
    runtime.wait_idle();
    // ORDERING: Relaxed. The runtime was idle.
    Measured::new(start.elapsed(), lives(setup), ended.load(Ordering::Relaxed))
}
