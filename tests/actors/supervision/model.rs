//! Random trees and random failures, in virtual time: the runtime comes to what the model says.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::sim::{Config, Method, Seed, Sim};
use coact::supervise::{Backoff, Restart, Supervisor, Tree, permanent, temporary, transient};
use coact::time::sleep;
use coact_tests::fail;
use coact_tests::supervision_model::{Comeback, Family, Group, Life, Shape};
use proptest::prelude::*;

/// What happens to a node.
#[derive(Clone, Copy, Debug)]
enum Blow {
    /// Its handler panics; a supervisor is killed.
    Crash,
    /// It is killed.
    Kill,
    /// It ends as it should.
    Stop,
    /// It is told to, and its last hook panics; a supervisor is just stopped.
    StopBadly,
}

/// One after the other: after how many units of time, to whom (modulo the number of nodes), what.
type Script = Vec<(u64, usize, Blow)>;

/// Events come at whole units, checks a quarter later, and restarts after a delay at a half: none
/// comes together with another, so there is one outcome.
const UNIT: u64 = 4;
const HALF: u64 = 2;

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// Counts its states: how many were made, and how many there are.
#[derive(Clone, Default)]
struct Tally {
    made: Arc<AtomicUsize>,
    alive: Arc<AtomicUsize>,
}

struct Leaf {
    tally: Tally,
    bad: bool,
}

impl Leaf {
    fn new(tally: &Tally) -> Self {
        tally.made.fetch_add(1, Ordering::Relaxed);
        tally.alive.fetch_add(1, Ordering::Relaxed);
        Self { tally: tally.clone(), bad: false }
    }
}

impl Actor for Leaf {
    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        if self.bad {
            fail("in the last hook");
        }
    }
}

