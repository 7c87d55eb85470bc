//! Memory returns to its baseline after everything has been used. Alone in its process: the pool
//! counts the blocks of all runtimes.

use std::thread;
use std::time::{Duration, Instant};

use coact::Context;
use coact::actor::Down;
use coact::internals::SHARES_CODE;
use coact::prelude::*;
use coact_sync::pool;
use coact_tests::{Bank, Dice, Faults, PATIENCE, runtime};

/// What is in use; what ended threads had is counted as free.
fn outstanding() -> usize {
    pool::flush_thread();
    pool::stats().outstanding_blocks
}

/// Waits for the threads of timers and jobs, which a shutdown tells to end and does not wait for:
/// the free blocks that they keep look as if they were in use.
#[track_caller]
fn assert_outstanding(expected: usize, when: &str) {
    let until = Instant::now() + PATIENCE;
    while outstanding() != expected && Instant::now() < until {
        thread::yield_now();
    }
    assert_eq!(outstanding(), expected, "{when}");
}

/// One runtime from its making to its end, with all kinds of work.
fn life(seed: u64, end: impl FnOnce(Runtime)) {
    let runtime = runtime(3, &Faults::new());
    let bank = runtime.run(|| {
        let bank = Bank::new(7);
        let mut dice = Dice::new(seed);
        (0..500).for_each(|_| bank.work(&mut dice));
        bank
    });
    let entered = runtime.enter();
    let mut dice = Dice::new(seed + 1);
    (0..200).for_each(|_| bank.work(&mut dice));
    let cown = Cown::new(1);
    drop(Batch::new().when(&cown, |n| *n = 2));
    drop(try_when((&cown, &cown), |_| ()));
    drop(Promise::<u8>::channel());
    let weak = cown.downgrade();
    drop(cown);
    assert!(weak.upgrade().is_none());
    drop(entered);
    end(runtime);
}

/// The baseline: what is in use once the figure does not fall any more.
fn lowest() -> usize {
    let until = Instant::now() + Duration::from_millis(200);
    let mut lowest = outstanding();
    while Instant::now() < until {
        lowest = lowest.min(outstanding());
        thread::yield_now();
    }
    lowest
}

/// One test, so that nothing runs beside it.
#[test]
fn nothing_is_left() {
    // What is made once for a process.
    life(0, |runtime| runtime.wait_idle());
    let before = lowest();
    for seed in 1..6 {
        life(seed, |runtime| assert!(runtime.shutdown(Duration::from_secs(20)).is_complete()));
        assert_outstanding(before, "after a complete shutdown");
        life(seed, drop);
        assert_outstanding(before, "after a shutdown past its deadline");
    }

    // The figure can tell: one block for each cown, and one more for each behaviour, beside that of
    // its closure where closures share code.
    let runtime = runtime(1, &Faults::new());
    let cowns = runtime.run(|| (0..10).map(|_| Cown::new(0)).collect::<Vec<_>>());
    assert_eq!(outstanding(), before + 10);
    let kept = Batch::new().when((&cowns[0], &cowns[1]), |_| ());
    assert_eq!(outstanding(), before + 11 + usize::from(SHARES_CODE));
    drop((kept, cowns));
    assert_eq!(outstanding(), before);
    drop(runtime);
    those_who_watched_are_forgotten();
}

/// Watches another one from its beginning on.
struct Client(Addr<Server>);

struct Server;

impl Actor for Server {}

impl Actor for Client {
    fn started(&mut self, context: &mut Context<Self>) {
        context.monitor(&self.0);
    }
}

impl Handler<Down> for Client {
    fn handle(&mut self, _: Down, _: &mut Context<Self>) {}
}

/// An actor that lives on keeps nothing of those who wanted to be told of its end, and are gone.
fn those_who_watched_are_forgotten() {
    const MANY: usize = 1_000;
    let runtime = runtime(1, &Faults::new());
    let server = runtime.run(|| {
        let server = spawn(Server);
        // What is made once.
        drop(spawn(Client(server.clone())));
        server
    });
    let before = lowest();

    runtime.run(|| {
        let clients: Vec<_> = (0..MANY).map(|_| spawn(Client(server.clone()))).collect();
        clients.into_iter().skip(1).for_each(|client| assert_eq!(client.kill(), Ok(())));
    });
    assert_outstanding(before, "of clients that have ended, killed or not");

    runtime.run(|| {
        let watches = |client: &mut Client, context: &mut Context<Client>| {
            let monitor = context.monitor(&client.0);
            context.demonitor(monitor);
        };
        let client = spawn(Client(server.clone()));
        (0..MANY).for_each(|_| client.send(Do(watches)).unwrap());
    });
    assert_outstanding(before, "of monitors that were taken back");

    // A promise that is dropped is seen when others come.
    const FEW: usize = 8;
    for _ in 0..MANY {
        assert!(server.ended().wait_timeout(Duration::ZERO).is_err());
    }
    runtime.wait_idle();
    assert!(outstanding() <= before + FEW, "of promises, dropped one by one");
    drop((0..MANY).map(|_| server.ended()).collect::<Vec<_>>());
    runtime.wait_idle();
    (0..MANY).for_each(|_| drop(server.ended()));
    runtime.wait_idle();
    assert!(outstanding() <= before + FEW, "of promises, dropped all at once");

    runtime.run(|| drop(server));
}

/// Calls something with the actor.
struct Do<F>(F);

impl<F: Send + 'static> Message for Do<F> {
    type Reply = ();
}

impl<F: FnOnce(&mut Client, &mut Context<Client>) + Send + 'static> Handler<Do<F>> for Client {
    fn handle(&mut self, Do(work): Do<F>, context: &mut Context<Self>) {
        work(self, context);
    }
}
