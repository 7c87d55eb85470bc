//! Where actors run: the same programs on every host, then what is particular about each.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use coact::Context;
use coact::actor::{ActorId, SendActor};
use coact::prelude::*;
use coact::runtime::RuntimeHandle;
use coact::sim::{Config, Sim};
use coact::system::{Host, System, SystemError, UnknownDispatcher, dispatcher};
use coact::time::sleep;
use coact_tests::{Log, Meeting, PATIENCE};

use crate::world::{Bomb, Diary, Do, Enough, Note};

/// Where a program puts its actors: the host under test.
#[derive(Clone, Copy)]
pub enum Place {
    Spawner,
    Workers,
    Dispatcher,
    Detached,
    Blocking,
    Caller,
    CallerForOne,
    Pump(RuntimeHandle),
}

const PLACES: [Place; 7] = [
    Place::Spawner,
    Place::Workers,
    Place::Dispatcher,
    Place::Detached,
    Place::Blocking,
    Place::Caller,
    Place::CallerForOne,
];

impl Place {
    /// `None` if none is to be given.
    pub fn host(self) -> Option<Host> {
        Some(match self {
            Place::Spawner => return None,
            Place::Workers => Host::workers(),
            Place::Dispatcher => dispatcher("side").unwrap().into(),
            Place::Detached => Host::detached(),
            Place::Blocking => Host::blocking(),
            Place::Caller => Host::caller(),
            Place::CallerForOne => Host::caller_for(1),
            Place::Pump(home) => home.into(),
        })
    }

    fn put<A: SendActor>(self, actor: coact::actor::Spawn<A>) -> coact::actor::Spawn<A> {
        match self.host() {
            None => actor,
            Some(host) => actor.on(host),
        }
    }

    fn spawn<A: SendActor>(self, state: A) -> Addr<A> {
        self.put(actor(state)).spawn()
    }
}

pub fn system() -> System {
    System::builder()
        .workers(2)
        .main(|main| main.panic_hook(|_| ()))
        .dispatcher("side", |d| d.workers(1).throughput(3))
        .build()
        .unwrap()
}

/// Runs a program, which may wait for promises, with its actors on every host; on real threads and
/// in simulations.
pub fn everywhere(program: fn(Place)) {
    for place in PLACES {
        for _ in 0..5 {
            let system = system();
            system.run(|| program(place));
            let report = system.shutdown(PATIENCE);
            assert!(report.is_complete(), "{report}");
        }
        let sim = Sim::new().config(Config::new().runs(25)).allow_faults(true);
        sim.check(move || {
            let system = system();
            system.run(|| program(place));
        });
    }
    on_a_pump(program);
}

/// Another thread runs the program; this one pumps.
fn on_a_pump(program: fn(Place)) {
    let system = system();
    let pump = Runtime::builder().grouped_with(system.runtime()).build_pumped().unwrap();
    let home = pump.runtime();
    thread::scope(|scope| {
        let main = scope.spawn(|| {
            let _entered = system.enter();
            program(Place::Pump(home));
        });
        while !main.is_finished() {
            pump.run_future(pump.runtime().sleep(Duration::from_millis(1))).unwrap();
        }
    });
    pump.run_until_idle(&[system.runtime(), system.dispatcher("side").unwrap()]);
}

/// Sends numbers to another actor.
struct Source(Addr<Sink>, u32);

impl Actor for Source {}

struct Go(u32);

impl Message for Go {
    type Reply = ();
}

impl Handler<Go> for Source {
    fn handle(&mut self, Go(count): Go, context: &mut Context<Self>) {
        for _ in 0..count.min(4) {
            self.0.send(Numbered(context.id(), self.1)).unwrap();
            self.1 += 1;
        }
        if count > 4 {
            context.address().send(Go(count - 4)).unwrap();
        }
    }
}

/// Takes numbers, each sender's in order.
#[derive(Default)]
struct Sink {
    next: Vec<(ActorId, u32)>,
    count: usize,
}

impl Actor for Sink {}

struct Numbered(ActorId, u32);

