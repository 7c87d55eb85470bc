//! Messages and behaviours share one total order.

use coact::Context;
use coact::prelude::*;
use coact_tests::{check, finally};

use crate::world::{Diary, Do, Note};

#[test]
fn m1_messages_and_behaviours_of_one_sender_come_in_turn() {
    check(|| {
        let (diary, log) = Diary::spawn();
        diary.send(Note("one")).unwrap();
        when(&diary, |diary| diary.log.push("two".into()));
        diary.send(Note("three")).unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started", "one", "two", "three"]);
            drop(diary);
        });
    });
}

#[test]
fn m1_a_message_before_a_behaviour_over_several_is_seen_by_it() {
    check(|| {
        let [(a, log), (b, _)] = [Diary::spawn(), Diary::spawn()];
        a.send(Note("before")).unwrap();
        when((&b, &a), |(b, a)| {
            let seen = a.log.len();
            b.log.push(format!("saw {seen}"));
            a.log.push("both".into());
        });
        a.send(Note("after")).unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started", "before", "both", "after"]);
            drop((a, b));
        });
    });
}

/// A sends to B, then to C; C passes on to B: B sees A's own first.
#[test]
fn m1_order_is_causal_through_actors() {
    check(|| {
        let [(a, _), (b, log), (c, _)] = [Diary::spawn(), Diary::spawn(), Diary::spawn()];
        let (to_b, through) = (b.clone(), b.clone());
        a.send(Do(move |_: &mut Diary, _: &mut Context<Diary>| {
            to_b.send(Note("direct")).unwrap();
            c.send(Do(move |_: &mut Diary, _: &mut Context<Diary>| {
                through.send(Note("by way of c")).unwrap();
            }))
            .unwrap();
        }))
        .unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started", "direct", "by way of c"]);
            drop((a, b));
        });
    });
}

/// The same with a behaviour in the place of the third actor.
#[test]
fn m1_order_is_causal_through_behaviours() {
    check(|| {
        let [(a, _), (b, log)] = [Diary::spawn(), Diary::spawn()];
        let other = Cown::new(());
        let to_b = b.clone();
        a.send(Do(move |_: &mut Diary, _: &mut Context<Diary>| {
            to_b.send(Note("direct")).unwrap();
            when((&other, &to_b.clone()), move |(_, b)| b.log.push("together".into()));
            to_b.send(Note("behind")).unwrap();
        }))
        .unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started", "direct", "together", "behind"]);
            drop((a, b));
        });
    });
}

/// A restart between them changes nothing about it.
#[test]
fn m5_order_is_kept_across_a_restart() {
    check(|| {
        let (diary, log) = Diary::new();
        let again = log.clone();
        let diary = actor(diary).restartable(move || Diary { log: again.clone() }).spawn();
        let (other, _) = Diary::spawn();
        diary.send(Note("one")).unwrap();
        when((&diary, &other), |(diary, _)| diary.log.push("two".into()));
        diary.restart().unwrap();
        diary.send(Note("three")).unwrap();
        when((&other, &diary), |(_, diary)| diary.log.push("four".into()));
        finally(move || {
            let log = log.take();
            let mine = ["one", "two", "three", "four"];
            let seen: Vec<_> = log.iter().filter(|entry| mine.contains(&entry.as_str())).collect();
            assert_eq!(seen, mine);
            assert_eq!(log.iter().filter(|entry| entry.starts_with("restarted")).count(), 1);
            drop((diary, other));
        });
    });
}
