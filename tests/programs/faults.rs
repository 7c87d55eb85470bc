//! Panics anywhere: nothing waits for ever, no worker dies, each actor ends once, nothing is left.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context as TaskContext, Wake, Waker};
use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::time::sleep;
use coact_tests::{Log, fail};
use proptest::prelude::*;

use crate::runs::{Program, config, everywhere};

/// Where something panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    Handler,
    Message,
    Answer,
    Held,
    HeldLater,
    HeldDrop,
    Detached,
    Then,
    Behaviour,
    Waker,
    Monitor,
    Undone,
    Nowhere,
}

const POINTS: [Point; 13] = [
    Point::Handler,
    Point::Message,
    Point::Answer,
    Point::Held,
    Point::HeldLater,
    Point::HeldDrop,
    Point::Detached,
    Point::Then,
    Point::Behaviour,
    Point::Waker,
    Point::Monitor,
    Point::Undone,
    Point::Nowhere,
];

/// Which hooks and destructors of each life of an actor panic.
#[derive(Clone, Copy, Debug, Default)]
struct Frail {
    started: bool,
    restarted: bool,
    stopped: bool,
    dropped: bool,
    factory: bool,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Restart,
    Stop,
    Kill,
    Suspend,
    Nothing,
}

#[derive(Clone, Debug)]
struct Script {
    frail: Frail,
    steps: Vec<(Point, End)>,
}

fn script() -> impl Strategy<Value = Script> {
    let flag = || prop::bool::weighted(0.2);
    let frail = (flag(), flag(), flag(), flag(), flag()).prop_map(
        |(started, restarted, stopped, dropped, factory)| Frail {
            started,
            restarted,
            stopped,
            dropped,
            factory,
        },
    );
    let end = prop_oneof![
        2 => Just(End::Restart),
        1 => Just(End::Stop),
        1 => Just(End::Kill),
        1 => Just(End::Suspend),
        6 => Just(End::Nothing),
    ];
    let steps = prop::collection::vec((prop::sample::select(&POINTS[..]), end), 1..8);
    (frail, steps).prop_map(|(frail, steps)| Script { frail, steps })
}

/// What all of one run share.
#[derive(Clone, Default)]
struct World {
    live: Arc<AtomicI64>,
    downs: Log<(usize, ExitReason)>,
    answers: Log<Result<(), AskError>>,
    /// By actor: the hooks in their order.
    hooks: Log<(usize, &'static str)>,
}

/// Counts itself, and may panic when it is dropped.
struct Token {
    live: Arc<AtomicI64>,
    is_mine: bool,
}

impl World {
    fn token(&self, is_mine: bool) -> Token {
        self.live.fetch_add(1, Ordering::Relaxed);
        Token { live: Arc::clone(&self.live), is_mine }
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.live.fetch_sub(1, Ordering::Relaxed);
        // A second panic while one unwinds would end the process, by Rust's own rules.
        if self.is_mine && !std::thread::panicking() {
            fail("a destructor");
        }
    }
}

struct Victim {
    number: usize,
    frail: Frail,
    world: World,
    _token: Token,
}

impl Victim {
    fn hook(&self, name: &'static str, panics: bool) {
        self.world.hooks.push((self.number, name));
        if panics {
            fail(name);
        }
    }
}

impl Actor for Victim {
    fn started(&mut self, _: &mut Context<Self>) {
        self.hook("started", self.frail.started);
    }

    fn restarted(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.hook("restarted", self.frail.restarted);
    }

    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.hook("stopped", self.frail.stopped);
    }
}

struct Hit {
    point: Point,
    _token: Token,
}

impl Message for Hit {
    type Reply = Token;
}

impl Receive<Hit> for Victim {
    fn receive(&mut self, hit: Hit, reply: Reply<Token>, context: &mut Context<Self>) {
        let (point, world) = (hit.point, self.world.clone());
        match point {
            Point::Handler => fail("a handler"),
            Point::Held | Point::HeldLater | Point::HeldDrop => context.hold(reply, move |_, _| {
                let mine = world.token(point == Point::HeldDrop);
                Box::pin(async move {
                    if point != Point::Held {
                        let _ = sleep(Duration::from_micros(50)).await;
                    }
                    if point != Point::HeldDrop {
                        fail("a held future");
                    }
                    // Before there is an answer: the compiler would leak one that is in the way.
                    drop(mine);
                    world.token(false)
                })
            }),
            Point::Detached => context.detach(reply, async move {
                let _kept = world.token(false);
                let _ = sleep(Duration::from_micros(20)).await;
                fail("a detached future")
            }),
            Point::Then => {
                let kept = world.token(true);
                context.spawn(async {}, move |_, (), _| {
                    let _kept = kept;
                    fail("a closure");
                });
                reply.send(world.token(false));
            }
            _ => reply.send(world.token(point == Point::Answer)),
        }
    }
}

/// A waker that panics.
struct Rude;

impl Wake for Rude {
    fn wake(self: Arc<Self>) {
        fail("a waker");
    }
}