impl Message for Numbered {
    type Reply = ();
}

impl Handler<Numbered> for Sink {
    fn handle(&mut self, Numbered(from, number): Numbered, _: &mut Context<Self>) {
        self.count += 1;
        match self.next.iter_mut().find(|(sender, _)| *sender == from) {
            Some((_, next)) => {
                assert_eq!(*next, number, "out of order");
                *next += 1;
            }
            None => {
                assert_eq!(number, 0, "out of order");
                self.next.push((from, 1));
            }
        }
    }
}

struct Count;

impl Message for Count {
    type Reply = usize;
}

impl Handler<Count> for Sink {
    fn handle(&mut self, _: Count, _: &mut Context<Self>) -> usize {
        self.count
    }
}

#[test]
fn each_senders_messages_come_in_order() {
    everywhere(|place| {
        let sink = place.spawn(Sink::default());
        let sources = [
            spawn(Source(sink.clone(), 0)),
            place.spawn(Source(sink.clone(), 0)),
            actor(Source(sink.clone(), 0)).on(Host::caller_for(2)).spawn(),
        ];
        for source in &sources {
            source.send(Go(20)).unwrap();
        }
        for source in sources {
            // What it has left to itself comes in one piece with its end.
            while call(&source, |source| source.1).wait() != Ok(20) {}
        }
        assert_eq!(sink.ask(Count).wait(), Ok(60));
    });
}

#[test]
fn hooks_messages_and_ends_are_the_same() {
    everywhere(|place| {
        let (diary, log) = Diary::new();
        let diary = place.spawn(diary);
        assert_eq!(diary.ask(Note("one")).wait(), Ok(2));
        diary.send(Note("two")).unwrap();
        diary.send(Enough).unwrap();
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Normal));
        assert!(matches!(diary.send(Note("late")), Err(SendError::Stopped(Note("late")))));
        let all = ["started", "one", "two", "stopped: it was done", "dropped"];
        assert_eq!(log.take(), all);
    });
}

#[test]
fn a_panic_ends_the_actor_wherever_it_is() {
    everywhere(|place| {
        let (diary, _) = Diary::new();
        let diary = place.spawn(diary);
        assert_eq!(diary.ask(Bomb).wait(), Err(AskError::Panicked("boom".into())));
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Panicked("boom".into())));
    });
}

#[test]
fn a_restart_keeps_messages_and_place() {
    everywhere(|place| {
        let (diary, log) = Diary::new();
        let again = log.clone();
        let make = move || Diary { log: again.clone() };
        let diary = place.put(actor(diary)).restartable(make).spawn();
        let before = diary.runtime();
        diary.suspend().unwrap();
        diary.send(Note("kept")).unwrap();
        diary.restart().unwrap();
        diary.resume().unwrap();
        diary.ask(Note("last")).wait().unwrap();
        let all = [
            "started",
            "stopped: it was told to stop",
            "dropped",
            "restarted: it was told to stop",
            "kept",
            "last",
        ];
        assert_eq!(log.take(), all);
        assert_eq!(diary.runtime(), before);
    });
}

#[test]
fn links_reach_across_hosts() {
    everywhere(|place| {
        let (here, there) = (spawn(Diary::new().0), place.spawn(Diary::new().0));
        let peer = there.clone();
        here.ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| context.link(&peer)))
            .wait()
            .unwrap();
        there.send(Bomb).unwrap();
        let boom = ExitReason::Panicked("boom".into());
        assert_eq!(here.ended().wait(), Ok(ExitReason::Linked(there.id(), boom.into())));
    });
}

struct Purse(i64);

impl Actor for Purse {}

