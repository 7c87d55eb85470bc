//! Timers that an actor knows by a key. In virtual time, but for one test on real workers.

use std::future::pending;
use std::time::Duration;

use coact::Context;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::sim::{self, Sim};
use coact::supervise::{Supervisor, permanent};
use coact::time::sleep;
use coact_tests::{Log, check, check_with_faults, finally};

use crate::world::{Bomb, Diary, Do, Note};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn tell(diary: &Addr<Diary>, work: impl FnOnce(&mut Diary, &mut Context<Diary>) + Send + 'static) {
    diary.send(Do(work)).unwrap();
}

/// Lets virtual time pass, and all that happens in it.
fn pass(time: Duration) {
    sleep(time).wait().unwrap();
}

/// What was logged besides the steps of a lifecycle.
fn notes(log: &Log<String>) -> Vec<String> {
    let is_note =
        |entry: &String| entry != "started" && entry != "dropped" && !entry.contains(": ");
    log.take().into_iter().filter(is_note).collect()
}

/// Waits until the diary has handled all that it was sent.
fn settle(diary: &Addr<Diary>) {
    assert_eq!(call(diary, |_| ()).wait(), Ok(()));
}

#[test]
fn a_timer_fires_once_or_until_it_is_cancelled() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| {
            let mut timers = context.timers();
            timers.send_later("once", ms(15), Note("once"));
            timers.send_every("rate", ms(10), || Note("rate"));
            timers.send_every_with_fixed_delay("delay", ms(25), || Note("delay"));
        });
        pass(ms(45));
        assert_eq!(notes(&log), ["rate", "once", "rate", "delay", "rate", "rate"]);
        tell(&diary, |_, context| {
            let mut timers = context.timers();
            assert!(!timers.is_active("once"));
            assert!(timers.is_active("rate") && timers.is_active("delay"));
            assert!(timers.cancel("rate") && !timers.cancel("rate"));
            assert!(!timers.is_active("rate"));
            assert!(!timers.cancel("unknown"));
        });
        pass(ms(20));
        assert_eq!(notes(&log), ["delay"]);
        tell(&diary, |_, context| context.timers().cancel_all());
        pass(ms(100));
        assert!(notes(&log).is_empty());
        drop(diary);
    });
}

#[test]
fn m13_a_tick_that_waits_is_not_handled_after_its_timer_is_cancelled() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| {
            let mut timers = context.timers();
            timers.send_later(1, ms(10), Note("later"));
            timers.send_every(2, ms(10), || Note("rate"));
            timers.send_every_with_fixed_delay(3, ms(10), || Note("delay"));
            timers.send_later(4, ms(10), Note("stays"));
        });
        settle(&diary);
        diary.suspend().unwrap();
        tell(&diary, |_, context| {
            for key in [1, 2, 3] {
                assert!(context.timers().cancel(key), "{key} is active while its tick waits");
            }
        });
        pass(ms(50));
        diary.resume().unwrap();
        pass(ms(50));
        assert_eq!(notes(&log), ["stays"]);
        assert_eq!(diary.dead_letters(), 0);
        drop(diary);
    });
}

#[test]
fn m13_a_tick_that_waits_is_not_handled_after_its_timer_is_set_again() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| {
            context.timers().send_later("key", ms(10), Note("first"));
            context.timers().send_every("rate", ms(10), || Note("first"));
        });
        settle(&diary);
        diary.suspend().unwrap();
        tell(&diary, |_, context| {
            context.timers().send_later("key", ms(10), Note("second"));
            context.timers().send_later("rate", ms(20), Note("third"));
        });
        pass(ms(25));
        diary.resume().unwrap();
        settle(&diary);
        assert!(notes(&log).is_empty());
        pass(ms(50));
        assert_eq!(notes(&log), ["second", "third"]);
        assert_eq!(diary.dead_letters(), 0);
        drop(diary);
    });
}

