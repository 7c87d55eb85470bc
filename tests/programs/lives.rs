//! Unwatched actors: spawned, sent to, asked, stopped and dropped by several threads at once. They
//! begin and end on ways of their own, which do less than those of actors with monitors, names or a
//! supervisor.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coact::Context;
use coact::actor::WeakAddr;
use coact::internals::FastPath;
use coact::prelude::*;
use coact_tests::Log;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::runs::{Program, config, everywhere};

/// The actors that a thread has addresses of.
const ACTORS: usize = 3;

/// What a thread does, or a handler with what came along with its message.
#[derive(Clone, Debug)]
enum Op {
    Send(usize, Vec<Op>),
    Ask(usize, Vec<Op>),
    Stop(usize),
    /// Drops the address.
    Drop(usize),
    /// Keeps a weak address in place of the address.
    Weaken(usize),
    /// Makes an address of the weak one, if the actor is still there.
    Upgrade(usize),
    /// Has a new actor in the place of the old one.
    Spawn(usize),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let place = 0..ACTORS;
    let bare = prop_oneof![
        4 => place.clone().prop_map(|to| Op::Send(to, vec![])),
        2 => place.clone().prop_map(Op::Stop),
        2 => place.clone().prop_map(Op::Drop),
        1 => place.clone().prop_map(Op::Weaken),
        1 => place.clone().prop_map(Op::Upgrade),
        2 => place.clone().prop_map(Op::Spawn),
    ];
    let op = bare.prop_recursive(2, 8, 3, move |inner| {
        let body = prop::collection::vec(inner, 0..3);
        prop_oneof![
            2 => (place.clone(), body.clone()).prop_map(|(to, body)| Op::Send(to, body)),
            1 => (place.clone(), body).prop_map(|(to, body)| Op::Ask(to, body)),
        ]
    });
    prop::collection::vec(op, 1..8)
}

#[derive(Clone, Debug, PartialEq)]
enum Event {
    Started,
    Handled(u64),
    Stopped(ExitReason),
    StateDropped,
}

/// What happens to a message: to whom it was sent, by which thread if by one itself, and its fate.
#[derive(Clone, Debug)]
struct Sent {
    to: u64,
    by: Option<usize>,
    is_ask: bool,
}

#[derive(Default)]
struct World {
    numbers: AtomicU64,
    spawned: Log<u64>,
    /// What actors do, each with its number.
    events: Log<(u64, Event)>,
    sent: Log<(u64, Sent)>,
    /// Messages that were dropped without being handled.
    dropped: Log<u64>,
    answers: Log<(u64, Result<u64, AskError>)>,
    stops: Log<u64>,
}

impl World {
    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }
}

struct Bare {
    number: u64,
    world: Arc<World>,
}

impl Bare {
    fn note(&self, event: Event) {
        self.world.events.push((self.number, event));
    }
}

impl Actor for Bare {
    fn started(&mut self, _: &mut Context<Self>) {
        self.note(Event::Started);
    }

    fn stopped(&mut self, reason: &ExitReason, _: &mut Context<Self>) {
        self.note(Event::Stopped(reason.clone()));
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.note(Event::StateDropped);
    }
}

struct Item {
    number: u64,
    job: Job,
    body: Vec<Op>,
    is_handled: bool,
}

impl Drop for Item {
    fn drop(&mut self) {
        if !self.is_handled {
            self.job.world.dropped.push(self.number);
        }
    }
}

impl Message for Item {
    type Reply = u64;
}

impl Handler<Item> for Bare {
    fn handle(&mut self, mut item: Item, _: &mut Context<Self>) -> u64 {
        self.note(Event::Handled(item.number));
        item.is_handled = true;
        let body = std::mem::take(&mut item.body);
        item.job.perform(body);
        item.number
    }
}

/// An actor as a thread knows it.
#[derive(Clone)]
enum Known {
    Nothing,
    Weakly(u64, WeakAddr<Bare>),
    Well(u64, Addr<Bare>),
}

/// Who performs operations: a thread, or a handler with addresses that came along.
#[derive(Clone)]
struct Job {
    world: Arc<World>,
    actors: Vec<Known>,
    thread: Option<usize>,
}

impl Job {
    fn perform(&mut self, ops: Vec<Op>) {
        for op in ops {
            match op {
                Op::Send(to, body) => self.deliver(to, body, false),
                Op::Ask(to, body) => self.deliver(to, body, true),
                Op::Stop(to) => {
                    if let Known::Well(number, actor) = &self.actors[to]
                        && actor.stop().is_ok()
                    {
                        self.world.stops.push(*number);
                    }
                }
                Op::Drop(of) => self.actors[of] = Known::Nothing,
                Op::Weaken(of) => {
                    if let Known::Well(number, actor) = &self.actors[of] {
                        self.actors[of] = Known::Weakly(*number, actor.downgrade());
                    }
                }
                Op::Upgrade(of) => {
                    if let Known::Weakly(number, weak) = &self.actors[of]
                        && let Some(actor) = weak.upgrade()
                    {
                        self.actors[of] = Known::Well(*number, actor);
                    }
                }
                Op::Spawn(at) => self.actors[at] = spawn_bare(&self.world),
            }
        }
    }

    fn deliver(&self, to: usize, body: Vec<Op>, is_ask: bool) {
        let Known::Well(receiver, actor) = &self.actors[to] else { return };
        let number = self.world.number();
        let job = Job { thread: None, ..self.clone() };
        let item = Item { number, job, body, is_handled: false };
        self.world.sent.push((number, Sent { to: *receiver, by: self.thread, is_ask }));
        if !is_ask {
            // One that is not taken is dropped, and noted.
            return drop(actor.send(item));
        }
        let world = Arc::clone(&self.world);
        drop(actor.ask(item).then((), move |(), answer| world.answers.push((number, answer))));
    }
}

