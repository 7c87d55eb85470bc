//! From the first address to the last.

use std::sync::mpsc;

use coact::Context;
use coact::actor::{AnyAddr, Stopped};
use coact::prelude::*;
use coact::routing::{Router, Routing};
use coact::supervise::{Supervisor, permanent};
use coact_tests::{check, check_with_faults, fail, finally};

use crate::world::{Bomb, Diary, Enough, Note};

#[test]
fn m2_the_start_comes_before_the_first_message() {
    check(|| {
        let (diary, log) = Diary::spawn();
        diary.send(Note("one")).unwrap();
        finally(move || {
            drop(diary);
            assert_eq!(log.take()[..2], ["started", "one"]);
        });
    });
}

#[test]
fn an_actor_starts_without_messages() {
    check(|| {
        let (diary, log) = Diary::spawn();
        finally(move || {
            assert_eq!(log.take(), ["started"]);
            drop(diary);
        });
    });
}

#[test]
fn m9_the_last_address_ends_it_after_its_messages() {
    check(|| {
        let (diary, log) = Diary::spawn();
        diary.send(Note("one")).unwrap();
        diary.send(Note("two")).unwrap();
        drop(diary);
        let expected = ["started", "one", "two", "stopped: it was done", "dropped"];
        finally(move || assert_eq!(log.take(), expected));
    });
}

/// The last address goes before the stop is processed: the end is one, and no fault.
#[test]
fn m2_an_actor_that_is_stopped_and_forgotten_ends_once() {
    check(|| {
        let (diary, log) = Diary::spawn();
        diary.send(Note("unread")).ok();
        diary.stop().unwrap();
        drop(diary);
        finally(move || {
            let mut log = log.take();
            log.retain(|entry| entry != "unread");
            assert_eq!(log, ["started", "stopped: it was told to stop", "dropped"]);
        });
    });
}

#[test]
fn an_address_that_was_upgraded_in_time_keeps_it_alive() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let weak = diary.downgrade();
        drop(diary);
        let kept = weak.upgrade();
        if let Some(kept) = &kept {
            // It may have ended before, of course.
            let _ = kept.send(Note("late"));
        }
        finally(move || {
            drop(kept);
            let log = log.take();
            let ends = log.iter().filter(|entry| entry.starts_with("stopped")).count();
            assert!(ends <= 1, "{log:?}");
        });
    });
}

#[test]
fn it_stops_itself_after_the_message() {
    check(|| {
        let (diary, log) = Diary::spawn();
        diary.send(Enough).unwrap();
        let unread = diary.ask(Note("unread"));
        let refused = unread.wait();
        assert_eq!(refused, Err(AskError::Stopped(ExitReason::Normal)));
        finally(move || {
            assert_eq!(log.take(), ["started", "stopped: it was done", "dropped"]);
            assert!(diary.has_ended());
            assert_eq!(diary.exit_reason(), Some(ExitReason::Normal));
        });
    });
}

#[test]
fn m3_an_actor_that_has_ended_gives_messages_back() {
    check(|| {
        let (diary, _) = Diary::spawn();
        diary.kill().unwrap();
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Killed));
        let error = diary.send(Note("back")).unwrap_err();
        assert!(matches!(error, SendError::Stopped(Note("back"))));
        let asked = diary.ask(Note("lost")).wait();
        assert_eq!(asked, Err(AskError::Stopped(ExitReason::Killed)));
        assert_eq!(diary.stop(), Err(Stopped));
    });
}

#[test]
fn m6_a_panic_ends_it() {
    check_with_faults(|faults| {
        let (diary, log) = Diary::spawn();
        let asked = diary.ask(Bomb);
        diary.send(Note("unread")).ok();
        assert_eq!(asked.wait(), Err(AskError::Panicked("boom".into())));
        let faults = faults.clone();
        finally(move || {
            let end = "stopped: it panicked: boom";
            assert_eq!(log.take(), ["started", end, "dropped"]);
            assert_eq!(diary.exit_reason(), Some(ExitReason::Panicked("boom".into())));
            assert_eq!(faults.len(), 1);
        });
    });
}

