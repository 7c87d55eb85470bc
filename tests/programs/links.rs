//! Actors that link each other at the same time.
//!
//! Each of two actors pushes a signal to the other, under one short lock at a time: there is no
//! pair of locks that could be taken in two orders. That an interrupt after such a signal is never
//! lost is a matter of the core, whose loom models show it (`interrupt/loom.rs`:
//! `interrupt_against_interrupt` is this case); the lock and the cell that the signals lie in are
//! not made for loom. Here it is tried, many times.

use coact::Context;
use coact::actor::AnyAddr;
use coact::prelude::*;
use coact_tests::{Log, runtime};

struct Peer;

impl Actor for Peer {}

struct Link(AnyAddr);

impl Message for Link {
    type Reply = ();
}

impl Handler<Link> for Peer {
    fn handle(&mut self, link: Link, context: &mut Context<Self>) {
        context.link(&link.0);
    }
}

fn link_and_kill(ends: &Log<ExitReason>, round: usize) {
    let (a, b) = (spawn(Peer), spawn(Peer));
    for peer in [&a, &b] {
        let ends = ends.clone();
        peer.on_down(move |down| ends.push(down.reason));
    }
    a.send(Link(b.to_any())).unwrap();
    b.send(Link(a.to_any())).unwrap();
    match round % 3 {
        0 => a.kill().unwrap(),
        1 => {
            // After both have linked.
            drop(b.ask(Link(a.to_any())));
            drop(a.ask(Link(b.to_any())).then((), move |(), _| {
                let _ = b.kill();
            }));
        }
        _ => {
            let _ = (a.kill(), b.kill());
        }
    }
}

#[test]
fn two_that_link_each_other_at_once() {
    let runtime = runtime(4, &coact_tests::Faults::new());
    for round in 0..3_000 {
        let ends = Log::new();
        runtime.run(|| link_and_kill(&ends, round));
        let ends = ends.take();
        assert_eq!(ends.len(), 2, "{ends:?}");
        let is_expected = |end: &ExitReason| match end {
            ExitReason::Killed => true,
            ExitReason::Linked(_, why) => {
                matches!(**why, ExitReason::Killed | ExitReason::NoActor)
            }
            // One is killed, and no address of the other is left, linked or not.
            ExitReason::Normal => round % 3 < 2,
            _ => false,
        };
        assert!(ends.iter().all(is_expected), "{round}: {ends:?}");
    }
}

#[test]
fn two_that_link_each_other_under_every_scheduler() {
    use coact::sim::{Config, Method, Sim};
    for method in [Method::Random, Method::Pct { depth: 3 }] {
        Sim::new().workers(3).config(Config::new().method(method).runs(500)).check(|| {
            let (a, b) = (spawn(Peer), spawn(Peer));
            let both = [a.ask(Link(b.to_any())), b.ask(Link(a.to_any()))];
            for linked in both {
                linked.wait().unwrap();
            }
            let ends = (a.ended(), b.ended());
            a.kill().unwrap();
            assert_eq!(ends.0.wait(), Ok(ExitReason::Killed));
            assert!(matches!(ends.1.wait(), Ok(ExitReason::Linked(..))));
        });
    }
}
