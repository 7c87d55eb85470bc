//! What overtakes messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use coact::Context;
use coact::prelude::*;
use coact_tests::{Faults, PATIENCE, check, finally, runtime};

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
fn m4_a_stop_overtakes_messages_and_a_drain_does_not() {
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
fn m2_a_kill_skips_the_last_hook() {
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
fn m5_a_restart_keeps_the_address_and_the_messages() {
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
fn m7_a_suspended_actor_lets_messages_and_behaviours_wait() {
    check(|| {
        let (diary, log) = Diary::spawn();
        diary.suspend().unwrap();
        diary.send(Note("one")).unwrap();
        let other = Cown::new(0);
        when((&diary, &other), |(diary, other)| {
            diary.log.push("both".into());
            *other += 1;
        });
        let after = call(&other, |other| *other);
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
fn m4_signals_are_processed_in_order() {
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

/// Each signal pushes the next one, without end: other actors still get the worker.
#[test]
fn signals_without_end_leave_the_worker_to_others() {
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

/// However many signals wait, no message overtakes them.
#[test]
fn m4_a_message_comes_behind_all_signals_that_were_left_before() {
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

/// Suspends and resumes an actor, over and over; it is resumed in the end.
fn suspend_and_resume(diary: &Addr<Diary>, times: usize) {
    for _ in 0..times {
        diary.suspend().unwrap();
        diary.resume().unwrap();
    }
}

/// Has a new actor link itself to another one and unlink itself, over and over.
fn link_and_unlink(diary: &Addr<Diary>, times: usize) -> Promise<()> {
    let ((resolver, done), diary) = (Promise::channel(), diary.clone());
    let link = move |_: &mut Diary, context: &mut Context<Diary>| {
        for _ in 0..times {
            context.link(&diary);
            context.unlink(&diary);
        }
        resolver.resolve(());
    };
    Diary::spawn().0.send(Do(link)).unwrap();
    done
}

/// Takes turns until it is told to stop, and counts them.
fn tick(clock: Cown<()>, turns: Arc<AtomicUsize>, go_on: Arc<AtomicBool>) {
    let again = clock.clone();
    when(&clock, move |()| {
        if go_on.load(Ordering::Relaxed) {
            turns.fetch_add(1, Ordering::Relaxed);
            tick(again, turns, go_on);
        }
    });
}

/// Two threads and an actor have sent signals while the actor was busy. It processes some at a
/// time; others on its worker have their turns between, and its own message comes when all are
/// processed.
#[test]
fn an_actor_that_is_flooded_and_others_take_turns() {
    /// A task is a hundred behaviours at most.
    const TURNS_BETWEEN: usize = 100;
    /// How many signals are processed at a time.
    const AT_ONCE: usize = 64;
    const TIMES: usize = 10_000;
    let (runtime, other) = (runtime(1, &Faults::new()), runtime(1, &Faults::new()));
    let (turns, go_on) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(true)));
    let waited = runtime.run(|| {
        let (diary, _) = Diary::spawn();
        let ((begun, has_begun), (go, may_go)) = (mpsc::channel(), mpsc::channel::<()>());
        let (counted, goes_on) = (Arc::clone(&turns), Arc::clone(&go_on));
        let busy = move |_: &mut Diary, _: &mut Context<Diary>| {
            begun.send(()).unwrap();
            let _ = may_go.recv_timeout(PATIENCE);
            tick(Cown::new(()), counted, goes_on);
        };
        diary.send(Do(busy)).unwrap();
        has_begun.recv_timeout(PATIENCE).unwrap();
        let linked = other.run(|| link_and_unlink(&diary, TIMES));
        thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| suspend_and_resume(&diary, TIMES));
            }
        });
        linked.wait().unwrap();
        // Those of the threads may have ended in either order.
        diary.resume().unwrap();
        let (resolver, waited) = Promise::channel();
        let message = move |_: &mut Diary, _: &mut Context<Diary>| {
            go_on.store(false, Ordering::Relaxed);
            resolver.resolve(turns.load(Ordering::Relaxed));
        };
        diary.send(Do(message)).unwrap();
        go.send(()).unwrap();
        waited.wait().unwrap()
    });
    let times = 6 * TIMES / AT_ONCE;
    assert!(waited >= times, "others had {waited} turns");
    assert!(waited <= (times + 10) * TURNS_BETWEEN, "the message came after {waited} turns");
}

/// Three threads and an actor flood one actor while it lives; each of the threads is answered by
/// another actor meanwhile, on the same worker.
#[test]
fn others_are_answered_while_signals_flood_in() {
    const ROUNDS: usize = 50;
    for workers in [1, 2] {
        let (runtime, other) = (runtime(workers, &Faults::new()), runtime(1, &Faults::new()));
        let (diary, log, witness) = runtime.run(|| {
            let (diary, log) = Diary::spawn();
            (diary, log, Diary::spawn().0)
        });
        let linked = other.run(|| link_and_unlink(&diary, ROUNDS * 100));
        thread::scope(|threads| {
            for name in ["a", "b", "c"] {
                let (diary, witness) = (&diary, &witness);
                threads.spawn(move || {
                    for _ in 0..ROUNDS {
                        suspend_and_resume(diary, 200);
                        diary.send(Note(name)).unwrap();
                        let answer = witness.ask(Note("asked")).timeout(PATIENCE).wait();
                        assert!(answer.is_ok(), "{answer:?}");
                    }
                });
            }
        });
        linked.wait().unwrap();
        diary.resume().unwrap();
        diary.ask(Note("last")).timeout(PATIENCE).wait().unwrap();
        let notes = log.take();
        for name in ["a", "b", "c"] {
            assert_eq!(notes.iter().filter(|note| *note == name).count(), ROUNDS);
        }
        assert_eq!(notes.last().map(String::as_str), Some("last"));
    }
}
