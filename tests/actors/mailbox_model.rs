//! Random senders against mailboxes at random, and a plain model of what becomes of their messages.
//!
//! For more cases: `PROPTEST_CASES=5000 cargo test -p coact-tests --test actors mailbox_model`.

use std::collections::VecDeque;

use coact::Context;
use coact::mailbox::{Lane, Mailbox};
use coact::prelude::*;
use coact::runtime::blocking;
use coact::sim::{self, Config, Method, Seed, Sim};
use coact_tests::{Faults, Log, runtime};
use proptest::prelude::*;

/// What to do with a message for a lane that is full.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Policy {
    Refuse,
    DropNewest,
    DropOldest,
}

/// A mailbox: for each lane its bound, if it has one.
#[derive(Clone, Debug)]
struct Setup {
    lanes: Vec<Option<(usize, Policy)>>,
    every: u32,
}

/// What a sender does while the actor is suspended.
#[derive(Clone, Copy, Debug)]
enum Op {
    Send(usize),
    When,
}

type Id = u32;

/// The fate of a message.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Outcome {
    Handled,
    Refused,
    Dropped,
}

impl Setup {
    fn mailbox(&self) -> Mailbox {
        let mut mailbox = Mailbox::lanes(self.lanes.len()).turn_every(self.every);
        for (at, lane) in self.lanes.iter().enumerate() {
            mailbox = mailbox.lane(
                at,
                match *lane {
                    None => Lane::unbounded(),
                    Some((capacity, Policy::Refuse)) => Lane::bounded(capacity).fail(),
                    Some((capacity, Policy::DropNewest)) => Lane::bounded(capacity).drop_newest(),
                    Some((capacity, Policy::DropOldest)) => Lane::bounded(capacity).drop_oldest(),
                },
            );
        }
        mailbox
    }
}

/// The model: what waits, in the order of its sending.
struct Model<'a> {
    setup: &'a Setup,
    waiting: VecDeque<(Id, Option<usize>)>,
    outcomes: Vec<Option<Outcome>>,
    handled: Vec<Id>,
    /// Of the turns that lanes take: messages since the last one, and whose is next.
    since: u32,
    next: usize,
}

impl<'a> Model<'a> {
    fn new(setup: &'a Setup) -> Self {
        let next = setup.lanes.len() - 1;
        let (waiting, outcomes, handled) = (VecDeque::new(), Vec::new(), Vec::new());
        Self { setup, waiting, outcomes, handled, since: 0, next }
    }

    fn perform(&mut self, op: Op) {
        let id = self.outcomes.len() as Id;
        self.outcomes.push(None);
        let Op::Send(lane) = op else { return self.waiting.push_back((id, None)) };
        let in_lane = |entry: &(Id, Option<usize>)| entry.1 == Some(lane);
        let count = self.waiting.iter().filter(|entry| in_lane(entry)).count();
        if let Some((capacity, policy)) = self.setup.lanes[lane]
            && count == capacity
        {
            match policy {
                Policy::Refuse => return self.outcomes[id as usize] = Some(Outcome::Refused),
                Policy::DropNewest => return self.outcomes[id as usize] = Some(Outcome::Dropped),
                Policy::DropOldest => {
                    let oldest = self.waiting.iter().position(in_lane).unwrap();
                    let (oldest, _) = self.waiting.remove(oldest).unwrap();
                    self.outcomes[oldest as usize] = Some(Outcome::Dropped);
                }
            }
        }
        self.waiting.push_back((id, Some(lane)));
    }

    /// Handles all that waits: what lies between two behaviours by lane, and the behaviours.
    fn resume(&mut self) {
        while let Some((first, lane)) = self.waiting.front().copied() {
            let id = if lane.is_none() { first } else { self.most_urgent() };
            self.waiting.retain(|entry| entry.0 != id);
            self.outcomes[id as usize] = Some(Outcome::Handled);
            self.handled.push(id);
        }
    }

