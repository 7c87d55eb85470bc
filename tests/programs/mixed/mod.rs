//! Programs in which everything comes together: messages, asks, behaviours, held actors, signals,
//! links, monitors, a supervisor, mailboxes, groups, hosts and moves; and a checker that knows what
//! actors promise, and nothing of how ([`coact_model::actors`]).
//!
//! Each program runs on systems of one, two and eight workers, and in deterministic mode. For a
//! long run:
//!
//! ```text
//! COACT_PROGRAMS_SECONDS=3600 cargo test --release -p coact-tests --test programs mixed -- --nocapture
//! ```
//!
//! It draws programs from a new seed until the time is over. A failure prints its program, made as
//! small as it can be, and the seed: with `COACT_PROGRAMS_SEED` the same programs come again.

mod ops;
mod runs;
mod worker;
mod world;

use std::sync::Arc;
use std::time::{Duration, Instant};

use coact::internals::FastPath;
use coact::runtime::RuntimeHandle;
use coact::supervise::{Backoff, Supervisor, Tree};
use coact_model::actors::{ActorEvent, check};
use coact_tests::{Log, PATIENCE};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use ops::{COWNS, GROUPS, Op, Place, Script, Together, script};
use runs::Play;
use worker::Job;
use world::World;

/// How long programs are tried if nothing else is said, in milliseconds.
const USUAL_MILLIS: u64 = 5_000;

/// Sets up a program in the current runtime; the second is what its actors can be moved to.
fn play(script: &Script, homes: Vec<RuntimeHandle>, is_cut_short: bool) -> Play {
    let world = World::new(homes, is_cut_short);
    let mut job = Job::new(&world, COWNS, GROUPS);
    let mut tree = tree_of(script);
    for (at, spec) in script.actors.iter().enumerate() {
        job.actors[at] = Some(match spec.place {
            Place::Child(comeback) => job.declare(&mut tree, *spec, comeback),
            _ => job.spawn(*spec, true),
        });
    }
    let supervisor = tree.spawn();
    job.supervisor = Some(supervisor.clone());
    job.held_asks = script.held_asks;
    let thread = |body: &Vec<Op>| -> Box<dyn FnOnce() + Send> {
        let (job, body) = (job.clone(), body.clone());
        Box::new(move || job.perform_all(body))
    };
    let threads = script.threads.iter().map(thread).collect();
    let rest = Arc::clone(&world);
    let let_go = move || {
        if is_cut_short {
            return rest.note(ActorEvent::ShutDown);
        }
        for (actor, end) in rest.ends() {
            rest.note(ActorEvent::AtRest(actor, end));
        }
        rest.note(ActorEvent::LetGo);
        let _ = supervisor.stop();
        drop((job, supervisor));
    };
    let verdict = move || {
        for (id, ask) in world.asks.iter().flat_map(Log::take) {
            let answer = ask.timeout(PATIENCE).wait();
            world.note(ActorEvent::Answered(id, world.answer(&answer)));
        }
        for (actor, end) in world.ends() {
            world.note(ActorEvent::AtEnd(actor, end));
        }
        let (mut trace, live) = world.trace();
        trace.events.sort_by_key(|(at, _)| *at);
        let tell = |why: String| {
            let events: Vec<_> =
                trace.events.iter().map(|(at, event)| format!("{at:5} {event:?}")).collect();
            format!("{why}\n{:#?}\n{}", trace.actors, events.join("\n"))
        };
        check(&trace).map_err(|breach| tell(breach.to_string()))?;
        if live == 0 { Ok(()) } else { Err(tell(format!("{live} objects are left"))) }
    };
    Play { threads, let_go: Box::new(let_go), verdict: Box::new(verdict) }
}

fn tree_of(script: &Script) -> Tree {
    let spec = script.tree;
    let tree = match spec.group {
        Together::One => Supervisor::one_for_one(),
        Together::All => Supervisor::one_for_all(),
        Together::Rest => Supervisor::rest_for_one(),
    };
    let tree = tree.intensity(spec.intensity, Duration::from_secs(1));
    match spec.backoff {
        0 => tree,
        micros => tree.backoff(Backoff::constant(Duration::from_micros(micros))),
    }
}

fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is a number, not {value:?}")))
}

/// Draws some programs from a seed, and runs each; returns how many there were.
fn run_batch(seed: u64, run: impl Fn(Script, u64) -> Result<(), String>) -> u32 {
    const PROGRAMS: u32 = 8;
    let config = ProptestConfig {
        cases: PROGRAMS,
        // What fails by chance need not fail again, so there is nothing to be kept.
        failure_persistence: None,
        max_shrink_iters: 400,
        ..ProptestConfig::default()
    };
    let mut entropy = [0; 32];
    entropy[..8].copy_from_slice(&seed.to_le_bytes());
    let dice = TestRng::from_seed(RngAlgorithm::ChaCha, &entropy);
    let mut runner = TestRunner::new_with_rng(config, dice);
    let ran = runner.run(&script(), |script| run(script, seed).map_err(TestCaseError::fail));
    if let Err(error) = ran {
        panic!("COACT_PROGRAMS_SEED={seed}\n{error}");
    }
    PROGRAMS
}

#[test]
fn mixed_programs_keep_what_actors_promise() {
    run_for(USUAL_MILLIS, |script, seed| runs::everywhere(&script, seed));
}

/// Answers also come back in the behaviours that were created for them.
#[test]
fn mixed_programs_take_every_way_of_actors() {
    for seed in 0..100 {
        run_batch(seed, |script, seed| runs::everywhere(&script, seed));
        if FastPath::Continued.count() >= 20 {
            return;
        }
    }
    panic!("hardly ever taken: {:?}", FastPath::Continued);
}

/// The end of a runtime in the middle of everything: all actors end, are dropped and told of, once.
#[test]
fn mixed_programs_end_with_their_runtime() {
    run_for(USUAL_MILLIS / 2, |script, seed| runs::cut_short_everywhere(&script, seed));
}

/// Draws programs until the time is over, or as long as the environment says.
fn run_for(millis: u64, run: impl Fn(Script, u64) -> Result<(), String>) {
    let millis = variable("COACT_PROGRAMS_SECONDS").map_or(millis, |seconds| seconds * 1000);
    let until = Instant::now() + Duration::from_millis(millis);
    let mut seed = variable("COACT_PROGRAMS_SEED").unwrap_or_else(|| u64::from(rand_seed()));
    let mut count = 0;
    while count == 0 || Instant::now() < until {
        count += run_batch(seed, &run);
        seed = seed.wrapping_add(1);
    }
    println!("{count} programs");
}

/// A fresh seed.
fn rand_seed() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0) as u32
}