fn spawn_victim(world: &World, number: usize, frail: Frail) -> Addr<Victim> {
    let make = {
        let world = world.clone();
        move || Victim { number, frail, world: world.clone(), _token: world.token(frail.dropped) }
    };
    let (first, mine) = (make(), world.token(frail.factory));
    let victim = actor(first)
        .restartable(move || {
            let _ = &mine;
            make()
        })
        .spawn();
    let downs = world.downs.clone();
    victim.on_down(move |down| downs.push((number, down.reason)));
    victim
}

fn perform(world: &World, victim: &Addr<Victim>, other: &Addr<Victim>, (point, end): (Point, End)) {
    match point {
        Point::Behaviour => when((victim, other), |_| fail("a behaviour")),
        Point::Monitor => {
            let mine = world.token(true);
            victim.on_down(move |_| {
                let _mine = mine;
                fail("a monitor");
            });
        }
        Point::Undone => {
            let mine = world.token(true);
            let monitor = victim.on_down(move |_| drop(mine));
            victim.cancel_on_down(monitor);
        }
        Point::Waker => {
            let mut ask = victim.ask(Hit { point, _token: world.token(false) });
            let waker = Waker::from(Arc::new(Rude));
            // Whether it is ready or not: no one looks again.
            let _ = std::pin::Pin::new(&mut ask).poll(&mut TaskContext::from_waker(&waker));
        }
        _ => {
            let hit = Hit { point, _token: world.token(point == Point::Message) };
            let answers = world.answers.clone();
            // One that has ended drops the message here.
            match catch_unwind(AssertUnwindSafe(|| victim.ask(hit))) {
                Ok(ask) => {
                    drop(ask.then((), move |(), answer| answers.push(answer.map(drop_token))))
                }
                Err(_) => answers.push(Err(AskError::NoReply)),
            }
        }
    }
    let _ = match end {
        End::Restart => victim.restart(),
        End::Stop => victim.stop(),
        End::Kill => victim.kill(),
        End::Suspend => {
            let suspended = victim.suspend();
            let victim = victim.clone();
            after(Duration::from_micros(80), (), move |()| {
                let _ = victim.resume();
            });
            suspended
        }
        End::Nothing => Ok(()),
    };
}

/// The answer's own destructor may panic.
fn drop_token(token: Token) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(token)));
}

fn check(world: &World, scripts: &[Script]) -> Result<(), String> {
    let (downs, hooks, answers) = (world.downs.take(), world.hooks.take(), world.answers.take());
    let told = format!("{downs:?} {hooks:?} {answers:?}");
    for (number, script) in scripts.iter().enumerate() {
        let reasons: Vec<_> = downs.iter().filter(|(of, _)| *of == number).collect();
        let mine: Vec<_> =
            hooks.iter().filter(|(of, _)| *of == number).map(|(_, it)| *it).collect();
        if reasons.len() != 1 {
            return Err(format!("actor {number} has ended {} times: {told}", reasons.len()));
        }
        if script.frail.started {
            let panicked = ExitReason::Panicked("started".into());
            if mine != ["started", "stopped"] || reasons[0].1 != panicked {
                return Err(format!("actor {number} did not fail at its start: {told}"));
            }
        }
        // One start, then `stopped` before each restart.
        let in_order = |(index, hook): (usize, &&str)| match *hook {
            "started" => index == 0,
            "restarted" => mine[index - 1] == "stopped",
            _ => mine[index - 1] != "stopped",
        };
        if mine.is_empty() || !mine.iter().enumerate().all(in_order) {
            return Err(format!("the hooks of actor {number}: {told}"));
        }
    }
    let no_message = [Point::Behaviour, Point::Monitor, Point::Undone, Point::Waker];
    let asks = scripts.iter().flat_map(|script| &script.steps);
    let asks = asks.filter(|(point, _)| !no_message.contains(point)).count();
    if answers.len() != asks {
        return Err(format!("{} of {asks} asks have ended: {told}", answers.len()));
    }
    match world.live.load(Ordering::Relaxed) {
        0 => Ok(()),
        live => Err(format!("{live} objects are left: {told}")),
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn panics_stay_where_they_are(
        scripts in prop::collection::vec(script(), 2..4),
        seed in any::<u32>(),
    ) {
        everywhere(u64::from(seed), move || {
            let world = World::default();
            let victims: Vec<_> = scripts
                .iter()
                .enumerate()
                .map(|(number, script)| spawn_victim(&world, number, script.frail))
                .collect();
            let threads = scripts
                .iter()
                .enumerate()
                .map(|(number, script)| {
                    let (world, victim) = (world.clone(), victims[number].clone());
                    let other = victims[(number + 1) % victims.len()].clone();
                    let steps = script.steps.clone();
                    Box::new(move || {
                        for step in steps {
                            perform(&world, &victim, &other, step);
                        }
                    }) as Box<dyn FnOnce() + Send>
                })
                .collect();
            let scripts = scripts.clone();
            Program { threads, verdict: Box::new(move || check(&world, &scripts)) }
        })?;
    }
}
