//! What a state of an actor has begun, and what others have begun for the actor: what ends with a
//! restart, and what stays.

use std::future::pending;
use std::mem::forget;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use coact::Context;
use coact::actor::{Down, Exited};
use coact::credits::Credits;
use coact::prelude::*;
use coact::sim::{self, Config, Sim};
use coact::supervise::{Supervisor, permanent};
use coact::time::sleep;
use coact_tests::{Log, PATIENCE, check_with_faults, fail};

use crate::world::{Bomb, Diary, Do, Note};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// What is done when it starts, and at each restart.
type Start = dyn Fn(&mut Phoenix, &mut Context<Phoenix>) + Send + Sync;

/// Does the same whenever it starts.
struct Phoenix {
    log: Log<String>,
    start: Arc<Start>,
}

impl Phoenix {
    fn spawn(
        start: impl Fn(&mut Phoenix, &mut Context<Phoenix>) + Send + Sync + 'static,
    ) -> (Addr<Self>, Log<String>) {
        let (log, start) = (Log::new(), Arc::new(start) as Arc<Start>);
        let kept = log.clone();
        let make = move || Self { log: log.clone(), start: Arc::clone(&start) };
        (actor(make()).restartable(make).spawn(), kept)
    }
}

impl Actor for Phoenix {
    fn started(&mut self, context: &mut Context<Self>) {
        let start = Arc::clone(&self.start);
        start(self, context);
    }
}

impl Handler<Note> for Phoenix {
    fn handle(&mut self, note: Note, _: &mut Context<Self>) -> usize {
        self.log.push(note.0.into());
        self.log.len()
    }
}

impl Handler<Down> for Phoenix {
    fn handle(&mut self, down: Down, _: &mut Context<Self>) {
        self.log.push(format!("down: {}", down.reason));
    }
}

impl Handler<Exited> for Phoenix {
    fn handle(&mut self, exited: Exited, _: &mut Context<Self>) {
        self.log.push(format!("exited: {}", exited.reason));
    }
}

fn restart(address: &Addr<Phoenix>, times: usize) {
    for _ in 0..times {
        address.restart().unwrap();
        address.ask(Note("again")).wait().unwrap();
    }
}

fn count(log: &[String], what: &str) -> usize {
    log.iter().filter(|entry| *entry == what).count()
}

#[test]
fn m5_timers_end_with_the_state_that_has_set_them() {
    Sim::new().check(|| {
        let (address, log) = Phoenix::spawn(|_, context| {
            context.send_every(ms(10), || Note("tick"));
            context.send_later(ms(50), Note("later"));
        });
        restart(&address, 5);
        let begun = sim::elapsed();
        sleep(ms(105)).wait().unwrap();
        assert_eq!(sim::elapsed() - begun, ms(105));
        address.stop().unwrap();
        let log = log.take();
        assert_eq!((count(&log, "tick"), count(&log, "later")), (10, 1));
    });
}

#[test]
fn timers_of_a_supervised_child_end_with_its_run() {
    Sim::new().allow_faults(true).check(|| {
        let ticks = Arc::new(AtomicUsize::new(0));
        struct Child(Arc<AtomicUsize>);
        impl Actor for Child {
            fn started(&mut self, context: &mut Context<Self>) {
                context.send_every(ms(10), || Note("tick"));
            }
        }
        impl Handler<Note> for Child {
            fn handle(&mut self, note: Note, _: &mut Context<Self>) -> usize {
                assert_eq!(note.0, "tick", "it is told to panic");
                self.0.fetch_add(1, Ordering::Relaxed)
            }
        }
        let mut tree = Supervisor::one_for_one().intensity(100, ms(1));
        let counted = Arc::clone(&ticks);
        let child = tree.child(permanent(move || Child(Arc::clone(&counted))));
        let tree = tree.spawn();
        for _ in 0..5 {
            assert!(child.ask(Note("boom")).wait().is_err());
        }
        // Up again: whatever has ticked so far does not count.
        coact::call(&child, |_| ()).wait().unwrap();
        let before = ticks.load(Ordering::Relaxed);
        sleep(ms(105)).wait().unwrap();
        tree.stop().unwrap();
        assert_eq!(ticks.load(Ordering::Relaxed) - before, 10);
    });
}

#[test]
fn m5_an_end_is_told_once_however_often_the_monitoring_state_was_replaced() {
    Sim::new().check(|| {
        let other = spawn(Diary::new().0);
        let far = other.clone();
        let (address, log) = Phoenix::spawn(move |_, context| _ = context.monitor(&far));
        restart(&address, 4);
        other.stop().unwrap();
        other.ended().wait().unwrap();
        // In one behaviour behind the last of those that are told.
        sleep(ms(1)).wait().unwrap();
        assert_eq!(count(&log.take(), "down: it was told to stop"), 1);
        address.stop().unwrap();
    });
}

/// Asks something, and looks when the answer comes which of the actor's states has it.
type Question = fn(&Addr<Diary>, &mut Context<Phoenix>, Arc<AtomicUsize>);

