//! Tests of which asks need a search.

use coact_core::{Group, when};

use super::super::held_actor::HeldActor;
use super::*;
use crate::cycle::AskCycle;
use crate::handler::Handler;
use crate::message::Message;
use crate::parts::{Actor, Addr, Context};
use crate::spawn::{actor, spawn};

struct Idle;

impl Actor for Idle {}

struct Ping;

impl Message for Ping {
    type Reply = ();
}

impl Handler<Ping> for Idle {
    fn handle(&mut self, _: Ping, _: &mut Context<Self>) {}
}

/// Makes the wait of one actor for the other.
fn wait(by: &Addr<Idle>, of: &Addr<Idle>) -> Arc<AskWait> {
    AskWait::new(Arc::new(HeldActor::new(by.to_any())), of.to_any(), of.queue_id())
}

fn table(waits: &[&Arc<AskWait>]) -> WaitTable {
    let mut table = WaitTable::default();
    waits.iter().for_each(|wait| table.insert(wait));
    table
}

#[test]
fn asks_of_an_actor_that_waits_for_no_other_need_no_search() {
    let [a, b, c] = [(); 3].map(|()| spawn(Idle));
    // Messages, including those of others, are not multi-cown waiters.
    b.ask(Ping).wait().unwrap();
    let (one, two) = (wait(&a, &b), wait(&c, &b));
    assert!(!table(&[&one, &two]).may_be_closed_by(&one));
}

#[test]
fn what_leads_back_is_searched() {
    let [a, b, c, d] = [(); 4].map(|()| spawn(Idle));
    let (one, two, three) = (wait(&a, &b), wait(&b, &c), wait(&c, &a));
    let (itself, outside) = (wait(&d, &d), wait(&d, &c));
    assert!(!table(&[&one, &two]).may_be_closed_by(&one), "the circle is open");
    let closed = table(&[&one, &two, &three, &outside]);
    for wait in [&one, &two, &three] {
        assert!(closed.may_be_closed_by(wait));
    }
    assert!(table(&[&itself]).may_be_closed_by(&itself));
    assert!(closed.may_be_closed_by(&outside), "a circle closed by others has no end");
}

#[test]
fn what_others_may_hold_up_is_searched() {
    let [a, b, c] = [(); 3].map(|()| spawn(Idle));
    let (one, two) = (wait(&a, &b), wait(&b, &c));
    assert!(!table(&[&one, &two]).may_be_closed_by(&one));
    when((&c, &a), |_| {});
    assert!(table(&[&one, &two]).may_be_closed_by(&one));
    assert!(table(&[&one, &two]).may_be_closed_by(&two));
}

#[test]
fn a_member_of_a_group_may_be_held_up() {
    let group = Group::new();
    let (a, b) = (spawn(Idle), actor(Idle).in_group(&group).spawn());
    let one = wait(&a, &b);
    assert!(table(&[&one]).may_be_closed_by(&one));
}

#[test]
fn an_ask_that_has_failed_holds_up_no_actor() {
    let [a, b] = [(); 2].map(|()| spawn(Idle));
    let (one, two) = (wait(&a, &b), wait(&b, &a));
    two.fail(AskCycle { asks: vec![two.describe(), one.describe()] });
    assert!(!table(&[&one, &two]).may_be_closed_by(&one));
}

/// Wherever the table has a wait, it is found behind the held actor that has its answer.
#[test]
fn a_held_actor_with_an_answer_is_known() {
    let [a, b, c] = [(); 3].map(|()| spawn(Idle));
    let is_behind = |wait: &Arc<AskWait>, of: &Addr<Idle>| {
        candidates(of.queue_id(), &HashSet::new()).iter().any(|one| Arc::ptr_eq(one, wait))
    };
    // The wait begins when a handler has the message.
    let late = wait(&a, &b);
    assert!(late.begin());
    let _ = add(&late);
    assert!(!is_behind(&late, &b));
    late.held_by(&b.to_any());
    assert!(is_behind(&late, &b));
    // The message is passed on and handled before the sender can report its place.
    let passed = wait(&a, &b);
    let _ = add(&passed);
    passed.forwarded(c.to_any(), c.queue_id());
    assert!(passed.begin());
    passed.held_by(&c.to_any());
    passed.sent(1, None);
    assert!(is_behind(&passed, &c) && !is_behind(&passed, &b));
    [late, passed].iter().for_each(remove);
}