#[test]
fn m13_a_tick_that_waits_is_not_handled_by_the_next_state() {
    for panics in [false, true] {
        Sim::new().allow_faults(true).check(move || {
            let log = Log::new();
            let made = log.clone();
            let mut tree = Supervisor::one_for_one();
            let diary = tree.child(permanent(move || Diary { log: made.clone() }));
            tell(&diary, |_, context| {
                context.timers().send_later("key", ms(10), Note("later"));
                context.timers().send_every("rate", ms(10), || Note("rate"));
                context.timers().send_every_with_fixed_delay("delay", ms(10), || Note("delay"));
                context.hold(Reply::unwanted(), |_, _| {
                    Box::pin(async { sleep(ms(50)).await.unwrap() })
                });
            });
            if panics {
                diary.send(Bomb).unwrap();
            }
            let supervisor = tree.spawn();
            pass(ms(30));
            if !panics {
                diary.restart().unwrap();
            }
            pass(ms(50));
            tell(&diary, |diary, context| {
                let mut timers = context.timers();
                let is_any =
                    ["key", "rate", "delay"].map(|key| timers.is_active(key)).contains(&true);
                diary.log.push(format!("active {is_any}"));
                timers.send_later("key", ms(10), Note("new"));
            });
            pass(ms(50));
            assert_eq!(notes(&log), ["active false", "new"]);
            assert_eq!(diary.dead_letters(), 0);
            supervisor.stop().unwrap();
        });
    }
}

#[test]
fn m13_a_tick_that_waits_at_the_end_is_no_dead_letter() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| {
            context.timers().send_later("key", ms(10), Note("later"));
            context.timers().send_every("rate", ms(10), || Note("rate"));
        });
        settle(&diary);
        diary.suspend().unwrap();
        pass(ms(25));
        diary.stop().unwrap();
        diary.ended().wait().unwrap();
        pass(ms(25));
        assert!(notes(&log).is_empty());
        assert_eq!(diary.dead_letters(), 0);
    });
}

#[test]
fn m13_of_each_key_one_tick_waits() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| {
            context.timers().send_every("a", ms(10), || Note("a"));
            context.timers().send_every("b", ms(10), || Note("b"));
        });
        settle(&diary);
        diary.suspend().unwrap();
        pass(ms(95));
        diary.resume().unwrap();
        settle(&diary);
        let mut waited = notes(&log);
        waited.sort();
        assert_eq!(waited, ["a", "b"]);
        // The rate is as before.
        pass(ms(10));
        assert_eq!(notes(&log).len(), 2);
        drop(diary);
    });
}

#[test]
fn m13_ticks_keep_their_place_beside_the_bound_and_the_lanes() {
    for mailbox in [
        Mailbox::bounded(1).fail(),
        Mailbox::bounded(1).drop_newest(),
        Mailbox::bounded(1).drop_oldest(),
        Mailbox::lanes(2).assign::<Note>(0),
    ] {
        let mailbox = std::sync::Mutex::new(Some(mailbox));
        sim::check(move || {
            let (diary, log) = Diary::new();
            let mailbox = mailbox.lock().unwrap().clone();
            let diary = actor(diary).mailbox(mailbox.unwrap()).spawn();
            tell(&diary, |_, context| {
                context.timers().send_every("key", ms(10), || Note("tick"));
            });
            settle(&diary);
            diary.suspend().unwrap();
            diary.send(Note("before")).unwrap();
            let waits = diary.mailbox().len();
            pass(ms(35));
            assert_eq!(diary.mailbox().len(), waits);
            diary.resume().unwrap();
            settle(&diary);
            assert_eq!(notes(&log), ["before", "tick"]);
            let mailbox = diary.mailbox();
            assert_eq!((mailbox.dropped(), mailbox.refused(), mailbox.len()), (0, 0, 0));
            drop(diary);
        });
    }
}

/// A message that is sent after a timer has fired does not come before its tick.
#[test]
fn m13_no_message_overtakes_a_tick() {
    sim::check(|| {
        let (diary, log) = Diary::new();
        let diary = actor(diary).mailbox(Mailbox::bounded(1).drop_oldest()).spawn();
        tell(&diary, |_, context| {
            context.timers().send_later("key", ms(10), Note("tick"));
        });
        settle(&diary);
        diary.suspend().unwrap();
        diary.send(Note("dropped")).unwrap();
        pass(ms(15));
        diary.send(Note("after")).unwrap();
        diary.resume().unwrap();
        settle(&diary);
        assert_eq!(notes(&log), ["tick", "after"]);
        drop(diary);
    });
}

#[test]
fn keys_are_of_any_type_and_differ_by_it() {
    #[derive(PartialEq, Eq, Hash)]
    enum Key {
        Session(u64),
        All,
    }
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| {
            let mut timers = context.timers();
            timers.send_later(Key::Session(1), ms(10), Note("one"));
            timers.send_later(Key::Session(2), ms(20), Note("two"));
            timers.send_later(Key::All, ms(30), Note("all"));
            timers.send_later(1_u64, ms(40), Note("u64"));
            timers.send_later(1_u32, ms(50), Note("u32"));
            timers.send_later(String::from("name"), ms(60), Note("name"));
            assert!(!timers.cancel("name"), "that is a `&str`");
            assert!(timers.cancel(Key::Session(1)));
            assert!(timers.cancel(1_u64));
            assert!(timers.is_active(1_u32) && timers.is_active(String::from("name")));
        });
        pass(ms(100));
        assert_eq!(notes(&log), ["two", "all", "u32", "name"]);
        drop(diary);
    });
}

