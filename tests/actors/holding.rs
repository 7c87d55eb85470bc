//! Handlers that await something while their actor is held.

use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::time::sleep;
use coact_tests::{check, check_with_faults, finally};

use crate::world::{Diary, Do, Note};

/// Holds the actor for some milliseconds.
struct Hold(u64);

impl Message for Hold {
    type Reply = usize;
}

impl Receive<Hold> for Diary {
    fn receive(&mut self, hold: Hold, reply: Reply<usize>, context: &mut Context<Self>) {
        context.hold(reply, move |diary, _| {
            Box::pin(async move {
                diary.log.push("hold".into());
                sleep(Duration::from_millis(hold.0)).await.unwrap();
                diary.log.push("release".into());
                diary.log.len()
            })
        });
    }
}

/// Panics while it holds the actor.
struct Trip;

impl Message for Trip {
    type Reply = ();
}

impl Receive<Trip> for Diary {
    fn receive(&mut self, _: Trip, reply: Reply<()>, context: &mut Context<Self>) {
        context.hold(reply, |_, _| {
            Box::pin(async {
                sleep(Duration::from_millis(1)).await.unwrap();
                panic!("tripped");
            })
        });
    }
}

const FOR_EVER: u64 = 3_600_000;

#[test]
fn m7_messages_and_behaviours_wait() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let held = diary.ask(Hold(2));
        diary.send(Note("after")).unwrap();
        when(&diary, |diary| diary.log.push("behaviour".into()));
        assert_eq!(held.wait(), Ok(3));
        finally(move || {
            let expected = ["started", "hold", "release", "after", "behaviour"];
            assert_eq!(log.take(), expected);
            drop(diary);
        });
    });
}

#[test]
fn m7_signals_do_not_wait() {
    check(|| {
        let (stopped, log) = Diary::spawn();
        let held = stopped.ask(Hold(FOR_EVER));
        stopped.stop().unwrap();
        assert_eq!(held.wait(), Err(AskError::Stopped(ExitReason::Shutdown)));
        let (killed, other) = Diary::spawn();
        let held = killed.ask(Hold(FOR_EVER));
        killed.kill().unwrap();
        assert_eq!(held.wait(), Err(AskError::Stopped(ExitReason::Killed)));
        finally(move || {
            let tail = |log: Vec<String>| log.into_iter().rfind(|entry| entry != "dropped");
            assert_eq!(tail(log.take()).unwrap(), "stopped: it was told to stop");
            assert_ne!(tail(other.take()).unwrap(), "stopped: it was killed");
        });
    });
}

#[test]
fn a_panic_while_it_is_held_ends_it() {
    check_with_faults(|_| {
        let (diary, log) = Diary::spawn();
        assert_eq!(diary.ask(Trip).wait(), Err(AskError::Panicked("tripped".into())));
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Panicked("tripped".into())));
        finally(move || {
            assert_eq!(log.take(), ["started", "stopped: it panicked: tripped", "dropped"]);
        });
    });
}

#[test]
fn the_last_address_waits_for_the_hold() {
    check(|| {
        let (diary, log) = Diary::spawn();
        diary.send(Hold(2)).unwrap();
        drop(diary);
        finally(move || {
            let expected = ["started", "hold", "release", "stopped: it was done", "dropped"];
            assert_eq!(log.take(), expected);
        });
    });
}

#[test]
fn a_shutdown_drops_what_holds() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let (diary, log) = {
        let _entered = runtime.enter();
        Diary::spawn()
    };
    let held = diary.ask(Hold(FOR_EVER));
    diary.send(Note("never")).unwrap();
    let report = runtime.shutdown(Duration::from_millis(50));
    assert_eq!(report.stuck_workers, 0);
    assert_eq!(held.wait(), Err(AskError::Stopped(ExitReason::Shutdown)));
    drop(diary);
    assert_eq!(log.take(), ["started", "hold", "stopped: it was told to stop", "dropped"]);
}

/// Holds the actor again as soon as it has been held, and never waits for anything.
fn hold_for_ever(_: &mut Diary, context: &mut Context<Diary>) {
    context.hold(Reply::unwanted(), |diary, context| {
        Box::pin(async move { hold_for_ever(diary, context) })
    });
}

/// Its worker is not lost to others, and neither are signals.
#[test]
fn futures_that_ask_for_others_without_end_give_way() {
    gives_way(|| Diary::spawn().0);
    gives_way(|| actor(Diary::new().0).in_group(&Group::new()).spawn());
}

fn gives_way(spawn_restless: fn() -> Addr<Diary>) {
    check(move || {
        let restless = spawn_restless();
        restless.send(Do(hold_for_ever)).unwrap();
        let (other, _) = Diary::spawn();
        assert_eq!(other.ask(Note("served")).wait(), Ok(2));
        restless.stop().unwrap();
        assert_eq!(restless.ended().wait(), Ok(ExitReason::Shutdown));
    });
}