impl Drop for Leaf {
    fn drop(&mut self) {
        self.tally.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Hit(Blow);

impl Message for Hit {
    type Reply = ();
}

impl Handler<Hit> for Leaf {
    fn handle(&mut self, hit: Hit, context: &mut Context<Self>) {
        if let Blow::Crash = hit.0 {
            fail("crash");
        }
        self.bad = matches!(hit.0, Blow::StopBadly);
        context.stop();
    }
}

/// A node of the real tree.
enum Real {
    Worker(Addr<Leaf>, Tally),
    Supervisor(Supervisor),
}

fn restart(comeback: Comeback) -> Restart {
    match comeback {
        Comeback::Always => Restart::Permanent,
        Comeback::AfterFailure => Restart::Transient,
        Comeback::Never => Restart::Temporary,
    }
}

/// Declares a supervisor's tree; its nodes go to `real`, in the model's order.
fn declare(shape: &Shape, real: &mut Vec<Option<Real>>) -> Tree {
    let Shape::Supervisor { comeback, group, most, within, delay, children } = shape else {
        unreachable!("only supervisors are declared so")
    };
    let strategy = match group {
        Group::One => coact::supervise::Strategy::OneForOne,
        Group::All => coact::supervise::Strategy::OneForAll,
        Group::Rest => coact::supervise::Strategy::RestForOne,
    };
    let most = u32::try_from(*most).expect("few");
    let mut tree = Supervisor::with(strategy).intensity(most, ms(*within));
    tree = tree.backoff(Backoff::constant(ms(*delay))).restart(restart(*comeback));
    for child in children {
        let place = real.len();
        real.push(None);
        real[place] = Some(match child {
            Shape::Worker(comeback) => {
                let tally = Tally::default();
                let made = tally.clone();
                let make = move || Leaf::new(&made);
                let child = match comeback {
                    Comeback::Always => permanent(make),
                    Comeback::AfterFailure => transient(make),
                    Comeback::Never => temporary(make),
                };
                Real::Worker(tree.child(child), tally)
            }
            Shape::Supervisor { .. } => {
                let below = declare(child, real);
                Real::Supervisor(tree.child(below))
            }
        });
    }
    tree
}

fn strike(real: &Real, blow: Blow) {
    match (real, blow) {
        (Real::Worker(worker, _), Blow::Kill) => worker.kill().unwrap(),
        (Real::Worker(worker, _), _) => worker.send(Hit(blow)).unwrap(),
        (Real::Supervisor(supervisor), Blow::Crash | Blow::Kill) => supervisor.kill().unwrap(),
        (Real::Supervisor(supervisor), _) => supervisor.stop().unwrap(),
    }
}

/// Whether that is a failure, to the model.
fn is_failure(real: &Real, blow: Blow) -> bool {
    match real {
        Real::Worker(..) => !matches!(blow, Blow::Stop),
        Real::Supervisor(_) => matches!(blow, Blow::Crash | Blow::Kill),
    }
}

#[track_caller]
fn compare(family: &Family, real: &[Real]) {
    for (index, (node, real)) in family.nodes.iter().zip(real).enumerate() {
        match real {
            Real::Worker(worker, tally) => {
                let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
                assert_eq!(count(&tally.made), node.starts, "starts of {index}: {family:?}");
                let up = usize::from(node.life == Life::Up);
                assert_eq!(count(&tally.alive), up, "life of {index}: {family:?}");
                assert_eq!(worker.has_ended(), node.life == Life::Ended, "{index}: {family:?}");
            }
            Real::Supervisor(supervisor) => {
                let ended = node.life == Life::Ended;
                assert_eq!(supervisor.has_ended(), ended, "{index}: {family:?}");
                let reason = supervisor.exit_reason();
                let gave_up = matches!(reason, Some(ExitReason::TooManyRestarts(_)));
                assert!(!gave_up || node.gave_up, "{index}, {reason:?}: {family:?}");
            }
        }
    }
    let Real::Supervisor(root) = &real[0] else { unreachable!("the root is a supervisor") };
    if let Some(reason) = root.exit_reason() {
        let gave_up = matches!(reason, ExitReason::TooManyRestarts(_));
        assert_eq!(gave_up, family.nodes[0].gave_up, "{reason:?}: {family:?}");
    }
}

fn play(shape: &Shape, script: &Script) {
    let mut real = vec![None];
    let tree = declare(shape, &mut real);
    real[0] = Some(Real::Supervisor(tree.spawn()));
    let real: Vec<Real> = real.into_iter().map(|node| node.expect("all are made")).collect();
    let mut family = Family::start(shape);
    let mut now = 0;
    let mut wait_until = |time: u64| {
        sleep(ms(time - now)).wait().unwrap();
        now = time;
    };
    let mut time = 0;
    wait_until(time + 1);
    compare(&family, &real);
    for &(after, node, blow) in script {
        time += after * UNIT;
        wait_until(time);
        family.advance(time);
        let node = node % real.len();
        if family.nodes[node].life == Life::Up {
            strike(&real[node], blow);
            family.fall(node, is_failure(&real[node], blow));
        }
        wait_until(time + 1);
        compare(&family, &real);
    }
}

fn comebacks() -> impl Strategy<Value = Comeback> {
    prop_oneof![
        3 => Just(Comeback::Always),
        2 => Just(Comeback::AfterFailure),
        1 => Just(Comeback::Never),
    ]
}

fn supervisors(child: impl Strategy<Value = Shape>) -> impl Strategy<Value = Shape> {
    let group = prop_oneof![Just(Group::One), Just(Group::All), Just(Group::Rest)];
    let delay = prop_oneof![Just(0), (0..5_u64).prop_map(|units| units * UNIT + HALF)];
    let children = prop::collection::vec(child, 1..4);
    (comebacks(), group, 0..4_usize, 1..10_u64, delay, children).prop_map(
        |(comeback, group, most, within, delay, children)| {
            let within = within * UNIT + HALF;
            Shape::Supervisor { comeback, group, most, within, delay, children }
        },
    )
}

fn trees() -> impl Strategy<Value = Shape> {
    let worker = || comebacks().prop_map(Shape::Worker);
    let low = supervisors(worker());
    let middle = supervisors(prop_oneof![2 => worker(), 1 => low]);
    supervisors(prop_oneof![1 => worker(), 1 => middle])
}

fn scripts() -> impl Strategy<Value = Script> {
    let blow = prop_oneof![
        4 => Just(Blow::Crash),
        2 => Just(Blow::Kill),
        1 => Just(Blow::Stop),
        1 => Just(Blow::StopBadly),
    ];
    prop::collection::vec((1..6_u64, any::<usize>(), blow), 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn trees_come_to_what_the_model_says(shape in trees(), script in scripts(), seed: u64) {
        let config = Config::new().method(Method::Random).seed(Seed::new(seed)).runs(2);
        let run = Sim::new().allow_faults(true).config(config).run(move || play(&shape, &script));
        prop_assert!(run.is_ok(), "{}", run.unwrap_err());
    }
}