#[test]
fn a_tick_sets_its_timer_again() {
    struct Retry {
        left: u32,
        at: Log<Duration>,
    }
    #[derive(Message)]
    struct Try;
    impl Actor for Retry {
        fn started(&mut self, context: &mut Context<Self>) {
            context.timers().send_later("retry", ms(1), Try);
        }
    }
    impl Handler<Try> for Retry {
        fn handle(&mut self, _: Try, context: &mut Context<Self>) {
            self.at.push(sim::elapsed());
            assert!(!context.timers().is_active("retry"));
            match self.left.checked_sub(1) {
                Some(left) => {
                    self.left = left;
                    context.timers().send_later("retry", ms(10), Try);
                }
                None => context.stop(),
            }
        }
    }
    sim::check(|| {
        let at = Log::new();
        let retry = spawn(Retry { left: 3, at: at.clone() });
        retry.ended().wait().unwrap();
        let at = at.take();
        assert_eq!(at.len(), 4);
        assert!(at.windows(2).all(|pair| pair[1] - pair[0] >= ms(10)), "{at:?}");
    });
}

/// In a future that holds the actor, too.
#[test]
fn async_handlers_set_and_cancel_timers() {
    struct Client {
        log: Log<&'static str>,
    }
    impl Actor for Client {}
    #[handlers]
    impl Client {
        #[message(held)]
        async fn begin(&mut self, context: &mut Context<Self>) {
            context.timers().send_later("void", ms(5), Tick { note: "void" });
            context.timers().send_later("limit", ms(5), Tick { note: "limit" });
            sleep(ms(20)).await.unwrap();
            // Both have fired, and wait for the end of this.
            assert!(context.timers().cancel("void"));
            self.log.push("begun");
        }

        #[message]
        fn tick(&mut self, note: &'static str) {
            self.log.push(note);
        }
    }
    sim::check(|| {
        let log = Log::new();
        let client = spawn(Client { log: log.clone() });
        client.ask(Begin).wait().unwrap();
        pass(ms(50));
        assert_eq!(log.take(), ["begun", "limit"]);
        drop(client);
    });
}

/// The delay counts from the end of what the handler holds the actor for.
#[test]
fn a_fixed_delay_counts_from_the_answer() {
    struct Slow(Log<u128>);
    impl Actor for Slow {
        fn started(&mut self, context: &mut Context<Self>) {
            context.timers().send_every_with_fixed_delay("work", ms(1000), || Work);
        }
    }
    #[derive(Message)]
    struct Work;
    impl Receive<Work> for Slow {
        fn receive(&mut self, _: Work, reply: Reply<()>, context: &mut Context<Self>) {
            self.0.push(sim::elapsed().as_secs().into());
            context.hold(reply, |_, _| Box::pin(async { sleep(ms(5000)).await.unwrap() }));
        }
    }
    Sim::new().check(|| {
        let began = Log::new();
        let slow = spawn(Slow(began.clone()));
        pass(ms(20_000));
        assert_eq!(began.take(), [1, 7, 13, 19]);
        slow.stop().unwrap();
        slow.ended().wait().unwrap();
    });
}

/// That the run comes to an end shows that the timers have.
#[test]
fn timers_keep_no_actor_alive_and_end_with_it() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| {
            context.timers().send_every("rate", ms(10), || Note("rate"));
            context.timers().send_every_with_fixed_delay("delay", ms(10), || Note("delay"));
            context.timers().send_later("later", ms(10), Note("later"));
        });
        drop(diary);
        pass(ms(1));
        assert_eq!(log.take(), ["started", "stopped: it was done", "dropped"]);
    });
}

#[test]
fn a_period_of_zero_is_refused() {
    Sim::new().allow_faults(true).check(|| {
        for every in [
            |context: &mut Context<Diary>| context.timers().send_every(1, Duration::ZERO, || Bomb),
            |context: &mut Context<Diary>| {
                context.timers().send_every_with_fixed_delay(1, Duration::ZERO, || Bomb);
            },
        ] {
            let (diary, _) = Diary::spawn();
            tell(&diary, move |_, context| every(context));
            let reason = diary.ended().wait().unwrap();
            let ExitReason::Panicked(why) = reason else { panic!("{reason:?}") };
            assert!(why.contains("of zero would never stop firing"), "{why}");
        }
    });
}

