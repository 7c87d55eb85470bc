//! A property test of lanes: the steps of senders and behaviours in random order.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::{AddOutcome, Lanes, Moment, TicketNumber};

/// An entry of the cown's queue.
enum Queued {
    Ticket(TicketNumber),
    Behaviour(usize),
}

/// What a thread is doing.
enum Doing {
    /// A message has its ticket, which must be queued.
    QueueTicket(usize, TicketNumber),
    /// The ticket is queued; the arrival of the message must be noted.
    Arrive(usize, TicketNumber),
    /// A behaviour was announced, and must be queued.
    QueueBehaviour(usize),
    /// It is queued, and its announcement must be completed.
    Announce,
}

/// A message or a behaviour: when its spawn began and ended, and when it ended itself. (A behaviour
/// on several cowns is visible as queued immediately: others wait behind it elsewhere. So its spawn
/// is that instant.)
#[derive(Clone, Debug)]
struct Life {
    /// `None` for a behaviour.
    lane: Option<usize>,
    began: u32,
    spawned: Option<u32>,
    ended: Option<u32>,
    dropped: bool,
}

struct World {
    lanes: Lanes<usize>,
    keep: Vec<Option<usize>>,
    /// How many behaviours have begun to be queued, and how many have been.
    begun: u64,
    ended: u64,
    queue: VecDeque<Queued>,
    threads: Vec<Option<Doing>>,
    lives: Vec<Life>,
    clock: u32,
}

impl World {
    fn new(keep: &[Option<usize>], threads: usize) -> Self {
        Self {
            lanes: Lanes::new(keep.iter().copied(), 3),
            keep: keep.to_vec(),
            begun: 0,
            ended: 0,
            queue: VecDeque::new(),
            threads: (0..threads).map(|_| None).collect(),
            lives: Vec::new(),
            clock: 0,
        }
    }

    fn now(&self) -> Moment {
        Moment { begun: self.begun, is_quiet: self.begun == self.ended }
    }

    fn born(&mut self, lane: Option<usize>) -> usize {
        let (began, spawned, ended) = (self.clock, None, None);
        self.lives.push(Life { lane, began, spawned, ended, dropped: false });
        self.lives.len() - 1
    }

    fn spawned(&mut self, id: usize) {
        self.lives[id].spawned = Some(self.clock);
    }

    fn end(&mut self, id: usize, dropped: bool) {
        let life = &mut self.lives[id];
        assert_eq!(life.ended, None, "{life:?} ends twice");
        life.ended = Some(self.clock);
        life.dropped = dropped;
    }

    /// One step of a thread: continues what it is doing, or begins something new.
    fn step(&mut self, thread: usize, lane: Option<usize>) {
        self.clock += 1;
        self.threads[thread] = match self.threads[thread].take() {
            None => match lane {
                Some(lane) => self.send(lane),
                None => {
                    let id = self.born(None);
                    self.begun += 1;
                    Some(Doing::QueueBehaviour(id))
                }
            },
            Some(Doing::QueueTicket(id, ticket)) => {
                self.queue.push_back(Queued::Ticket(ticket));
                Some(Doing::Arrive(id, ticket))
            }
            Some(Doing::Arrive(id, ticket)) => {
                if let Some(dropped) = self.lanes.arrive(ticket, self.now()) {
                    self.end(dropped, true);
                }
                self.spawned(id);
                None
            }
            Some(Doing::QueueBehaviour(id)) => {
                self.queue.push_back(Queued::Behaviour(id));
                self.lives[id].began = self.clock;
                self.spawned(id);
                Some(Doing::Announce)
            }
            Some(Doing::Announce) => {
                self.ended += 1;
                None
            }
        };
        for (lane, keep) in self.keep.iter().enumerate() {
            assert!(keep.is_none_or(|keep| self.lanes.len(lane) <= keep));
        }
    }

    fn send(&mut self, lane: usize) -> Option<Doing> {
        let id = self.born(Some(lane));
        match self.lanes.add(lane, id, self.now()) {
            AddOutcome::Ticket(ticket) => Some(Doing::QueueTicket(id, ticket)),
            AddOutcome::InPlaceOf(oldest) => {
                self.end(oldest, true);
                self.spawned(id);
                None
            }
        }
    }

    /// One step of the actor.
    fn run(&mut self) {
        self.clock += 1;
        match self.queue.pop_front() {
            None => {}
            Some(Queued::Behaviour(id)) => self.end(id, false),
            Some(Queued::Ticket(ticket)) => {
                let (taken, dropped) = self.lanes.take(ticket, self.now());
                taken.into_iter().for_each(|id| self.end(id, false));
                self.clock += 1;
                dropped.into_iter().for_each(|id| self.end(id, true));
            }
        }
    }