    fn most_urgent(&mut self) -> Id {
        let before = self.waiting.iter().take_while(|entry| entry.1.is_some());
        let before: Vec<(Id, usize)> = before.map(|entry| (entry.0, entry.1.unwrap())).collect();
        let mut lane = before.iter().map(|entry| entry.1).min().unwrap();
        if self.setup.lanes.len() > 1 {
            self.since += 1;
            if self.since == self.setup.every {
                if before.iter().any(|entry| entry.1 == self.next) {
                    lane = self.next;
                }
                self.since = 0;
                self.next = if self.next == 1 { self.setup.lanes.len() - 1 } else { self.next - 1 };
            }
        }
        before.iter().find(|entry| entry.1 == lane).unwrap().0
    }
}

/// Writes down what comes.
struct Reader(Log<Id>);

impl Actor for Reader {}

struct Item(Id);

impl Message for Item {
    type Reply = ();
}

impl Handler<Item> for Reader {
    fn handle(&mut self, item: Item, _: &mut Context<Self>) {
        self.0.push(item.0);
    }
}

/// What an actor has handled, in its order, and the fate of each message.
type Observed = (Vec<Id>, Vec<Outcome>);

/// Performs the bursts one after the other, each of them against the suspended actor.
fn perform(setup: &Setup, bursts: &[Vec<Op>]) -> Observed {
    let log = Log::new();
    let reader = actor(Reader(log.clone())).mailbox(setup.mailbox()).spawn();
    let (mut id, mut outcomes) = (0, Vec::new());
    for burst in bursts {
        reader.suspend().unwrap();
        let mut asks = Vec::new();
        for op in burst {
            match *op {
                Op::Send(lane) => asks.push(Some(reader.ask_in(lane, Item(id)))),
                Op::When => {
                    when(&reader, move |reader| reader.0.push(id));
                    asks.push(None);
                }
            }
            id += 1;
        }
        reader.resume().unwrap();
        outcomes.extend(asks.into_iter().map(|ask| match ask.map(Ask::wait) {
            None | Some(Ok(())) => Outcome::Handled,
            // Which of the two it was the counters tell.
            Some(Err(AskError::Full)) => Outcome::Refused,
            Some(Err(error)) => panic!("{error}"),
        }));
        call(&reader, |_| ()).wait().unwrap();
    }
    let view = reader.mailbox();
    let lost = outcomes.iter().filter(|outcome| **outcome == Outcome::Refused).count() as u64;
    assert_eq!(view.refused() + view.dropped(), lost);
    assert_eq!(view.len(), 0);
    (log.take(), outcomes)
}

fn expected(setup: &Setup, bursts: &[Vec<Op>]) -> Observed {
    let mut model = Model::new(setup);
    for burst in bursts {
        burst.iter().for_each(|op| model.perform(*op));
        model.resume();
    }
    let outcomes = model.outcomes.iter().map(|outcome| match outcome.unwrap() {
        Outcome::Dropped => Outcome::Refused,
        outcome => outcome,
    });
    (model.handled, outcomes.collect())
}

/// Senders at the same time, with the actor at work. Says what went wrong, if something did.
fn race(setup: &Setup, senders: &[Vec<Op>], real: bool) -> Result<(), String> {
    let log = Log::new();
    let reader = actor(Reader(log.clone())).mailbox(setup.mailbox()).spawn();
    let refused: Vec<_> = senders
        .iter()
        .enumerate()
        .map(|(sender, ops)| {
            let (reader, ops) = (reader.clone(), ops.clone());
            let main = move || {
                let mut refused = 0;
                for (at, op) in ops.iter().enumerate() {
                    let id = (1000 * sender + at) as Id;
                    match *op {
                        Op::Send(lane) => {
                            refused += u64::from(reader.send_in(lane, Item(id)).is_err());
                        }
                        Op::When => when(&reader, move |reader| reader.0.push(id)),
                    }
                }
                refused
            };
            if real { blocking(main) } else { sim::thread(main) }
        })
        .collect();
    let refused: u64 = refused.into_iter().map(|refused| refused.wait().unwrap()).sum();
    call(&reader, |_| ()).wait().unwrap();
    let handled = log.take();
    let sent: usize = senders.iter().map(Vec::len).sum();
    let view = reader.mailbox();
    if (view.refused(), view.len()) != (refused, 0) {
        return Err(format!("{view:?} with {refused} refused"));
    }
    if handled.len() as u64 + refused + view.dropped() != sent as u64 {
        return Err(format!("{handled:?} of {sent}, {view:?}"));
    }
    assert_order(senders, &handled)
}