/// Behaviours over actors of different hosts share one total order with the messages to each.
#[test]
fn behaviours_join_actors_of_different_hosts() {
    everywhere(|place| {
        let purses = [
            place.spawn(Purse(100)),
            spawn(Purse(100)),
            actor(Purse(100)).on(Host::detached()).spawn(),
            actor(Purse(100)).on(Host::blocking()).spawn(),
            actor(Purse(100)).on(Host::caller()).spawn(),
        ];
        for round in 0..10 {
            for (at, from) in purses.iter().enumerate() {
                let to = &purses[(at + 1 + round % 4) % 5];
                when((from, to), |(from, to)| {
                    from.0 -= 7;
                    to.0 += 7;
                });
                when(to, |to| to.0 += 1);
            }
        }
        let [a, b, c, d, e] = &purses;
        let sum = call((a, b, c, d, e), |(a, b, c, d, e)| a.0 + b.0 + c.0 + d.0 + e.0);
        assert_eq!(sum.wait(), Ok(550));
    });
}

#[test]
fn a_held_actor_is_held_wherever_it_is() {
    struct Sleepy(Log<&'static str>);
    impl Actor for Sleepy {}
    struct Nap;
    impl Message for Nap {
        type Reply = ();
    }
    impl Receive<Nap> for Sleepy {
        fn receive(&mut self, _: Nap, reply: Reply<()>, context: &mut Context<Self>) {
            context.hold(reply, |sleepy, _| {
                Box::pin(async move {
                    sleepy.0.push("asleep");
                    sleep(Duration::from_millis(1)).await.unwrap();
                    sleepy.0.push("awake");
                })
            });
        }
    }
    everywhere(|place| {
        let log = Log::new();
        let sleepy = place.spawn(Sleepy(log.clone()));
        let nap = sleepy.ask(Nap);
        let next = call(&sleepy, |sleepy| sleepy.0.push("next"));
        nap.wait().unwrap();
        next.wait().unwrap();
        assert_eq!(log.take(), ["asleep", "awake", "next"]);
    });
}

/// Says on which thread it is.
struct Whereabouts;

impl Actor for Whereabouts {}

struct Where;

impl Message for Where {
    type Reply = (ThreadId, Option<String>);
}

impl Handler<Where> for Whereabouts {
    fn handle(&mut self, _: Where, _: &mut Context<Self>) -> (ThreadId, Option<String>) {
        (thread::current().id(), thread::current().name().map(str::to_owned))
    }
}

fn thread_of(actor: &Addr<Whereabouts>) -> ThreadId {
    actor.ask(Where).wait().unwrap().0
}

fn name_of(actor: &Addr<Whereabouts>) -> String {
    actor.ask(Where).wait().unwrap().1.unwrap_or_default()
}

#[test]
fn a_dispatcher_has_workers_of_its_own() {
    let system = system();
    let side = actor(Whereabouts).on(system.dispatcher("side").unwrap()).spawn();
    assert_eq!(name_of(&side), "side-0");
    assert!(name_of(&system.spawn(Whereabouts)).starts_with("coact-"));
}

#[test]
fn what_is_unknown_is_named_with_what_there_is() {
    let system = system();
    let UnknownDispatcher { name, known, .. } = system.dispatcher("sid").unwrap_err();
    assert_eq!((&*name, &known[..]), ("sid", &["side".to_owned()][..]));
    assert_eq!(
        system.dispatcher("sid").unwrap_err().to_string(),
        "there is no dispatcher `sid`, only `side`"
    );
    let lone = Runtime::builder().workers(1).build().unwrap();
    let error = lone.run(|| dispatcher("side")).unwrap_err();
    assert_eq!(error.to_string(), "there is no dispatcher `side`: the runtime has no dispatchers");
}

#[test]
fn bad_systems_are_not_built() {
    let twice = System::builder().dispatcher("io", |d| d).dispatcher("io", |d| d);
    assert!(matches!(twice.build(), Err(SystemError::Duplicate(name)) if name == "io"));
    let none = System::builder().workers(1).dispatcher("io", |d| d.workers(0));
    let error = none.build().unwrap_err();
    assert_eq!(error.to_string(), "the runtime `io`: a runtime has 1 to 4096 workers, not 0");
    let none = System::builder().throughput(0).build().unwrap_err();
    assert!(none.to_string().starts_with("the runtime `main`: "), "{none}");
}

/// In a handler, the current runtime is the actor's own.
#[test]
fn handlers_spawn_where_they_are() {
    let system = system();
    let side = system.dispatcher("side").unwrap();
    let parent = actor(Diary::new().0).on(side).spawn();
    let homes = Log::new();
    let seen = homes.clone();
    let spawn_some = move |_: &mut Diary, _: &mut Context<Diary>| {
        seen.push(spawn(Whereabouts).runtime());
        seen.push(actor(Whereabouts).on(Host::workers()).spawn().runtime());
        seen.push(dispatcher("side").unwrap());
    };
    parent.ask(Do(spawn_some)).wait().unwrap();
    assert_eq!(homes.take(), [side, system.runtime(), side]);
}

/// While the only worker is kept busy, two actors get many messages; then they take turns.
#[test]
fn a_dispatchers_throughput_is_respected() {
    let throughput = 3;
    let system =
        System::builder().workers(1).dispatcher("one", |d| d.workers(1).throughput(throughput));
    let system = system.build().unwrap();
    let one = system.dispatcher("one").unwrap();
    let log = Log::new();
    struct Chatty(char, Log<char>);
    impl Actor for Chatty {}
    let [a, b] = ['a', 'b'].map(|name| actor(Chatty(name, log.clone())).on(one).spawn());
    let [gate, inside] = [Meeting::of(2), Meeting::of(2)];
    let (at_gate, entered) = (gate.clone(), inside.clone());
    let keeper = actor(Chatty('k', log.clone())).on(one).spawn();
    when(&keeper, move |_| {
        assert!(entered.wait());
        assert!(at_gate.wait());
    });
    assert!(inside.wait());
    for _ in 0..12 {
        for chatty in [&a, &b] {
            when(chatty, |chatty| chatty.1.push(chatty.0));
        }
    }
    assert!(gate.wait());
    system.wait_idle();
    let said: String = log.take().into_iter().collect();
    assert_eq!(said.len(), 24);
    assert!(!said.contains("aaaa") && !said.contains("bbbb"), "{said}");
}

#[test]
fn a_detached_actor_has_its_own_thread_always_the_same() {
    let system = system();
    let _entered = system.enter();
    let [one, two] = [0; 2].map(|_| actor(Whereabouts).on(Host::detached()).spawn());
    let (first, second) = (thread_of(&one), thread_of(&two));
    assert_ne!(first, second);
    for _ in 0..100 {
        assert_eq!((thread_of(&one), thread_of(&two)), (first, second));
    }
    assert_eq!(name_of(&one), "Whereabouts-0");
}

/// A process can make 65,535 runtimes: threads are used again.
#[test]
fn a_detached_actors_thread_is_used_again() {
    let system = system();
    let _entered = system.enter();
    let mut threads = Vec::new();
    for _ in 0..50 {
        let detached = actor(Whereabouts).on(Host::detached()).spawn();
        threads.push(thread_of(&detached));
        detached.stop().unwrap();
        detached.ended().wait().unwrap();
    }
    threads.dedup();
    assert_eq!(threads.len(), 1);
    // Of another type, which has another name.
    let other = actor(Diary::new().0).on(Host::detached()).spawn();
    let name = Log::new();
    let seen = name.clone();
    let look = move |_: &mut Diary, _: &mut Context<Diary>| {
        seen.push(thread::current().name().map(str::to_owned));
    };
    other.ask(Do(look)).wait().unwrap();
    assert_eq!(name.take(), [Some("Diary-0".to_owned())]);
}

struct Resource;

impl Actor for Resource {}

/// Blocks until there is something.
struct Take(mpsc::Receiver<u32>);

impl Message for Take {
    type Reply = u32;
}

impl Handler<Take> for Resource {
    fn handle(&mut self, Take(from): Take, _: &mut Context<Self>) -> u32 {
        from.recv_timeout(PATIENCE).unwrap_or(0)
    }
}

/// Asks another one, and waits.
struct Relay(Addr<Whereabouts>);

impl Message for Relay {
    type Reply = bool;
}

impl Handler<Relay> for Resource {
    fn handle(&mut self, Relay(to): Relay, _: &mut Context<Self>) -> bool {
        thread_of(&to) != thread::current().id()
    }
}

#[test]
fn blocked_resource_actors_do_not_delay_workers() {
    let system = System::builder().workers(1).build().unwrap();
    let _entered = system.enter();
    let blocked: Vec<_> = (0..8)
        .map(|_| {
            let (send, receive) = mpsc::channel();
            let resource = actor(Resource).on(Host::blocking()).spawn();
            (resource.ask(Take(receive)), send)
        })
        .collect();
    // The one worker is free.
    let plain = spawn(Whereabouts);
    for _ in 0..100 {
        plain.ask(Where).wait().unwrap();
    }
    for (answer, send) in blocked {
        send.send(7).unwrap();
        assert_eq!(answer.wait(), Ok(7));
    }
}

/// Shuts its system down from its own thread, which that would wait for.
struct Saboteur(Option<System>);

impl Actor for Saboteur {}

struct ShutDown;

impl Message for ShutDown {
    type Reply = ();
}

impl Handler<ShutDown> for Saboteur {
    fn handle(&mut self, _: ShutDown, _: &mut Context<Self>) {
        let system = self.0.take().expect("it is told once");
        drop(system.shutdown(PATIENCE));
    }
}

#[test]
fn a_resource_actor_that_shuts_its_system_down_is_refused_at_once() {
    let system = System::builder().workers(1).build().unwrap();
    let handle = system.runtime();
    let entered = handle.enter();
    let saboteur = actor(Saboteur(Some(system))).on(Host::blocking()).spawn();
    let bystander = spawn(Whereabouts);
    let refused = saboteur.ask(ShutDown).wait().unwrap_err();
    // Without the message: what would hand it over has ended with the system, which was dropped.
    assert!(matches!(refused, AskError::Panicked(_)), "{refused}");
    assert_eq!(bystander.ended().wait(), Ok(ExitReason::Killed), "it is cut off, not shut down");
    drop(entered);
}

#[test]
fn resource_actors_may_wait_for_promises() {
    let system = System::builder().workers(1).blocking_threads(2).build().unwrap();
    let _entered = system.enter();
    let resources = [0; 4].map(|_| actor(Resource).on(Host::blocking()).spawn());
    let plain = spawn(Whereabouts);
    let answers: Vec<_> = resources.iter().map(|one| one.ask(Relay(plain.clone()))).collect();
    for answer in answers {
        assert_eq!(answer.wait(), Ok(true));
    }
}

#[test]
fn an_idle_actor_on_its_callers_answers_at_once() {
    let system = system();
    let actor = system.run(|| actor(Whereabouts).on(Host::caller()).spawn());
    let answer = actor.ask(Where).wait().unwrap();
    assert_eq!(answer.0, thread::current().id());
    let far = actor.clone();
    let other = thread::spawn(move || (thread::current().id(), thread_of(&far)));
    let (its_own, answered) = other.join().unwrap();
    assert_eq!(its_own, answered);
}

/// Is kept in its handler, so that others can queue.
struct Counted(Log<ThreadId>);

impl Actor for Counted {}

struct Slow(Meeting, Meeting);

impl Message for Slow {
    type Reply = ();
}

impl Handler<Slow> for Counted {
    fn handle(&mut self, Slow(inside, gate): Slow, _: &mut Context<Self>) {
        self.0.push(thread::current().id());
        assert!(inside.wait() && gate.wait());
    }
}

struct Quick;

impl Message for Quick {
    type Reply = ();
}

impl Handler<Quick> for Counted {
    fn handle(&mut self, _: Quick, _: &mut Context<Self>) {
        self.0.push(thread::current().id());
    }
}

#[test]
fn a_caller_goes_on_for_others_up_to_a_bound() {
    assert_eq!(handled_by_caller_and_others(4), (5, 6));
}

#[test]
fn a_caller_that_is_to_handle_nothing_of_others_leaves_it_to_the_workers() {
    assert_eq!(handled_by_caller_and_others(0), (1, 10));
}

/// Ten messages come while a sender is in the handler of its own: how many of the eleven it
/// handles, and how many others do.
fn handled_by_caller_and_others(batch: u32) -> (usize, usize) {
    let (system, log) = (system(), Log::new());
    let counted = Counted(log.clone());
    let counted = system.run(|| actor(counted).on(Host::caller_for(batch)).spawn());
    let [inside, gate] = [Meeting::of(2), Meeting::of(2)];
    let other = thread::spawn({
        let (counted, inside, gate) = (counted.clone(), inside.clone(), gate.clone());
        move || {
            assert!(inside.wait());
            for _ in 0..10 {
                counted.send(Quick).unwrap();
            }
            assert!(gate.wait());
        }
    });
    counted.send(Slow(inside, gate)).unwrap();
    let mine = log.take();
    system.wait_idle();
    other.join().unwrap();
    let me = thread::current().id();
    let (rest, mine): (Vec<_>, Vec<_>) =
        mine.into_iter().chain(log.take()).partition(|thread| *thread != me);
    (mine.len(), rest.len())
}

/// Each sends on to the next: nested on one stack up to a bound, whatever their number.
#[test]
fn long_chains_of_callers_do_not_overflow_the_stack() {
    struct Link(Option<Addr<Link>>, Arc<AtomicUsize>);
    impl Actor for Link {}
    impl Handler<Quick> for Link {
        fn handle(&mut self, _: Quick, _: &mut Context<Self>) {
            self.1.fetch_add(1, Ordering::Relaxed);
            if let Some(next) = &self.0 {
                next.send(Quick).unwrap();
            }
        }
    }
    let (system, count) = (system(), Arc::new(AtomicUsize::new(0)));
    let first = system.run(|| {
        let mut first = None;
        for _ in 0..10_000 {
            let link = Link(first.take(), Arc::clone(&count));
            first = Some(actor(link).on(Host::caller()).spawn());
        }
        first.unwrap()
    });
    first.send(Quick).unwrap();
    system.wait_idle();
    assert_eq!(count.load(Ordering::Relaxed), 10_000);
}

/// An actor that sends to itself, or in a circle, finds itself busy.
#[test]
fn callers_in_a_circle_get_along() {
    struct Round(Option<Addr<Round>>, u32);
    impl Actor for Round {}
    struct Ball(u32);
    impl Message for Ball {
        type Reply = ();
    }
    impl Handler<Ball> for Round {
        fn handle(&mut self, Ball(left): Ball, context: &mut Context<Self>) {
            self.1 += 1;
            if let (Some(next), Some(left)) = (&self.0, left.checked_sub(1)) {
                next.send(Ball(left)).unwrap();
                if left == 0 {
                    context.address().send(Ball(0)).unwrap();
                }
            }
        }
    }
    let system = system();
    let [a, b] = [0; 2].map(|_| actor(Round(None, 0)).on(Host::caller()).spawn());
    let (to_a, to_b) = (a.clone(), b.clone());
    when((&a, &b), move |(a, b)| {
        a.0 = Some(to_b);
        b.0 = Some(to_a);
    });
    a.send(Ball(1000)).unwrap();
    system.wait_idle();
    Runtime::global().wait_idle();
    // 1001 throws, and one that the last but one has sent to itself.
    assert_eq!(call((&a, &b), |(a, b)| a.1 + b.1).wait(), Ok(1002));
    when((&a, &b), |(a, b)| (a.0, b.0) = (None, None));
}

#[test]
fn actors_are_spawned_on_runtimes_in_turn() {
    let system = system();
    let side = system.dispatcher("side").unwrap();
    let mut both = [system.runtime(), side].into_iter().cycle();
    let homes = [0; 4].map(|_| actor(Whereabouts).on(both.next().unwrap()).spawn().runtime());
    assert_eq!(homes, [system.runtime(), side, system.runtime(), side]);
}

#[test]
fn a_system_waits_for_all_of_its_hosts() {
    let system = system();
    let done = Arc::new(AtomicUsize::new(0));
    for round in 1..=50 {
        system.run(|| {
            let count = Arc::clone(&done);
            let first = spawn(Diary::new().0);
            // Each host is made by work on the one before.
            let begin = move |_: &mut Diary, _: &mut Context<Diary>| {
                let detached = actor(Diary::new().0).on(Host::detached()).spawn();
                let go_on = move |_: &mut Diary, _: &mut Context<Diary>| {
                    let blocking = actor(Diary::new().0).on(Host::blocking()).spawn();
                    let finish = move |_: &mut Diary, _: &mut Context<Diary>| {
                        count.fetch_add(1, Ordering::Relaxed);
                    };
                    blocking.send(Do(finish)).unwrap();
                };
                detached.send(Do(go_on)).unwrap();
            };
            first.send(Do(begin)).unwrap();
        });
        assert_eq!(done.load(Ordering::Relaxed), round);
    }
}

#[test]
fn a_shutdown_tells_what_was_left_where() {
    let system = system();
    let _entered = system.enter();
    let (send, receive) = mpsc::channel();
    let resource = actor(Resource).on(Host::blocking()).spawn();
    let (inside, gate) = (Meeting::of(2), Meeting::of(2));
    let detached = actor(Counted(Log::new())).on(Host::detached()).spawn();
    detached.send(Slow(inside.clone(), gate.clone())).unwrap();
    assert!(inside.wait());
    let dropped = detached.ask(Quick);
    let late = resource.ask(Take(receive));
    let ender = thread::spawn(move || {
        // The report comes once the deadline is over, and this has happened.
        let _ = dropped.wait();
        send.send(1).unwrap();
    });
    drop(_entered);
    let shutdown = thread::spawn(move || system.shutdown(Duration::from_millis(10)));
    while !resource.runtime().is_cancelled() {
        thread::yield_now();
    }
    assert!(gate.wait());
    let report = shutdown.join().unwrap();
    ender.join().unwrap();
    assert!(!report.is_complete());
    let undone: Vec<_> = report
        .runtimes
        .iter()
        .filter(|(_, report)| !report.is_complete())
        .map(|(name, _)| &**name)
        .collect();
    assert!(undone.contains(&"Counted"), "{undone:?}, {report}");
    drop(late);
    // Nothing is made any more; what is spawned is dropped.
    let after = actor(Whereabouts).on(resource.runtime()).spawn();
    assert!(after.ask(Where).wait().is_err());
}

#[test]
fn the_systems_panics_are_told_to_one_hook() {
    let faults = Log::new();
    let hook = faults.clone();
    let system = System::builder()
        .workers(1)
        .main(|main| main.panic_hook(move |_| hook.push(())))
        .dispatcher("side", |d| d.workers(1))
        .build()
        .unwrap();
    system.run(|| {
        for host in [Host::detached(), Host::blocking(), dispatcher("side").unwrap().into()] {
            actor(Diary::new().0).on(host).spawn().send(Bomb).unwrap();
        }
    });
    assert_eq!(faults.len(), 3);
}

/// The threads of resource actors belong to the family: a system waits for them, a single runtime
/// does not.
#[test]
fn a_runtime_in_no_system_does_not_wait_for_resource_actors() {
    let (open, gate) = mpsc::channel::<()>();
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let blocked = runtime.run(|| {
        let diary = actor(Diary::new().0).on(Host::blocking()).spawn();
        diary.ask(Do(move |_: &mut Diary, _: &mut Context<Diary>| {
            let _ = gate.recv_timeout(PATIENCE);
        }))
    });
    // It has returned: the gate is shut still.
    drop(open);
    assert_eq!(blocked.wait(), Ok(()));
    let system = system();
    let (done, is_done) = mpsc::channel();
    system.run(|| {
        let diary = actor(Diary::new().0).on(Host::blocking()).spawn();
        diary
            .send(Do(move |_: &mut Diary, _: &mut Context<Diary>| done.send(()).unwrap()))
            .unwrap();
    });
    assert_eq!(is_done.try_recv(), Ok(()));
}
