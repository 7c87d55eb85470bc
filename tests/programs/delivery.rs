//! Messages and behaviours of any program: each comes once, in an order that agrees with the order
//! in which they were sent, to an actor that is alive; whatever signals come between.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::time::sleep;
use coact_tests::{Log, PATIENCE, side_by_side};
use proptest::prelude::*;

use crate::runs::{Program, config, everywhere};

const ACTORS: usize = 3;
const COWNS: usize = 2;

/// What a thread, a handler or a behaviour does.
#[derive(Clone, Debug)]
enum Op {
    Send {
        to: usize,
        holds: bool,
        body: Vec<Op>,
    },
    Ask {
        to: usize,
        holds: bool,
        body: Vec<Op>,
    },
    When {
        writes: Vec<usize>,
        reads: Vec<usize>,
        cowns: Vec<usize>,
        body: Vec<Op>,
    },
    Direct(usize, What),
    /// Drops the own address.
    Drop(usize),
}

#[derive(Clone, Copy, Debug)]
enum What {
    Restart,
    /// For a while.
    Suspend,
    Stop,
    Drain,
    Kill,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let what = prop_oneof![
        4 => Just(What::Restart),
        3 => Just(What::Suspend),
        1 => Just(What::Stop),
        1 => Just(What::Drain),
        1 => Just(What::Kill),
    ];
    let bare = prop_oneof![
        6 => (0..ACTORS, any::<bool>()).prop_map(|(to, holds)| Op::Send { to, holds, body: vec![] }),
        2 => (0..ACTORS, what).prop_map(|(to, what)| Op::Direct(to, what)),
        1 => (0..ACTORS).prop_map(Op::Drop),
    ];
    let op = bare.prop_recursive(3, 10, 3, |inner| {
        let body = prop::collection::vec(inner, 0..3);
        let hold = prop::bool::weighted(0.3);
        let members = prop::collection::btree_map(0..ACTORS, any::<bool>(), 0..=ACTORS);
        let cowns = prop::sample::subsequence((0..COWNS).collect::<Vec<_>>(), 0..=COWNS);
        let when = (members, cowns, body.clone()).prop_map(|(members, cowns, body)| {
            let part = |read| move |(of, is_read)| (is_read == read).then_some(of);
            let writes = members.clone().into_iter().filter_map(part(false)).collect();
            Op::When {
                writes,
                reads: members.into_iter().filter_map(part(true)).collect(),
                cowns,
                body,
            }
        });
        prop_oneof![
            2 => (0..ACTORS, hold, body.clone())
                .prop_map(|(to, holds, body)| Op::Send { to, holds, body }),
            1 => (0..ACTORS, hold, body).prop_map(|(to, holds, body)| Op::Ask { to, holds, body }),
            2 => when,
        ]
    });
    prop::collection::vec(op, 1..8)
}