/// A restart at every step between a question and what is done with the answer.
#[test]
fn m5_answers_and_outputs_for_an_earlier_state_do_not_reach_a_later_one() {
    let ways: [Question; 4] = [
        |of, context, run| {
            let asker = run.load(Ordering::Relaxed);
            context
                .ask(of, Note("?"), move |_, _, _| assert_eq!(run.load(Ordering::Relaxed), asker));
        },
        |of, context, run| {
            let asker = run.load(Ordering::Relaxed);
            let check =
                move |_: &mut Phoenix, _: Result<usize, AskError>, _: &mut Context<Phoenix>| {
                    assert_eq!(run.load(Ordering::Relaxed), asker);
                };
            context.ask_timeout(of, Note("?"), ms(1000), check);
        },
        |of, context, run| {
            let asker = run.load(Ordering::Relaxed);
            let ask = of.ask(Note("?"));
            context.spawn(ask, move |_, _, _| assert_eq!(run.load(Ordering::Relaxed), asker));
        },
        |of, context, run| {
            let asker = run.load(Ordering::Relaxed);
            let of = of.clone();
            context.ask_await(&of, Note("?"), ms(1000), move |_, _, _| {
                assert_eq!(run.load(Ordering::Relaxed), asker);
            });
        },
    ];
    for way in ways {
        Sim::new().config(Config::new().runs(60)).check(move || {
            let other = spawn(Diary::new().0);
            let (run, far) = (Arc::new(AtomicUsize::new(0)), other.clone());
            let (address, log) = Phoenix::spawn(move |_, context| {
                run.fetch_add(1, Ordering::Relaxed);
                way(&far, context, Arc::clone(&run));
            });
            address.restart().unwrap();
            address.restart().unwrap();
            address.ask(Note("last")).wait().unwrap();
            assert_eq!(count(&log.take(), "last"), 1);
        });
    }
}

/// Panics when it is dropped.
struct Shaky;

impl Drop for Shaky {
    fn drop(&mut self) {
        fail("shaky");
    }
}

/// What was to be done with an answer is dropped with a panic, after a restart.
#[test]
fn m5_a_destructor_of_an_earlier_state_does_not_fail_a_later_one() {
    type Ask = fn(&mut Context<Phoenix>, &Addr<Diary>, Shaky);
    let ways: [Ask; 2] = [
        |context, of, shaky| context.ask(of, Note("?"), move |_, _, _| forget(shaky)),
        |context, of, shaky| {
            context.ask_timeout(of, Note("?"), PATIENCE, move |_, _, _| forget(shaky));
        },
    ];
    for way in ways {
        check_with_faults(move |faults| {
            let other = Diary::spawn().0;
            other.suspend().unwrap();
            let (asked, far) = (AtomicBool::new(false), other.clone());
            let (address, log) = Phoenix::spawn(move |_, context| {
                if !asked.swap(true, Ordering::Relaxed) {
                    way(context, &far, Shaky);
                }
            });
            address.ask(Note("first")).wait().unwrap();
            restart(&address, 1);
            other.resume().unwrap();
            while faults.is_empty() {
                thread::yield_now();
            }
            assert_eq!(address.ask(Note("last")).wait(), Ok(3), "{:?}", log.take());
            assert_eq!(faults.len(), 1, "{:?}", faults.take());
        });
    }
}

#[test]
fn m5_attached_futures_are_dropped_and_detached_ones_go_on() {
    Sim::new().check(|| {
        let (token, gate) = (Arc::new(()), Credits::new(1));
        let taken = gate.try_acquire(1);
        let (held, done) = (Arc::clone(&token), Arc::new(AtomicUsize::new(0)));
        let (counted, credits) = (Arc::clone(&done), gate.clone());
        let (address, _) = Phoenix::spawn(move |_, context| {
            let held = Arc::clone(&held);
            let attached = async move {
                pending::<()>().await;
                drop(held);
            };
            context.spawn(attached, |_, (), _| unreachable!("it never ends"));
            let (counted, credits) = (Arc::clone(&counted), credits.clone());
            context.detach(Reply::unwanted(), async move {
                drop(credits.acquire(1).await);
                counted.fetch_add(1, Ordering::Relaxed);
            });
        });
        restart(&address, 3);
        sleep(ms(1)).wait().unwrap();
        // One is in the closure that starts it, one in the future of the last state, and one is
        // ours.
        assert_eq!(Arc::strong_count(&token), 3);
        address.stop().unwrap();
        drop(taken);
        sleep(ms(1)).wait().unwrap();
        assert_eq!(done.load(Ordering::Relaxed), 4);
        drop(address);
        sleep(ms(1)).wait().unwrap();
        assert!(Arc::strong_count(&token) <= 1, "its end drops the last one, and the factory");
    });
}