fn spawn_bare(world: &Arc<World>) -> Known {
    let number = world.number();
    world.spawned.push(number);
    Known::Well(number, spawn(Bare { number, world: Arc::clone(world) }))
}

/// What must be true once no work is left: all actors have ended, since no address is left.
fn check(world: &World) -> Result<(), String> {
    let (events, sent, stops) = (world.events.take(), world.sent.take(), world.stops.take());
    let of = |actor: u64| -> Vec<Event> {
        events
            .iter()
            .filter(|(number, _)| *number == actor)
            .map(|(_, event)| event.clone())
            .collect()
    };
    for actor in world.spawned.take() {
        check_life(&of(actor), stops.contains(&actor)).map_err(|why| format!("{actor}: {why}"))?;
    }
    let mut ends: HashMap<u64, u32> = HashMap::new();
    let handled = events.iter().filter_map(|(_, event)| match event {
        Event::Handled(message) => Some(*message),
        _ => None,
    });
    handled.chain(world.dropped.take()).for_each(|message| *ends.entry(message).or_default() += 1);
    if let Some((message, _)) = sent.iter().find(|(message, _)| ends.get(message) != Some(&1)) {
        return Err(format!("message {message} came {:?} times", ends.get(message)));
    }
    check_answers(&world.answers.take(), &sent, &events)?;
    check_order(&sent, &events)
}

fn check_life(events: &[Event], was_stopped: bool) -> Result<(), String> {
    let [Event::Started, handled @ .., Event::Stopped(reason), Event::StateDropped] = events else {
        return Err(format!("no whole life: {events:?}"));
    };
    if !handled.iter().all(|event| matches!(event, Event::Handled(_))) {
        return Err(format!("out of its order: {events:?}"));
    }
    match reason {
        ExitReason::Normal => Ok(()),
        ExitReason::Shutdown if was_stopped => Ok(()),
        reason => Err(format!("ended for {reason:?}, stopped: {was_stopped}")),
    }
}

/// Each ask ends, with the answer if its message was handled.
fn check_answers(
    answers: &[(u64, Result<u64, AskError>)],
    sent: &[(u64, Sent)],
    events: &[(u64, Event)],
) -> Result<(), String> {
    for (message, sent) in sent.iter().filter(|(_, sent)| sent.is_ask) {
        let mut own =
            answers.iter().filter(|(asked, _)| asked == message).map(|(_, answer)| answer);
        let is_handled = events.contains(&(sent.to, Event::Handled(*message)));
        match (own.next(), own.next()) {
            (Some(Ok(answer)), None) if is_handled && answer == message => {}
            (Some(Err(AskError::Stopped(_))), None) if !is_handled => {}
            other => return Err(format!("ask {message}, handled: {is_handled}: {other:?}")),
        }
    }
    Ok(())
}

/// Of the messages that a thread itself sends to an actor those that are handled are the first
/// ones, in their order.
fn check_order(sent: &[(u64, Sent)], events: &[(u64, Event)]) -> Result<(), String> {
    let mut lanes: HashMap<(usize, u64), Vec<u64>> = HashMap::new();
    for (message, sent) in sent {
        if let Some(thread) = sent.by {
            lanes.entry((thread, sent.to)).or_default().push(*message);
        }
    }
    for ((thread, actor), messages) in lanes {
        let handled: Vec<u64> = events
            .iter()
            .filter_map(|(number, event)| match event {
                Event::Handled(message) if *number == actor && messages.contains(message) => {
                    Some(*message)
                }
                _ => None,
            })
            .collect();
        if !messages.starts_with(&handled) {
            return Err(format!("thread {thread} to {actor}: {messages:?} came as {handled:?}"));
        }
    }
    Ok(())
}

/// Threads with addresses of the same actors.
fn run_everywhere(threads: Vec<Vec<Op>>, seed: u32) -> Result<(), TestCaseError> {
    everywhere(u64::from(seed), move || {
        let world = Arc::new(World::default());
        let actors: Vec<_> = (0..ACTORS).map(|_| spawn_bare(&world)).collect();
        let thread = |(thread, ops): (usize, &Vec<Op>)| -> Box<dyn FnOnce() + Send> {
            let mut job =
                Job { world: Arc::clone(&world), actors: actors.clone(), thread: Some(thread) };
            let ops = ops.clone();
            Box::new(move || job.perform(ops))
        };
        let threads = threads.iter().enumerate().map(thread).collect();
        let world = Arc::clone(&world);
        Program { threads, verdict: Box::new(move || check(&world)) }
    })
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn unwatched_actors_have_whole_lives(
        threads in prop::collection::vec(ops(), 1..4),
        seed in any::<u32>(),
    ) {
        run_everywhere(threads, seed)?;
    }
}

/// They begin with their first request, are stopped by a bit, and end without a trace if nothing of
/// them is left.
#[test]
fn unwatched_actors_take_every_way() {
    let ways = [FastPath::FirstRequest, FastPath::StopBit, FastPath::EndedUnseen];
    let rare = || ways.into_iter().filter(|path| path.count() < 100).collect::<Vec<_>>();
    let mut runner = TestRunner::deterministic();
    let script = prop::collection::vec(ops(), 1..4);
    for seed in 0..1_000 {
        let threads = script.new_tree(&mut runner).expect("there are programs").current();
        run_everywhere(threads, seed).unwrap();
        if rare().is_empty() {
            return;
        }
    }
    panic!("hardly ever taken: {:?}", rare());
}