/// What has happened, and when.
#[derive(Clone, Debug)]
enum Event {
    Spawned {
        id: u64,
        from: u64,
        set: Vec<Member>,
        is_alone: bool,
        is_ask: bool,
    },
    Began(u64),
    Ended(u64),
    /// Dropped without having come to its end.
    Dropped(u64),
    Answered(u64, Result<u64, AskError>),
    Hook(usize, &'static str),
    Down(usize, ExitReason),
    /// A send was refused, and the actor had not ended.
    RefusedByTheLiving,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Member {
    /// Actors first, then cowns.
    of: usize,
    read: bool,
}

/// What all of one run share.
#[derive(Default)]
struct World {
    clock: AtomicU64,
    ids: AtomicU64,
    events: Log<(u64, Event)>,
    live: AtomicI64,
    asks: Log<Ask<u64>>,
    /// Whether answers are waited for at the end, and not told when they come.
    keeps_asks: bool,
}

impl World {
    fn tick(&self) -> u64 {
        // Acquire and release, so that a smaller number also means "happens before".
        self.clock.fetch_add(1, Ordering::AcqRel)
    }

    fn note(&self, event: Event) {
        self.events.push((self.tick(), event));
    }
}

/// Counts itself.
struct Token(Arc<World>);

impl Token {
    fn new(world: &Arc<World>) -> Self {
        world.live.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(world))
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Worker {
    number: usize,
    token: Token,
}

impl Worker {
    fn note(&self, hook: &'static str) {
        self.token.0.note(Event::Hook(self.number, hook));
    }
}

impl Actor for Worker {
    fn started(&mut self, _: &mut Context<Self>) {
        self.note("started");
    }

    fn restarted(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.note("restarted");
    }

    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.note("stopped");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.note("dropped");
    }
}

/// One message, or the closure of one behaviour.
struct Item {
    id: u64,
    token: Token,
    has_ended: bool,
}

impl Item {
    fn begin(&self) {
        self.token.0.note(Event::Began(self.id));
    }

    fn end(mut self) -> u64 {
        self.token.0.note(Event::Ended(self.id));
        self.has_ended = true;
        self.id
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        if !self.has_ended {
            self.token.0.note(Event::Dropped(self.id));
        }
    }
}

struct Work {
    item: Item,
    job: Job,
    holds: bool,
}

impl Message for Work {
    type Reply = u64;
}

impl Receive<Work> for Worker {
    fn receive(&mut self, work: Work, reply: Reply<u64>, context: &mut Context<Self>) {
        let Work { item, mut job, holds } = work;
        item.begin();
        if !holds {
            job.run();
            return reply.send(item.end());
        }
        context.hold(reply, |_, _| {
            Box::pin(async move {
                let _ = sleep(Duration::from_micros(50)).await;
                job.run();
                item.end()
            })
        });
    }
}

/// Who spawns: with addresses of his own.
#[derive(Clone)]
struct Job {
    world: Arc<World>,
    actors: Vec<Option<Addr<Worker>>>,
    cowns: Arc<[Cown<u64>]>,
    body: Vec<Op>,
}

impl Job {
    fn run(&mut self) {
        for op in std::mem::take(&mut self.body) {
            self.perform(op);
        }
    }

    fn with(&self, body: Vec<Op>) -> Self {
        Self { body, ..self.clone() }
    }

    fn item(&self) -> Item {
        let id = self.world.ids.fetch_add(1, Ordering::Relaxed);
        Item { id, token: Token::new(&self.world), has_ended: false }
    }

    fn perform(&mut self, op: Op) {
        match op {
            Op::Send { to, holds, body } => self.deliver(to, holds, body, false),
            Op::Ask { to, holds, body } => self.deliver(to, holds, body, true),
            Op::When { writes, reads, cowns, body } => self.when(&writes, &reads, &cowns, body),
            Op::Direct(to, what) => self.direct(to, what),
            Op::Drop(of) => self.actors[of] = None,
        }
    }

    fn deliver(&self, to: usize, holds: bool, body: Vec<Op>, is_ask: bool) {
        let Some(actor) = &self.actors[to] else { return };
        let item = self.item();
        let (id, world) = (item.id, &self.world);
        let work = Work { item, job: self.with(body), holds };
        let set = vec![Member { of: to, read: false }];
        let from = world.tick();
        if is_ask {
            let ask = actor.ask(work);
            world.note(Event::Spawned { id, from, set, is_alone: true, is_ask });
            if world.keeps_asks {
                return world.asks.push(ask);
            }
            let far = Arc::clone(world);
            drop(ask.then((), move |(), answer| far.note(Event::Answered(id, answer))));
        } else if let Err(refused) = actor.send(work) {
            if !actor.has_ended() {
                world.note(Event::RefusedByTheLiving);
            }
            drop(refused);
        } else {
            world.note(Event::Spawned { id, from, set, is_alone: true, is_ask });
        }
    }

    fn when(&self, writes: &[usize], reads: &[usize], cowns: &[usize], body: Vec<Op>) {
        let named = |of: &[usize]| -> Vec<(usize, Addr<Worker>)> {
            of.iter().filter_map(|of| Some((*of, self.actors[*of].clone()?))).collect()
        };
        let (writes, reads) = (named(writes), named(reads));
        let member = |read| move |(of, _): &(usize, _)| Member { of: *of, read };
        let mut set: Vec<_> = writes.iter().map(member(false)).collect();
        set.extend(reads.iter().map(member(true)));
        set.extend(cowns.iter().map(|of| Member { of: ACTORS + of, read: false }));
        let is_alone = set.len() == 1;
        let addresses = |of: Vec<(usize, _)>| of.into_iter().map(|(_, it)| it).collect::<Vec<_>>();
        let (writes, reads) = (addresses(writes), addresses(reads));
        let cowns: Vec<_> = cowns.iter().map(|of| self.cowns[*of].clone()).collect();
        let (item, mut job) = (self.item(), self.with(body));
        let (id, world) = (item.id, &self.world);
        let run = move || {
            item.begin();
            job.run();
            item.end();
        };
        let from = world.tick();
        match (&writes[..], &reads[..], &cowns[..]) {
            ([actor], [], []) => when(actor, move |_| run()),
            ([], [actor], []) => when(actor.read(), move |_| run()),
            ([a, b], [], []) => when((a, b), move |_| run()),
            _ => when((&writes, read_all(&reads), &cowns), move |_| run()),
        }
        world.note(Event::Spawned { id, from, set, is_alone, is_ask: false });
    }

    fn direct(&self, to: usize, what: What) {
        let Some(actor) = &self.actors[to] else { return };
        let _ = match what {
            What::Restart => actor.restart(),
            What::Stop => actor.stop(),
            What::Drain => actor.drain(),
            What::Kill => actor.kill(),
            What::Suspend => {
                let suspended = actor.suspend();
                let actor = actor.clone();
                after(Duration::from_micros(100), (), move |()| {
                    let _ = actor.resume();
                });
                suspended
            }
        };
    }
}

/// A world with its actors, and what its threads do.
fn build(world: &Arc<World>, threads: &[Vec<Op>]) -> Vec<Job> {
    let actors: Vec<_> = (0..ACTORS).map(|number| Some(spawn_worker(world, number))).collect();
    let cowns: Arc<[_]> = (0..COWNS).map(|_| Cown::new(0)).collect();
    let job = |body: &Vec<Op>| Job {
        world: Arc::clone(world),
        actors: actors.clone(),
        cowns: Arc::clone(&cowns),
        body: body.clone(),
    };
    threads.iter().map(job).collect()
}

fn spawn_worker(world: &Arc<World>, number: usize) -> Addr<Worker> {
    let make = {
        let world = Arc::clone(world);
        move || Worker { number, token: Token::new(&world) }
    };
    let worker = actor(make()).restartable(make).spawn();
    let world = Arc::clone(world);
    worker.on_down(move |down| world.note(Event::Down(number, down.reason)));
    worker
}

/// What has happened to an item, and when.
#[derive(Clone, Debug, Default)]
struct History {
    /// When it was spawned: before this, and after that.
    from: u64,
    until: u64,
    set: Vec<Member>,
    is_alone: bool,
    is_ask: bool,
    began: Vec<u64>,
    ended: Vec<u64>,
    dropped: Vec<u64>,
    answers: Vec<Result<u64, AskError>>,
}

fn histories(events: &[(u64, Event)], items: u64) -> Vec<History> {
    let mut histories = vec![History::default(); items as usize];
    for (at, event) in events {
        match event.clone() {
            Event::Spawned { id, from, set, is_alone, is_ask } => {
                let item = &mut histories[id as usize];
                (item.from, item.until, item.set) = (from, *at, set);
                (item.is_alone, item.is_ask) = (is_alone, is_ask);
            }
            Event::Began(id) => histories[id as usize].began.push(*at),
            Event::Ended(id) => histories[id as usize].ended.push(*at),
            Event::Dropped(id) => histories[id as usize].dropped.push(*at),
            Event::Answered(id, answer) => histories[id as usize].answers.push(answer),
            Event::Hook(..) | Event::Down(..) | Event::RefusedByTheLiving => {}
        }
    }
    histories
}

/// When each actor has ended, and why. It has when its last state is dropped; that is told behind
/// what it has left.
fn ends(events: &[(u64, Event)]) -> Vec<(usize, u64, ExitReason)> {
    let dropped = |actor| {
        let is_drop = |(_, event): &&(u64, Event)| matches!(event, Event::Hook(of, "dropped") if *of == actor);
        events.iter().rfind(is_drop).map(|(at, _)| *at)
    };
    let end = |(at, event): &(u64, Event)| match event {
        Event::Down(of, reason) => Some((*of, dropped(*of).unwrap_or(*at), reason.clone())),
        _ => None,
    };
    events.iter().filter_map(end).collect()
}

fn check(world: &World) -> Result<(), String> {
    let mut events = world.events.take();
    events.sort_by_key(|(at, _)| *at);
    let live = world.live.load(Ordering::Relaxed);
    let verdict = check_events(&events, world.ids.load(Ordering::Relaxed))
        .and_then(|()| if live == 0 { Ok(()) } else { Err(format!("{live} objects are left")) });
    verdict.map_err(|why| format!("{why}\n{events:?}"))
}

fn check_events(events: &[(u64, Event)], items: u64) -> Result<(), String> {
    let (histories, ends) = (histories(events, items), ends(events));
    for number in 0..ACTORS {
        let count = ends.iter().filter(|(of, ..)| *of == number).count();
        if count != 1 {
            return Err(format!("actor {number} has ended {count} times"));
        }
        check_actor(number, events, &histories)?;
    }
    if let Some((_, event)) =
        events.iter().find(|(_, event)| matches!(event, Event::RefusedByTheLiving))
    {
        return Err(format!("{event:?}"));
    }
    for (id, item) in histories.iter().enumerate() {
        check_item(item, &ends).map_err(|why| format!("item {id}: {why}: {item:?}"))?;
    }
    check_order(&histories)
}

/// Each item is handled once, or the actor had ended; an ask tells which.
fn check_item(item: &History, ends: &[(usize, u64, ExitReason)]) -> Result<(), String> {
    let counts = (item.began.len(), item.ended.len(), item.dropped.len());
    if !matches!(counts, (1, 1, 0) | (0 | 1, 0, 1)) {
        return Err(format!("has happened {counts:?} times"));
    }
    // Given back by `send`.
    if item.until == 0 {
        return if counts.0 == 0 { Ok(()) } else { Err("was refused and handled".into()) };
    }
    if counts == (0, 0, 1) {
        let end = ends.iter().find(|(of, at, _)| {
            // An ask may be refused while the actor is ending: `send` reports that.
            let is_refused = item.is_ask && item.dropped[0] < item.until;
            (is_refused || *at < item.dropped[0]) && item.set.iter().any(|member| member.of == *of)
        });
        match end {
            None => return Err("was lost".into()),
            Some((.., ExitReason::Normal)) if item.is_alone => {
                return Err("was not handled before the last address's end".into());
            }
            Some(_) => {}
        }
    }
    match &item.answers[..] {
        [] if !item.is_ask => Ok(()),
        [Ok(_)] if counts == (1, 1, 0) => Ok(()),
        [Err(AskError::Stopped(_))] if counts == (0, 0, 1) => Ok(()),
        // What held its actor was dropped: by a restart, or by the actor's end.
        [Err(AskError::NoReply)] if counts == (1, 0, 1) => Ok(()),
        [Err(AskError::Stopped(why))]
            if counts == (1, 0, 1)
                && ends.iter().any(|(of, _, end)| item.set[0].of == *of && end == why) =>
        {
            Ok(())
        }
        answers => Err(format!("was answered with {answers:?}")),
    }
}

/// What was sent before is handled before.
fn check_order(histories: &[History]) -> Result<(), String> {
    let conflict = |one: &History, other: &History| {
        one.set.iter().any(|a| other.set.iter().any(|b| a.of == b.of && !(a.read && b.read)))
    };
    for first in histories.iter().filter(|item| item.until > 0) {
        for second in histories.iter().filter(|second| second.from > first.until) {
            if !conflict(first, second) || second.began.is_empty() {
                continue;
            }
            let end = first.ended.iter().chain(&first.dropped).max();
            let is_lost = first.began.is_empty() && first.is_alone;
            if is_lost || (!first.began.is_empty() && end > second.began.first()) {
                return Err(format!("out of order: {first:?} and {second:?}"));
            }
        }
    }
    Ok(())
}

/// The hooks of one actor in their order, and everything else between them.
fn check_actor(
    number: usize,
    events: &[(u64, Event)],
    histories: &[History],
) -> Result<(), String> {
    // What is cut may still wait to hold the actor: it is dropped with the actor's state.
    let is_whole = |item: &&History| !item.ended.is_empty();
    let member = |id: u64| histories[id as usize].set.iter().find(|member| member.of == number);
    let whole = |id: u64| member(id).filter(|_| is_whole(&&histories[id as usize]));
    let (mut state, mut writers, mut readers) = ("fresh", 0, 0);
    for (at, event) in events {
        let was = state;
        let fail = |why: &str| Err(format!("actor {number}, {at}: {why} while it is {was}"));
        match event {
            Event::Hook(of, hook) if *of == number => {
                state = match (state, *hook) {
                    ("fresh", "started") | ("replaced", "restarted") => "alive",
                    ("alive", "stopped") => "stopped",
                    ("stopped" | "alive", "dropped") => "replaced",
                    _ => return fail(hook),
                };
                if writers + readers > 0 {
                    return fail("a hook in the middle of an item");
                }
            }
            Event::Down(of, _) if *of == number => {
                if state != "replaced" {
                    return fail("down");
                }
                state = "gone";
            }
            Event::Began(id) if member(*id).is_some() && state != "alive" => {
                return fail("an item");
            }
            Event::Began(id) => match whole(*id) {
                Some(member) if member.read => readers += 1,
                Some(_) => writers += 1,
                None => {}
            },
            Event::Ended(id) => match whole(*id) {
                Some(member) if member.read => readers -= 1,
                Some(_) => writers -= 1,
                None => {}
            },
            _ => {}
        }
        if writers > 1 || (writers == 1 && readers > 0) {
            return fail("two items at a time");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn each_comes_once_and_in_order(
        threads in prop::collection::vec(ops(), 1..4),
        seed in any::<u32>(),
    ) {
        everywhere(u64::from(seed), move || {
            let world = Arc::new(World::default());
            let jobs = build(&world, &threads);
            let threads = jobs
                .into_iter()
                .map(|mut job| Box::new(move || job.run()) as Box<dyn FnOnce() + Send>)
                .collect();
            Program { threads, verdict: Box::new(move || check(&world)) }
        })?;
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// A shutdown in the middle drops everything once, and every ask ends.
    #[test]
    fn a_shutdown_drops_what_is_left(
        threads in prop::collection::vec(ops(), 1..4),
        deadline in 0u64..300,
    ) {
        let world = Arc::new(World { keeps_asks: true, ..World::default() });
        let runtime = Runtime::builder().workers(2).panic_hook(|_| ()).build().unwrap();
        let jobs = {
            let _entered = runtime.enter();
            build(&world, &threads)
        };
        let home = &runtime;
        side_by_side(jobs.into_iter().map(|mut job| {
            move || {
                let _entered = home.enter();
                job.run();
            }
        }));
        let report = runtime.shutdown(Duration::from_micros(deadline));
        prop_assert_eq!(report.stuck_workers, 0);
        for ask in world.asks.take() {
            let answer = ask.timeout(PATIENCE).wait();
            prop_assert!(!matches!(answer, Err(AskError::Timeout(_))), "an ask goes on");
        }
        let events = world.events.take();
        for (id, item) in histories(&events, world.ids.load(Ordering::Relaxed)).iter().enumerate() {
            let ends = item.ended.len() + item.dropped.len();
            prop_assert_eq!((ends, item.began.len() <= 1), (1, true), "item {}: {:?}", id, item);
        }
        prop_assert_eq!(world.live.load(Ordering::Relaxed), 0, "{:#?}", events);
    }
}