#[test]
fn m6_a_panic_in_a_behaviour_over_several_ends_each_that_was_held_exclusively() {
    check_with_faults(|_| {
        let [(a, _), (b, _), (c, kept)] = [Diary::spawn(), Diary::spawn(), Diary::spawn()];
        when((&a, &b, c.read()), |_| panic!("together"));
        let reason = ExitReason::Panicked("together".into());
        assert_eq!(a.ended().wait(), Ok(reason.clone()));
        assert_eq!(b.ended().wait(), Ok(reason));
        assert_eq!(c.ask(Note("alive")).wait(), Ok(2));
        finally(move || {
            assert_eq!(kept.take(), ["started", "alive"]);
            drop(c);
        });
    });
}

#[test]
fn f8_a_behaviour_on_an_actor_that_has_ended_is_skipped() {
    check_with_faults(|_| {
        let (diary, _) = Diary::spawn();
        diary.kill().unwrap();
        diary.ended().wait().unwrap();
        let other = Cown::new(1);
        let skipped = call((&other, &diary), |_| ()).wait();
        assert_eq!(skipped, Err(Broken::Closed { position: 1 }));
        assert_eq!(call(&other, |other| *other).wait(), Ok(1));
    });
}

#[test]
fn m6_a_hook_that_panics_ends_it() {
    struct Fragile;
    impl Actor for Fragile {
        fn started(&mut self, _: &mut Context<Self>) {
            panic!("no start");
        }
        fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
            panic!("no stop either");
        }
    }
    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("nor a drop");
        }
    }
    check_with_faults(|faults| {
        let fragile = spawn(Fragile);
        assert_eq!(fragile.ended().wait(), Ok(ExitReason::Panicked("no start".into())));
        let faults = faults.clone();
        finally(move || assert_eq!(faults.len(), 3));
    });
}

#[test]
fn an_idle_actor_is_small() {
    let state = size_of::<Diary>();
    // The front, the guard, the header: see `an_idle_actor_costs` in the benchmarks for the whole.
    let cell = size_of::<coact::internals::ActorCell<Diary>>() - state;
    assert!(16 + 24 + 32 + cell <= 128, "{cell} bytes in the cell");
}

#[test]
fn addresses_of_all_kinds_are_keys() {
    use std::collections::HashSet;
    check(|| {
        let [(a, _), (b, _)] = [Diary::spawn(), Diary::spawn()];
        let strong = HashSet::from([a.clone(), a.clone(), b.clone()]);
        let weak = HashSet::from([a.downgrade(), a.downgrade(), b.downgrade()]);
        let any = HashSet::from([a.to_any(), a.to_any(), b.to_any()]);
        let notes: HashSet<Recipient<Note>> =
            HashSet::from([a.to_recipient(), a.to_recipient(), b.to_recipient()]);
        assert_eq!([strong.len(), weak.len(), any.len(), notes.len()], [2; 4]);
    });
}

#[test]
fn a_weak_recipient_does_not_keep_its_actor() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let weak = Recipient::<Note>::from(&diary).downgrade();
        weak.send(Note("one")).unwrap();
        assert_eq!(weak.upgrade().map(|full| full.id()), Some(diary.id()));
        // The recipient that it was made of is gone, and the actor is not.
        assert_eq!(weak.id(), diary.id());
        drop(diary);
        finally(move || {
            assert!(weak.upgrade().is_none());
            assert!(matches!(weak.send(Note("two")), Err(SendError::Stopped(Note("two")))));
            assert_eq!(log.take(), ["started", "one", "stopped: it was done", "dropped"]);
        });
    });
}

#[test]
fn a_weak_recipient_of_a_router_is_there_as_long_as_a_full_one() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let router = Router::new(Routing::RoundRobin);
        router.add(&diary);
        let full: Recipient<Note> = router.to_recipient();
        let weak = full.downgrade();
        assert_eq!(weak, weak.clone());
        weak.send(Note("one")).unwrap();
        drop(full);
        assert!(weak.upgrade().is_none());
        finally(move || {
            drop((router, diary));
            assert_eq!(log.take()[1], "one");
        });
    });
}

#[test]
fn an_address_of_any_type_tells_of_the_end() {
    check(|| {
        let (diary, _) = Diary::spawn();
        let any = [AnyAddr::from(&diary), diary.downgrade().into(), diary.clone().into()];
        assert!(any.iter().all(|one| *one == diary.to_any() && !one.has_ended()));
        drop(diary);
        finally(move || assert!(any.iter().all(AnyAddr::has_ended)));
    });
}