    /// Lets all threads finish, and the actor handle all that waits.
    fn finish(&mut self) {
        for thread in 0..self.threads.len() {
            while self.threads[thread].is_some() {
                self.step(thread, None);
            }
        }
        while !self.queue.is_empty() {
            self.run();
        }
    }

    fn send_all(&mut self, lane: usize) {
        self.step(0, Some(lane));
        while self.threads[0].is_some() {
            self.step(0, None);
        }
    }

    fn when(&mut self) {
        self.step(0, None);
        while self.threads[0].is_some() {
            self.step(0, None);
        }
    }

    /// Returns the lanes, or `None` for behaviours, of what ended without being dropped, in that
    /// order.
    fn history(&self) -> Vec<Option<usize>> {
        let mut ended: Vec<_> = self.lives.iter().filter(|life| !life.dropped).collect();
        ended.sort_by_key(|life| life.ended);
        ended.iter().map(|life| life.lane).collect()
    }

    /// Checks every two of which one was spawned before the spawn of the other began.
    fn assert_in_order(&self) {
        for first in &self.lives {
            assert!(first.ended.is_some(), "{first:?} is lost");
            let keeps = first.lane.is_some_and(|lane| self.keep[lane].is_some());
            assert!(keeps || !first.dropped, "{first:?} was dropped");
            for second in &self.lives {
                if first.spawned.unwrap() >= second.began {
                    continue;
                }
                let in_order = first.ended < second.ended;
                let related =
                    first.lane == second.lane || first.lane.is_none() || second.lane.is_none();
                // A message may be dropped at any time, but not while an older one waits.
                let free = second.dropped && first.lane.is_none();
                assert!(in_order || free || !related, "{first:?} and {second:?}");
            }
        }
    }
}

/// One step: of a thread, which begins with a message for a lane or with a behaviour, or of the
/// actor.
#[derive(Clone, Debug)]
enum PatternStep {
    Thread(usize, Option<usize>),
    Actor,
}

const THREADS: usize = 4;
const LANES: usize = 3;

fn steps() -> impl Strategy<Value = Vec<PatternStep>> {
    let lane = prop_oneof![4 => (0..LANES).prop_map(Some), 1 => Just(None)];
    let thread = (0..THREADS, lane).prop_map(|(thread, lane)| PatternStep::Thread(thread, lane));
    prop::collection::vec(prop_oneof![4 => thread, 1 => Just(PatternStep::Actor)], 1..150)
}

fn keep() -> impl Strategy<Value = Vec<Option<usize>>> {
    prop::collection::vec(prop::option::of(1_usize..4), LANES)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

    #[test]
    fn order_is_kept_and_nothing_is_lost(keep in keep(), steps in steps()) {
        let mut world = World::new(&keep, THREADS);
        for step in steps {
            match step {
                PatternStep::Thread(thread, lane) => world.step(thread, lane),
                PatternStep::Actor => world.run(),
            }
        }
        world.finish();
        world.assert_in_order();
        prop_assert!(world.lanes.entries.slots.iter().all(Option::is_none));
        prop_assert!(world.lanes.tickets.slots.iter().all(Option::is_none));
    }
}

#[test]
fn urgent_messages_overtake_others_but_no_behaviours() {
    let mut world = World::new(&[None, None], 1);
    for lane in [1, 1, 0] {
        world.send_all(lane);
    }
    world.when();
    for lane in [1, 0] {
        world.send_all(lane);
    }
    world.finish();
    assert_eq!(world.history(), [Some(0), Some(1), Some(1), None, Some(0), Some(1)]);
}

#[test]
fn every_lane_has_its_turn() {
    let mut world = World::new(&[None, None, None], 1);
    for lane in [2, 1, 0] {
        (0..40).for_each(|_| world.send_all(lane));
    }
    world.finish();
    let history = world.history();
    let turns: Vec<_> = history[..60].iter().map(|lane| lane.unwrap()).collect();
    for six in turns.chunks(6) {
        assert_eq!(six, [0, 0, 2, 0, 0, 1]);
    }
}

/// A flood that drops the oldest does not accumulate tickets.
#[test]
fn a_flood_needs_as_many_tickets_as_there_is_room() {
    let mut world = World::new(&[Some(5)], 1);
    for _ in 0..3 {
        (0..1000).for_each(|_| world.send_all(0));
        assert_eq!(world.queue.len(), 5);
        (0..2).for_each(|_| world.run());
    }
    world.when();
    (0..1000).for_each(|_| world.send_all(0));
    // Tickets before the behaviour can only be used up there.
    assert!(world.queue.len() <= 11);
    world.finish();
    assert_eq!(world.lives.iter().filter(|life| !life.dropped && life.lane.is_some()).count(), 11);
    world.assert_in_order();
}