#[test]
fn a_closure_that_panics_fails_the_actor() {
    Sim::new().allow_faults(true).check(|| {
        let (diary, _) = Diary::spawn();
        tell(&diary, |_, context| {
            context.timers().send_every("key", ms(10), || -> Note { panic!("no message") });
        });
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Panicked("no message".into())));
    });
}

/// Keys, messages and closures may panic when they are dropped: each ends on its own.
#[test]
fn destructors_that_panic_leave_no_timer_behind() {
    struct Fragile(Log<&'static str>);
    impl Drop for Fragile {
        fn drop(&mut self) {
            self.0.push("gone");
            panic!("no drop");
        }
    }
    impl PartialEq for Fragile {
        fn eq(&self, _: &Self) -> bool {
            true
        }
    }
    impl Eq for Fragile {}
    impl std::hash::Hash for Fragile {
        fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
    }
    struct Glass(#[expect(dead_code, reason = "it is dropped")] Fragile);
    impl Message for Glass {
        type Reply = ();
    }
    impl Handler<Glass> for Diary {
        fn handle(&mut self, glass: Glass, _: &mut Context<Self>) {
            drop(glass);
        }
    }
    Sim::new().allow_faults(true).check(|| {
        let (diary, _) = Diary::spawn();
        let gone = Log::new();
        let log = gone.clone();
        tell(&diary, move |_, context| {
            let fragile = || Fragile(log.clone());
            let mut timers = context.timers();
            timers.send_later(fragile(), ms(10), Glass(fragile()));
            // Replaces it.
            timers.send_later(fragile(), ms(10), Glass(fragile()));
            timers.send_later(1, ms(10), Glass(fragile()));
            let captured = fragile();
            timers.send_every(2, ms(10), move || {
                let _ = &captured;
                Note("never")
            });
            assert!(timers.cancel(fragile()));
        });
        settle(&diary);
        diary.suspend().unwrap();
        pass(ms(20));
        diary.kill().unwrap();
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Killed));
        pass(ms(1));
        // Three keys, three messages, a closure.
        assert_eq!(gone.len(), 7);
    });
}

/// Whatever the timer is doing when it is cancelled or replaced.
#[test]
fn m13_a_cancelled_timer_is_silent_on_real_workers() {
    struct Racer {
        current: u32,
        ticks: Log<u32>,
    }
    impl Actor for Racer {}
    #[derive(Message)]
    struct Tick(u32);
    impl Handler<Tick> for Racer {
        fn handle(&mut self, Tick(round): Tick, _: &mut Context<Self>) {
            assert_eq!(round, self.current, "a tick of a timer that was replaced or cancelled");
            self.ticks.push(round);
        }
    }
    #[derive(Message)]
    struct Round(u32);
    impl Handler<Round> for Racer {
        fn handle(&mut self, Round(round): Round, context: &mut Context<Self>) {
            if round.is_multiple_of(3) {
                context.timers().cancel("key");
                self.current = u32::MAX;
            } else {
                self.current = round;
                context.timers().send_later("key", Duration::ZERO, Tick(round));
            }
        }
    }
    check(|| {
        let ticks = Log::new();
        let racer = spawn(Racer { current: u32::MAX, ticks: ticks.clone() });
        for round in 1..=301 {
            racer.send(Round(round)).unwrap();
            if round % 2 == 0 {
                std::thread::yield_now();
            }
        }
        finally(move || {
            // The last round has set it.
            assert_eq!(ticks.take().last(), Some(&301));
            drop(racer);
        });
    });
}

/// An actor that is held for good does not collect ticks, and its end is the end of its timers.
#[test]
fn a_held_actor_collects_no_ticks() {
    check_with_faults(|_| {
        let (diary, log) = Diary::spawn();
        let hold = |_: &mut Diary, context: &mut Context<Diary>| {
            context.timers().send_every("key", ms(1), || Note("tick"));
            context.hold(Reply::unwanted(), |_, _| Box::pin(pending::<()>()));
        };
        diary.ask(Do(hold)).wait().unwrap();
        diary.stop().unwrap();
        finally(move || {
            assert!(notes(&log).is_empty());
            assert_eq!(diary.dead_letters(), 0);
        });
    });
}