#[test]
fn a_reason_leads_to_its_cause() {
    use std::error::Error;
    let first = ExitReason::Failed("no disk".into());
    let second = ExitReason::TooManyRestarts(first.clone().into());
    let cause = second.source().expect("there is one");
    assert_eq!(cause.to_string(), first.to_string());
    assert!(cause.source().is_none());
}

/// Gives its own address away while there is no other, and waits until that one is gone again.
#[derive(Actor)]
struct Giver {
    to: mpsc::Sender<Addr<Giver>>,
    gone: mpsc::Receiver<()>,
    answered: mpsc::Sender<u32>,
}

#[handlers]
impl Giver {
    #[message]
    fn give(&mut self, context: &mut Context<Self>) {
        self.to.send(context.address()).unwrap();
        self.gone.recv().unwrap();
    }

    #[message]
    fn answer(&mut self, number: u32) {
        self.answered.send(number).unwrap();
    }
}

#[test]
fn m9_what_was_sent_through_an_address_that_came_after_the_last_is_handled_before_the_end() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let _entered = runtime.enter();
    let (to, given) = mpsc::channel();
    let (tell, gone) = mpsc::channel();
    let (answered, answers) = mpsc::channel();
    let giver = spawn(Giver { to, gone, answered });
    // Twice, so that a last-handle check is put off which was put off before.
    giver.send(Give).unwrap();
    giver.send(Give).unwrap();
    drop(giver);
    for number in [1, 2] {
        let again: Addr<Giver> = given.recv().unwrap();
        again.send(Answer { number }).unwrap();
        drop(again);
        tell.send(()).unwrap();
    }
    assert_eq!(
        answers.iter().collect::<Vec<_>>(),
        [1, 2],
        "and then it ends, and its sender with it"
    );
}

/// State that is derived from a cown: `None` until it is rebuilt.
struct Derived {
    source: Cown<Vec<u32>>,
    sum: Option<u32>,
    is_ready: bool,
    held_up: Option<mpsc::Receiver<()>>,
}

impl Derived {
    fn sum(&mut self, source: &[u32]) -> u32 {
        *self.sum.get_or_insert_with(|| source.iter().sum())
    }
}

impl Actor for Derived {
    fn restarted(&mut self, _: &ExitReason, context: &mut Context<Self>) {
        let this = context.address();
        when((&self.source, &context.address()), move |(source, derived)| {
            derived.sum(source);
            this.send(Rebuilt).unwrap();
        });
    }
}

#[handlers]
impl Derived {
    #[message]
    fn wait_and_fail(&mut self) {
        self.held_up.take().unwrap().recv().unwrap();
        fail("on purpose");
    }

    #[message]
    fn rebuilt(&mut self, context: &mut Context<Self>) {
        self.is_ready = true;
        context.unstash_all();
    }
}

struct Sum;

impl Message for Sum {
    type Reply = u32;
}

impl Receive<Sum> for Derived {
    fn receive(&mut self, sum: Sum, reply: Reply<u32>, context: &mut Context<Self>) {
        match self.sum.filter(|_| self.is_ready) {
            Some(sum) => reply.send(sum),
            None => context.stash(sum, reply).unwrap_or_else(|_| panic!("there is room")),
        }
    }
}

/// A behaviour has the cown before the restart, and waits for the actor; the state is rebuilt all
/// the same, and it is not seen half done.
#[test]
fn state_that_is_derived_from_a_cown_is_rebuilt_after_a_restart() {
    check_with_faults(|_| {
        let source = Cown::new(vec![1, 2, 3]);
        let (go_on, gate) = mpsc::channel();
        let (made_from, mut held_up) = (source.clone(), Some(gate));
        let make = move || Derived {
            source: made_from.clone(),
            sum: None,
            is_ready: false,
            held_up: held_up.take(),
        };
        let mut tree = Supervisor::one_for_one();
        let derived = tree.child(permanent(make));
        let supervisor = tree.spawn();
        derived.send(WaitAndFail).unwrap();
        let seen = call((&source, &derived), |(source, derived)| {
            source.push(4);
            let before = derived.sum;
            derived.sum(source);
            before
        });
        let sum = derived.ask(Sum);
        go_on.send(()).unwrap();
        assert_eq!(seen.wait(), Ok(None), "it was queued before the restart");
        assert_eq!(sum.wait(), Ok(10));
        supervisor.stop().unwrap();
    });
}