#[test]
fn m5_links_of_a_state_end_with_it_and_those_of_others_stay() {
    Sim::new().allow_faults(true).check(|| {
        let (own, others) = (spawn(Diary::new().0), spawn(Diary::new().0));
        let (far, first) = (own.clone(), AtomicUsize::new(0));
        let (address, _) = Phoenix::spawn(move |_, context| {
            if first.fetch_add(1, Ordering::Relaxed) == 0 {
                context.link(&far);
            }
        });
        let near = address.clone();
        let link = Do(move |_: &mut Diary, context: &mut Context<Diary>| context.link(&near));
        others.ask(link).wait().unwrap();
        restart(&address, 1);
        own.send(Bomb).unwrap();
        own.ended().wait().unwrap();
        address.ask(Note("goes on")).wait().unwrap();
        assert!(!address.has_ended());
        others.send(Bomb).unwrap();
        let reason = address.ended().wait().unwrap();
        assert!(matches!(reason, ExitReason::Linked(by, _) if by == others.id()), "{reason}");
    });
}

/// The link is under way still when the state is gone that has asked for it.
#[test]
fn a_link_that_a_handler_asks_for_before_it_panics_ends_with_the_state() {
    struct Linker(Addr<Diary>);
    impl Actor for Linker {
        fn restarted(&mut self, _: &ExitReason, _: &mut Context<Self>) {}
    }
    impl Handler<Bomb> for Linker {
        fn handle(&mut self, _: Bomb, context: &mut Context<Self>) {
            context.link(&self.0);
            panic!("linked, and gone");
        }
    }
    impl Handler<Note> for Linker {
        fn handle(&mut self, _: Note, _: &mut Context<Self>) -> usize {
            0
        }
    }
    Sim::new().allow_faults(true).check(|| {
        let other = spawn(Diary::new().0);
        let mut tree = Supervisor::one_for_one().intensity(100, ms(1));
        let far = other.clone();
        let linker = tree.child(permanent(move || Linker(far.clone())));
        let tree = tree.spawn();
        linker.send(Bomb).unwrap();
        linker.ask(Note("up again")).wait().unwrap();
        other.send(Bomb).unwrap();
        other.ended().wait().unwrap();
        linker.ask(Note("goes on")).wait().unwrap();
        assert!(!linker.has_ended());
        tree.stop().unwrap();
    });
}

#[test]
fn m5_monitors_and_timers_that_others_have_set_stay() {
    Sim::new().check(|| {
        let (address, log) = Phoenix::spawn(|_, _| {});
        let ended = address.ended();
        address.send_later(ms(20), Note("later"));
        address.send_every(ms(10), || Note("tick"));
        restart(&address, 2);
        sleep(ms(35)).wait().unwrap();
        let log = log.take();
        assert_eq!((count(&log, "tick"), count(&log, "later")), (3, 1));
        address.stop().unwrap();
        assert_eq!(ended.wait(), Ok(ExitReason::Shutdown));
    });
}

/// The traps of a state that is gone do not catch for the next one.
#[test]
fn m5_exits_are_trapped_by_the_state_that_has_asked_for_it() {
    Sim::new().allow_faults(true).check(|| {
        let first = AtomicUsize::new(0);
        let (address, _) = Phoenix::spawn(move |_, context| {
            if first.fetch_add(1, Ordering::Relaxed) == 0 {
                context.trap_exits();
            }
        });
        let (other, near) = (spawn(Diary::new().0), address.clone());
        let link = Do(move |_: &mut Diary, context: &mut Context<Diary>| context.link(&near));
        other.ask(link).wait().unwrap();
        restart(&address, 1);
        other.send(Bomb).unwrap();
        assert!(matches!(address.ended().wait(), Ok(ExitReason::Linked(..))));
    });
}

/// A timeout of a state is looked at by its own looks only.
#[test]
fn m5_a_timeout_is_not_early_after_a_restart() {
    Sim::new().check(|| {
        let (address, _) = Phoenix::spawn(|_, context| context.set_idle_timeout(ms(40)));
        for _ in 0..3 {
            sleep(ms(9)).wait().unwrap();
            address.restart().unwrap();
        }
        let begun = sim::elapsed();
        address.ended().wait().unwrap();
        assert!(sim::elapsed() - begun >= ms(39), "{:?}", sim::elapsed() - begun);
    });
}

/// A timer for an actor that has ended is no work.
#[test]
fn timers_for_an_actor_end_with_it() {
    Sim::new().check(|| {
        let hour = Duration::from_secs(3600);
        let runtime = Runtime::builder().workers(1).build().unwrap();
        runtime.run(|| {
            let (diary, _) = Diary::spawn();
            diary.send_later(hour, Note("late"));
            diary.send_every(hour, || Note("tick"));
            diary.stop().unwrap();
            diary.ended().wait().unwrap();
            // To one that has ended already.
            diary.send_later(hour, Note("later still"));
            diary.send_every(hour, || Note("tick"));
            let (other, _) = Diary::spawn();
            let set = Do(move |_: &mut Diary, context: &mut Context<Diary>| {
                context.send_later(hour, Note("late"));
            });
            other.send(set).unwrap();
        });
        assert!(sim::elapsed() < hour, "nothing was waited for");
    });
}
