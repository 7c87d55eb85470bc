//! Lanes: which message comes first, and that all come.

use coact::Context;
use coact::mailbox::{Lane, Mailbox};
use coact::prelude::*;
use coact_tests::{Log, check, finally};

/// Writes down what comes.
struct Reader(Log<u32>);

impl Actor for Reader {}

struct Item(u32);

impl Message for Item {
    type Reply = ();
}

impl Handler<Item> for Reader {
    fn handle(&mut self, item: Item, _: &mut Context<Self>) {
        self.0.push(item.0);
    }
}

struct Alarm(u32);

impl Message for Alarm {
    type Reply = ();
}

impl Handler<Alarm> for Reader {
    fn handle(&mut self, alarm: Alarm, _: &mut Context<Self>) {
        self.0.push(alarm.0);
    }
}

fn suspended(mailbox: Mailbox) -> (Addr<Reader>, Log<u32>) {
    let log = Log::new();
    let reader = actor(Reader(log.clone())).mailbox(mailbox).spawn();
    reader.suspend().unwrap();
    (reader, log)
}

#[test]
fn m1_urgent_messages_come_first_and_lanes_keep_their_order() {
    check(|| {
        let (reader, log) = suspended(Mailbox::lanes(3));
        for item in 0..4 {
            for lane in [2, 1, 0] {
                reader.send_in(lane, Item(10 * lane as u32 + item)).unwrap();
            }
        }
        assert_eq!(reader.mailbox().len(), 12);
        reader.resume().unwrap();
        finally(move || {
            assert_eq!(log.take(), [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23]);
            drop(reader);
        });
    });
}

#[test]
fn types_have_their_lanes() {
    check(|| {
        let (reader, log) = suspended(Mailbox::lanes(2).assign::<Alarm>(0));
        reader.send(Item(1)).unwrap();
        let alarm: Recipient<Alarm> = reader.to_recipient();
        alarm.send(Alarm(2)).unwrap();
        // The sender knows better; and there is no lane 7.
        reader.send_in(7, Alarm(3)).unwrap();
        reader.resume().unwrap();
        finally(move || {
            assert_eq!(log.take(), [2, 1, 3]);
            drop(reader);
        });
    });
}

#[test]
fn m1_urgent_messages_do_not_overtake_behaviours() {
    check(|| {
        let (reader, log) = suspended(Mailbox::lanes(2));
        let other = Cown::new(());
        reader.send(Item(1)).unwrap();
        reader.send_in(0, Item(2)).unwrap();
        when((&reader, &other), |(reader, ())| reader.0.push(3));
        reader.send(Item(4)).unwrap();
        reader.send_in(0, Item(5)).unwrap();
        let seen = call(reader.read(), |reader| reader.0.len());
        reader.send_in(0, Item(6)).unwrap();
        reader.resume().unwrap();
        assert_eq!(seen.wait(), Ok(5));
        finally(move || {
            assert_eq!(log.take(), [2, 1, 3, 5, 4, 6]);
            drop(reader);
        });
    });
}

#[test]
fn no_lane_starves() {
    check(|| {
        const EVERY: u32 = 4;
        let (reader, log) = suspended(Mailbox::lanes(3).turn_every(EVERY));
        for lane in [0, 1, 2] {
            for _ in 0..100 {
                reader.send_in(lane, Item(lane as u32)).unwrap();
            }
        }
        reader.resume().unwrap();
        finally(move || {
            let log = log.take();
            assert_eq!(log.len(), 300);
            for lane in 0..3 {
                let last = log.iter().rposition(|item| *item == lane).unwrap();
                let bound = 2 * EVERY as usize;
                for window in log[..=last].windows(bound) {
                    assert!(window.contains(&lane), "lane {lane} in {window:?}");
                }
            }
            assert!(log[..100].iter().filter(|item| **item == 0).count() == 75);
            drop(reader);
        });
    });
}

#[test]
fn lanes_have_bounds_of_their_own() {
    check(|| {
        let mailbox = Mailbox::lanes(3)
            .lane(0, Lane::bounded(1).fail())
            .lane(1, Lane::bounded(2).drop_oldest())
            .lane(2, Lane::bounded(1).drop_newest());
        let (reader, log) = suspended(mailbox);
        for lane in 0..3 {
            for item in 0..4 {
                let sent = reader.send_in(lane, Item(10 * lane as u32 + item));
                assert_eq!(sent.is_err(), lane == 0 && item > 0);
            }
        }
        let lanes: Vec<_> = reader.mailbox().lanes().collect();
        let counts: Vec<_> =
            lanes.iter().map(|lane| (lane.len(), lane.refused(), lane.dropped())).collect();
        assert_eq!(counts, [(1, 3, 0), (2, 0, 2), (1, 0, 3)]);
        assert_eq!(reader.mailbox().capacity(), Some(4));
        assert!(reader.mailbox().lane(3).is_none());
        reader.resume().unwrap();
        finally(move || {
            assert_eq!(log.take(), [0, 12, 13, 20]);
            drop(reader);
        });
    });
}

/// A drain comes after all that was sent before, from whatever lane.
#[test]
fn a_drain_leaves_nothing_behind() {
    check(|| {
        let (reader, log) = suspended(Mailbox::lanes(2));
        reader.send(Item(1)).unwrap();
        reader.drain().unwrap();
        reader.send_in(0, Item(2)).unwrap();
        reader.resume().unwrap();
        finally(move || {
            assert_eq!(log.take(), [1]);
            assert_eq!(reader.dead_letters(), 1);
        });
    });
}

/// A group has one order for all of its members, and in it each message has a place; lanes decide
/// which message comes in which of its mailbox's places.
#[test]
fn g2_in_a_group_urgent_messages_come_in_the_places_of_others() {
    check(|| {
        let group = Group::new();
        let log = Log::new();
        let lanes = actor(Reader(log.clone())).in_group(&group).mailbox(Mailbox::lanes(2)).spawn();
        let plain = actor(Reader(log.clone())).in_group(&group).spawn();
        plain.suspend().unwrap();
        plain.send(Item(1)).unwrap();
        lanes.send_in(1, Item(20)).unwrap();
        plain.send(Item(2)).unwrap();
        lanes.send_in(0, Item(10)).unwrap();
        plain.send(Item(3)).unwrap();
        plain.resume().unwrap();
        finally(move || {
            assert_eq!(log.take(), [1, 10, 2, 20, 3]);
            drop((lanes, plain));
        });
    });
}

/// The oldest gives its place to those behind it.
#[test]
fn g2_in_a_group_the_places_of_messages_that_are_dropped_are_used() {
    check(|| {
        let group = Group::new();
        let log = Log::new();
        let short = Mailbox::bounded(2).drop_oldest();
        let short = actor(Reader(log.clone())).in_group(&group).mailbox(short).spawn();
        let plain = actor(Reader(log.clone())).in_group(&group).spawn();
        plain.suspend().unwrap();
        for round in 0..3 {
            plain.send(Item(round)).unwrap();
            short.send(Item(10 + round)).unwrap();
        }
        plain.resume().unwrap();
        finally(move || {
            assert_eq!(log.take(), [0, 11, 1, 12, 2]);
            drop((short, plain));
        });
    });
}
