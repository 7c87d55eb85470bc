//! How the programs are run, and what they share.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use coact::Context;
use coact::actor::{Down, Exited};
use coact::prelude::*;
use coact::runtime::spawn_future;
use coact::sim::{self, Config, Method, Sim};
use coact::system::System;
use coact::time::sleep;
use coact_tests::{Log, PATIENCE};

/// More workers than there are cores as well, since then one may be preempted anywhere.
const WORKERS: [usize; 3] = [1, 2, 8];

thread_local! {
    /// Whether the thread simulates all others.
    static SIMULATED: Cell<bool> = const { Cell::new(false) };
}

/// How often a program runs with each number of workers.
const REPEATS: usize = 3;

/// Runs a program, which may wait for promises, and then what is to be true when nothing is left to
/// do.
pub fn everywhere<R: 'static>(program: fn() -> R, verdict: fn(R)) {
    for workers in WORKERS {
        for _ in 0..REPEATS {
            run(workers, program, verdict);
        }
    }
    // A sanitizer does not know of fibers.
    if std::env::var_os("COACT_TEST_SIMULATED").is_some_and(|value| value == "0") {
        return;
    }
    for method in [Method::Random, Method::Pct { depth: 3 }] {
        let sim = Sim::new().workers(3).config(Config::new().method(method).runs(20));
        SIMULATED.set(true);
        sim.allow_faults(true).check(move || run(2, program, verdict));
        SIMULATED.set(false);
    }
}

/// As [`everywhere`], for a program that says all itself.
pub fn check(program: fn()) {
    everywhere(program, |()| ());
}

fn run<R>(workers: usize, program: fn() -> R, verdict: fn(R)) {
    let system = System::builder().workers(workers).main(|main| main.panic_hook(|_| ()));
    let system = system.dispatcher("side", |side| side.workers(1)).build().unwrap();
    let result = system.run(program);
    verdict(result);
    // What the verdict has dropped may end.
    system.wait_idle();
    let report = system.shutdown(PATIENCE);
    assert!(report.is_complete(), "{report}");
}

/// Whether this is a simulation, where large numbers only take time.
pub fn of_many(natively: usize, simulated: usize) -> usize {
    if SIMULATED.get() { simulated } else { natively }
}

/// Does something on a thread that is none of the runtime's.
pub fn outside(work: impl FnOnce() + Send + 'static) {
    if SIMULATED.get() {
        drop(sim::thread(work));
    } else {
        drop(std::thread::spawn(work));
    }
}

/// Lets time pass.
pub fn pass(time: Duration) {
    drop(spawn_future(async move { sleep(time).await }).wait());
}

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Counts those of its kind that are alive.
#[derive(Clone, Default)]
pub struct Count(Arc<AtomicUsize>);

/// One that is counted.
pub struct Counted(Count);

impl Count {
    pub fn one(&self) -> Counted {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self.clone())
    }

    pub fn now(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Does what its messages say, and keeps a log.
pub struct Doer {
    pub log: Log<String>,
}

impl Doer {
    pub fn new() -> (Self, Log<String>) {
        let log = Log::new();
        (Self { log: log.clone() }, log)
    }

    pub fn spawn() -> (Addr<Self>, Log<String>) {
        let (doer, log) = Self::new();
        (spawn(doer), log)
    }
}

impl Actor for Doer {
    fn started(&mut self, _: &mut Context<Self>) {
        self.log.push("started".into());
    }

    fn restarted(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.log.push("restarted".into());
    }

    fn stopped(&mut self, reason: &ExitReason, _: &mut Context<Self>) {
        self.log.push(format!("stopped: {reason}"));
    }
}

/// A closure as a message.
pub struct Do<F>(pub F);

impl<F, R> Message for Do<F>
where
    F: FnOnce(&mut Doer, &mut Context<Doer>) -> R + Send + 'static,
    R: Send + 'static,
{
    type Reply = ();
}

impl<F, R> Handler<Do<F>> for Doer
where
    F: FnOnce(&mut Doer, &mut Context<Doer>) -> R + Send + 'static,
    R: Send + 'static,
{
    fn handle(&mut self, work: Do<F>, context: &mut Context<Self>) {
        (work.0)(self, context);
    }
}

/// A word, which is written down; the answer is how many there are.
#[derive(Clone)]
pub struct Say(pub &'static str);

impl Message for Say {
    type Reply = usize;
}

impl Handler<Say> for Doer {
    fn handle(&mut self, word: Say, _: &mut Context<Self>) -> usize {
        self.log.push(word.0.into());
        self.log.len()
    }
}

impl Handler<Down> for Doer {
    fn handle(&mut self, down: Down, _: &mut Context<Self>) {
        self.log.push(format!("down: {}", down.reason));
    }
}

impl Handler<Exited> for Doer {
    fn handle(&mut self, exited: Exited, _: &mut Context<Self>) {
        self.log.push(format!("exited: {}", exited.reason));
    }
}

/// Has an actor do something.
#[track_caller]
pub fn tell<F>(doer: &Addr<Doer>, work: F)
where
    F: FnOnce(&mut Doer, &mut Context<Doer>) + Send + 'static,
{
    doer.send(Do(work)).expect("it is alive");
}

/// A way to end an actor, and the reason that comes of it.
pub type WayToEnd = (fn(&Addr<Doer>), ExitReason);

/// Has an actor held by a future that never ends; returns when it is.
pub fn hold_for_ever(doer: &Addr<Doer>) -> Ask<u64> {
    let (resolver, held) = Promise::channel();
    let ask = doer.ask(Question(move |reply, context: &mut Context<Doer>| {
        context.hold(reply, |_, _| {
            Box::pin(async {
                resolver.resolve(());
                std::future::pending().await
            })
        });
    }));
    held.wait().expect("it is held");
    ask
}

/// A question with a reply to keep.
pub struct Question<F>(pub F);

impl<F> Message for Question<F>
where
    F: FnOnce(Reply<u64>, &mut Context<Doer>) + Send + 'static,
{
    type Reply = u64;
}

impl<F> Receive<Question<F>> for Doer
where
    F: FnOnce(Reply<u64>, &mut Context<Doer>) + Send + 'static,
{
    fn receive(&mut self, question: Question<F>, reply: Reply<u64>, context: &mut Context<Self>) {
        (question.0)(reply, context);
    }
}

impl Counted {
    pub fn another(&self) -> Self {
        self.0.one()
    }
}
