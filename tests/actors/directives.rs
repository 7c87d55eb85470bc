//! What overtakes messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coact::prelude::*;
use coact_tests::{check, finally};

use crate::world::{Diary, Do, Note};

/// Keeps the actor busy until the gate is opened, so that messages pile up behind.
fn block(diary: &Addr<Diary>) -> std::sync::mpsc::Sender<()> {
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let wait = move |_: &mut Diary, _: &mut Context<Diary>| {
        let _ = gate.recv();
    };
    diary.send(Do(wait)).unwrap();
    open
}

#[test]
fn a_stop_overtakes_messages_and_a_drain_does_not() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let gate = block(&diary);
        diary.send(Note("unread")).unwrap();
        diary.stop().unwrap();
        drop(gate);
        let (other, drained) = Diary::spawn();
        other.send(Note("read")).unwrap();
        other.drain().unwrap();
        other.send(Note("too late")).ok();
        finally(move || {
            let end = "stopped: it was told to stop";
            assert_eq!(log.take(), ["started", end, "dropped"]);
            assert_eq!(drained.take(), ["started", "read", end, "dropped"]);
            drop((diary, other));
        });
    });
}

#[test]
fn a_kill_says_no_farewell() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let gate = block(&diary);
        diary.send(Note("unread")).unwrap();
        diary.kill().unwrap();
        drop(gate);
        finally(move || {
            assert_eq!(log.take(), ["started", "dropped"]);
            drop(diary);
        });
    });
}

#[test]
fn a_restart_keeps_the_address_and_the_messages() {
    check(|| {
        let (diary, log) = Diary::new();
        let again = log.clone();
        let diary = actor(diary).restartable(move || Diary { log: again.clone() }).spawn();
        let gate = block(&diary);
        diary.send(Note("one")).unwrap();
        diary.restart().unwrap();
        diary.send(Note("two")).unwrap();
        drop(gate);
        finally(move || {
            let reason = "it was told to stop";
            let (stopped, restarted) =
                (format!("stopped: {reason}"), format!("restarted: {reason}"));
            let expected = ["started", &stopped, "dropped", &restarted, "one", "two"];
            assert_eq!(log.take(), expected);
            drop(diary);
        });
    });
}

#[test]
fn a_suspended_actor_lets_messages_and_behaviours_wait() {
    check(|| {
        let (diary, log) = Diary::spawn();
        diary.suspend().unwrap();
        diary.send(Note("one")).unwrap();
        let other = Cown::new(0);
        when((&diary, &other), |(diary, other)| {
            diary.log.push("both".into());
            *other += 1;
        });
        let after = ask(&other, |other| *other);
        let (witness, _) = Diary::spawn();
        witness.ask(Note("time passes")).wait().unwrap();
        log.push("resume".into());
        diary.resume().unwrap();
        assert_eq!(after.wait(), Ok(1));
        finally(move || {
            let log = log.take();
            let at = |entry: &str| log.iter().position(|e| e == entry).expect(entry);
            assert!(at("resume") < at("one") && at("one") < at("both"), "{log:?}");
            drop(diary);
        });
    });
}

#[test]
fn a_suspended_actor_can_be_stopped() {
    check(|| {
        let (diary, log) = Diary::spawn();
        diary.suspend().unwrap();
        let unread = diary.ask(Note("unread"));
        diary.stop().unwrap();
        assert_eq!(unread.wait(), Err(AskError::Stopped(ExitReason::Shutdown)));
        finally(move || assert_eq!(log.take().last().unwrap(), "dropped"));
    });
}

#[test]
fn directives_are_obeyed_in_their_order() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let gate = block(&diary);
        diary.suspend().unwrap();
        diary.resume().unwrap();
        diary.send(Note("one")).unwrap();
        drop(gate);
        finally(move || {
            assert_eq!(log.take(), ["started", "one"]);
            drop(diary);
        });
    });
}

#[test]
fn a_suspended_actor_that_nobody_can_resume_goes_on() {
    check(|| {
        let (diary, log) = Diary::spawn();
        diary.suspend().unwrap();
        diary.send(Note("one")).unwrap();
        drop(diary);
        let expected = ["started", "one", "stopped: it was done", "dropped"];
        finally(move || assert_eq!(log.take(), expected));
    });
}

/// Each directive leaves the next one, for ever: others have the worker all the same.
#[test]
fn directives_without_end_leave_the_worker_to_others() {
    fn again(to: Addr<Diary>, go_on: Arc<AtomicBool>) {
        if go_on.load(Ordering::Relaxed) {
            let next = to.clone();
            // Told at once, since it has ended.
            to.on_down(move |_| again(next, go_on));
        }
    }
    check(|| {
        let (diary, _) = Diary::spawn();
        diary.stop().unwrap();
        let go_on = Arc::new(AtomicBool::new(true));
        again(diary, Arc::clone(&go_on));
        let other = Cown::new(());
        when(&other, move |()| go_on.store(false, Ordering::Relaxed));
    });
}

/// However many directives wait, no message overtakes them.
#[test]
fn a_message_comes_behind_all_directives_that_were_left_before() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let gate = block(&diary);
        for _ in 0..1_000 {
            diary.suspend().unwrap();
            diary.resume().unwrap();
        }
        diary.stop().unwrap();
        let unread = diary.ask(Note("unread"));
        drop(gate);
        assert_eq!(unread.wait(), Err(AskError::Stopped(ExitReason::Shutdown)));
        finally(move || assert!(!log.take().contains(&"unread".into())));
    });
}
