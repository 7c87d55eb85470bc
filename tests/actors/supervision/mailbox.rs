//! Messages across restarts: none is lost, and none comes twice.

use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::sim::{Config, Method, Seed, Sim};
use coact::supervise::{Supervisor, permanent};
use coact::time::sleep;
use coact_tests::{Log, check_with_faults, fail, finally};
use proptest::prelude::*;

/// Writes down what comes; some messages make it panic.
struct Reader {
    log: Log<(usize, usize)>,
}

impl Actor for Reader {}

struct Number {
    from: usize,
    number: usize,
    deadly: bool,
}

impl Message for Number {
    type Reply = ();
}

impl Handler<Number> for Reader {
    fn handle(&mut self, message: Number, _: &mut Context<Self>) {
        self.log.push((message.from, message.number));
        if message.deadly {
            fail("deadly");
        }
    }
}

/// What one sender sends: whether each of its messages is deadly.
type Letters = Vec<bool>;

/// Several senders send to one child; returns what came, and how often the child was restarted.
fn deliver(
    senders: &[Letters],
    threads: impl Fn(Vec<Box<dyn FnOnce() + Send>>),
) -> (Log<(usize, usize)>, Supervisor) {
    let log = Log::new();
    let mut tree = Supervisor::one_for_one().intensity(u32::MAX, Duration::from_secs(1));
    let made = log.clone();
    let reader = tree.child(permanent(move || Reader { log: made.clone() }));
    let supervisor = tree.spawn();
    let senders = senders.iter().cloned().enumerate().map(|(from, letters)| {
        let reader = reader.clone();
        Box::new(move || {
            for (number, deadly) in letters.into_iter().enumerate() {
                reader.send(Number { from, number, deadly }).unwrap();
            }
        }) as Box<dyn FnOnce() + Send>
    });
    threads(senders.collect());
    (log, supervisor)
}

#[track_caller]
fn assert_all_once(senders: &[Letters], log: Vec<(usize, usize)>) {
    for (from, letters) in senders.iter().enumerate() {
        let came: Vec<usize> =
            log.iter().filter(|(sender, _)| *sender == from).map(|(_, number)| *number).collect();
        assert_eq!(came, (0..letters.len()).collect::<Vec<_>>(), "of sender {from}");
    }
    assert_eq!(log.len(), senders.iter().map(Vec::len).sum::<usize>());
}

fn deadly(senders: &[Letters]) -> u64 {
    senders.iter().flatten().filter(|deadly| **deadly).count() as u64
}

/// Runs senders on threads of their own.
fn on_threads(senders: Vec<Box<dyn FnOnce() + Send>>) {
    std::thread::scope(|scope| {
        for sender in senders {
            scope.spawn(sender);
        }
    });
}

#[test]
fn m3_nothing_is_lost_or_doubled_on_real_threads() {
    check_with_faults(|_| {
        let senders: Vec<Letters> =
            (0..3).map(|from| (0..300).map(|n| (n * 7 + from) % 5 == 0).collect()).collect();
        // Threads of its own belong to no runtime: the child's is known by its address.
        let (log, supervisor) = deliver(&senders, on_threads);
        finally(move || {
            assert_all_once(&senders, log.take());
            drop(supervisor);
        });
    });
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn m3_nothing_is_lost_or_doubled_in_deterministic_mode(
        senders in prop::collection::vec(prop::collection::vec(any::<bool>(), 0..8), 1..4),
        seed: u64,
    ) {
        let config = Config::new().method(Method::Random).seed(Seed::new(seed)).runs(3);
        let program = move || {
            let threads = |senders: Vec<Box<dyn FnOnce() + Send>>| {
                let done: Vec<_> = senders.into_iter().map(coact::sim::thread).collect();
                done.into_iter().for_each(|done| done.wait().unwrap());
            };
            let (log, supervisor) = deliver(&senders, threads);
            sleep(Duration::from_secs(1)).wait().unwrap();
            assert_all_once(&senders, log.take());
            let restarts = supervisor.counts().wait().unwrap().restarts;
            assert_eq!(restarts, deadly(&senders));
        };
        let run = Sim::new().allow_faults(true).config(config).run(program);
        prop_assert!(run.is_ok(), "{}", run.unwrap_err());
    }
}