/// Of one sender, messages of one lane come in their order, and so do behaviours and all else.
fn assert_order(senders: &[Vec<Op>], handled: &[Id]) -> Result<(), String> {
    let op = |id: Id| senders[id as usize / 1000][id as usize % 1000];
    for (at, second) in handled.iter().enumerate() {
        for first in &handled[..at] {
            let of_one_sender = first / 1000 == second / 1000;
            let ordered = match (op(*first), op(*second)) {
                (Op::Send(one), Op::Send(other)) => one == other,
                _ => true,
            };
            if of_one_sender && ordered && first >= second {
                return Err(format!("{first} before {second} in {handled:?}"));
            }
        }
    }
    Ok(())
}

fn setups() -> impl Strategy<Value = Setup> {
    let policy =
        prop_oneof![Just(Policy::Refuse), Just(Policy::DropNewest), Just(Policy::DropOldest),];
    let lane = prop::option::weighted(0.8, (1_usize..4, policy));
    (prop::collection::vec(lane, 1..4), 2_u32..5).prop_map(|(lanes, every)| Setup { lanes, every })
}

fn ops(most: usize) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![5 => (0_usize..3).prop_map(Op::Send), 1 => Just(Op::When)];
    prop::collection::vec(op, 0..most)
}

fn programs(most: usize) -> impl Strategy<Value = (Setup, Vec<Vec<Op>>)> {
    (setups(), prop::collection::vec(ops(most), 1..4)).prop_map(|(setup, mut all)| {
        let lanes = setup.lanes.len();
        for op in all.iter_mut().flatten() {
            if let Op::Send(lane) = op {
                *lane %= lanes;
            }
        }
        (setup, all)
    })
}

fn simulated(seed: u64, program: impl Fn() -> Result<(), String> + 'static) -> Result<(), String> {
    let method = if seed.is_multiple_of(2) { Method::Random } else { Method::Pct { depth: 3 } };
    let config = Config::new().method(method).seed(Seed::new(seed)).runs(3);
    let run = move || program().unwrap_or_else(|wrong| panic!("{wrong}"));
    Sim::new().workers(3).config(config).run(run).map_err(|failure| failure.to_string())
}

fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: cases.unwrap_or(150),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_suspended_actor_is_as_the_model_says((setup, bursts) in programs(30), seed: u64) {
        let wanted = expected(&setup, &bursts);
        let faults = Faults::new();
        for workers in [1, 3] {
            let runtime = runtime(workers, &faults);
            prop_assert_eq!(&runtime.run(|| perform(&setup, &bursts)), &wanted);
        }
        prop_assert!(faults.is_empty());
        let same = move || {
            let outcome = perform(&setup, &bursts);
            if outcome == wanted { Ok(()) } else { Err(format!("{outcome:?}, not {wanted:?}")) }
        };
        prop_assert_eq!(simulated(seed, same), Ok(()));
    }

    #[test]
    fn m3_racing_senders_keep_their_order_and_lose_nothing(
        (setup, senders) in programs(20), seed: u64
    ) {
        let runtime = runtime(2, &Faults::new());
        prop_assert_eq!(runtime.run(|| race(&setup, &senders, true)), Ok(()));
        prop_assert_eq!(simulated(seed, move || race(&setup, &senders, false)), Ok(()));
    }
}
