//! What happens when no messages come. In virtual time.

use std::time::Duration;

use coact::Context;
use coact::actor::ReceiveTimeout;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::runtime::RuntimeHandle;
use coact::sim::{self, Sim};
use coact::time::sleep;
use coact_tests::{Log, PATIENCE, check_with_faults};

use crate::world::{Bomb, Diary, Do, Note};

impl Handler<ReceiveTimeout> for Diary {
    fn handle(&mut self, _: ReceiveTimeout, _: &mut Context<Self>) {
        self.log.push("quiet".into());
    }
}

const PERIOD: Duration = Duration::from_millis(40);

/// A timeout is late by no more than this, and may be so early after it was set.
const LOOK: Duration = Duration::from_millis(10);

fn tell(diary: &Addr<Diary>, work: impl FnOnce(&mut Diary, &mut Context<Diary>) + Send + 'static) {
    diary.send(Do(work)).unwrap();
}

/// Lets virtual time pass, and all that happens in it.
fn pass(time: Duration) {
    sleep(time).wait().unwrap();
}

/// Lets what is due now happen.
fn settle(diary: &Addr<Diary>) {
    assert_eq!(call(diary.read(), |_| ()).wait(), Ok(()));
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn it_comes_when_nothing_has_come_and_comes_again() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| context.set_receive_timeout(PERIOD));
        pass(PERIOD - ms(1));
        assert_eq!(log.take(), ["started"]);
        pass(LOOK + ms(2));
        assert_eq!(log.take(), ["quiet"]);
        pass(PERIOD);
        assert_eq!(log.take(), ["quiet"]);
        pass(PERIOD * 3);
        assert_eq!(log.take(), ["quiet"; 3]);
        drop(diary);
    });
}

#[test]
fn each_message_puts_it_off() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| context.set_receive_timeout(PERIOD));
        for _ in 0..10 {
            pass(PERIOD - ms(1));
            diary.send(Note("here")).unwrap();
        }
        settle(&diary);
        assert_eq!(log.take()[1..], ["here"; 10]);
        pass(PERIOD - ms(1));
        assert!(log.is_empty());
        pass(LOOK + ms(2));
        assert_eq!(log.take(), ["quiet"]);
        drop(diary);
    });
}

#[test]
fn behaviours_that_hold_the_actor_put_it_off_and_readers_do_not() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| context.set_receive_timeout(PERIOD));
        for _ in 0..5 {
            pass(PERIOD - ms(1));
            when(&diary, |_| {});
        }
        settle(&diary);
        assert_eq!(log.take(), ["started"]);
        for _ in 0..5 {
            pass(PERIOD / 4);
            when(diary.read(), |_| {});
        }
        pass(LOOK);
        assert_eq!(log.take(), ["quiet"]);
        drop(diary);
    });
}

#[test]
fn it_can_be_cleared_and_replaced() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| {
            context.set_receive_timeout(PERIOD);
            context.clear_receive_timeout();
        });
        pass(PERIOD * 3);
        assert_eq!(log.take(), ["started"]);
        tell(&diary, |_, context| {
            context.set_receive_timeout(PERIOD);
            context.set_receive_timeout(PERIOD * 2);
        });
        pass(PERIOD * 2 - ms(1));
        assert!(log.is_empty());
        pass(LOOK * 2 + ms(2));
        assert_eq!(log.take(), ["quiet"]);
        drop(diary);
    });
}

#[test]
fn an_idle_actor_stops() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| context.set_idle_timeout(PERIOD));
        pass(PERIOD / 2);
        diary.send(Note("busy")).unwrap();
        pass(PERIOD - ms(1));
        assert!(!diary.has_ended());
        pass(LOOK + ms(2));
        assert_eq!(diary.exit_reason(), Some(ExitReason::Normal));
        assert_eq!(log.take(), ["started", "busy", "stopped: it was done", "dropped"]);
    });
}

#[test]
fn being_told_is_not_being_busy() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| {
            context.set_receive_timeout(PERIOD);
            context.set_idle_timeout(PERIOD * 3);
        });
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Normal));
        let quiet = log.take().iter().filter(|entry| *entry == "quiet").count();
        assert!((2..=3).contains(&quiet), "{quiet}");
    });
}

#[test]
fn clearing_keeps_an_idle_actor() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| {
            context.set_idle_timeout(PERIOD);
            context.clear_idle_timeout();
        });
        pass(PERIOD * 4);
        assert!(!diary.has_ended());
        assert_eq!(log.take(), ["started"]);
    });
}

#[test]
fn the_time_of_a_suspended_actor_does_not_count() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| context.set_receive_timeout(PERIOD));
        settle(&diary);
        diary.suspend().unwrap();
        pass(PERIOD * 5);
        diary.resume().unwrap();
        settle(&diary);
        assert_eq!(log.take(), ["started"]);
        pass(PERIOD + LOOK + ms(1));
        assert_eq!(log.take(), ["quiet"]);
        drop(diary);
    });
}

#[test]
fn it_does_not_keep_the_actor_and_ends_with_it() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| {
            context.set_receive_timeout(PERIOD);
            context.set_idle_timeout(PERIOD);
        });
        drop(diary);
        pass(ms(1));
        assert_eq!(log.take(), ["started", "stopped: it was done", "dropped"]);
        // That the run comes to an end shows that the timers have.
    });
}

#[test]
fn it_ends_with_the_state_that_has_set_it() {
    sim::check(|| {
        let (diary, log) = Diary::new();
        let make = {
            let log = log.clone();
            move || Diary { log: log.clone() }
        };
        let diary = actor(diary).restartable(make).spawn();
        tell(&diary, |_, context| context.set_receive_timeout(PERIOD));
        settle(&diary);
        diary.restart().unwrap();
        pass(PERIOD * 3);
        assert!(!log.take().contains(&"quiet".into()));
        drop(diary);
    });
}

#[test]
fn a_timeout_that_panics_fails_the_actor() {
    struct Nervous;
    impl Actor for Nervous {
        fn started(&mut self, context: &mut Context<Self>) {
            context.set_receive_timeout(Duration::from_millis(1));
        }
    }
    impl Handler<ReceiveTimeout> for Nervous {
        fn handle(&mut self, _: ReceiveTimeout, _: &mut Context<Self>) {
            panic!("too quiet");
        }
    }
    check_with_faults(|_| {
        let nervous = spawn(Nervous);
        assert_eq!(nervous.ended().wait(), Ok(ExitReason::Panicked("too quiet".into())));
    });
}

#[test]
fn a_timeout_of_zero_is_refused() {
    check_with_faults(|_| {
        let (diary, _) = Diary::spawn();
        tell(&diary, |_, context| context.set_idle_timeout(Duration::ZERO));
        let why = "a timeout of zero would never stop firing";
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Panicked(why.into())));
        assert!(diary.send(Bomb).is_err());
    });
}

/// Holds itself for a while for each message.
struct Slow {
    began: Log<Duration>,
    takes: Duration,
}

impl Actor for Slow {}

struct Work;

impl Message for Work {
    type Reply = ();
}

impl Receive<Work> for Slow {
    fn receive(&mut self, _: Work, reply: Reply<()>, context: &mut Context<Self>) {
        self.began.push(RuntimeHandle::current().elapsed());
        let takes = self.takes;
        context.hold(reply, move |_, _| Box::pin(async move { sleep(takes).await.unwrap() }));
    }
}

/// At a fixed rate messages pile up before an actor that is slow; with a fixed delay there is one
/// at a time, and a pause after each.
#[test]
fn a_fixed_delay_waits_for_the_end_of_the_one_before() {
    Sim::new().check(|| {
        let second = Duration::from_secs(1);
        let began = Log::new();
        let slow = spawn(Slow { began: began.clone(), takes: 5 * second });
        let timer = slow.send_every_with_fixed_delay(second, || Work);
        sleep(20 * second).wait().unwrap();
        assert!(timer.cancel());
        assert!(!timer.cancel());
        let seconds: Vec<_> = began.take().iter().map(Duration::as_secs).collect();
        assert_eq!(seconds, [1, 7, 13, 19]);
        // Messages in flight are handled, and nothing follows.
        sleep(20 * second).wait().unwrap();
        assert!(began.take().is_empty());
    });
}

/// Refused and dropped messages are followed, too, and the timer ends with the actor.
#[test]
fn a_fixed_delay_goes_on_after_a_refusal_and_ends_with_the_actor() {
    Sim::new().check(|| {
        let second = Duration::from_secs(1);
        let began = Log::new();
        let slow = actor(Slow { began: began.clone(), takes: Duration::ZERO });
        let slow = slow.mailbox(Mailbox::bounded(1).fail()).spawn();
        slow.suspend().unwrap();
        slow.send(Work).unwrap();
        let timer = slow.send_every_with_fixed_delay(second, || Work);
        sleep(second * 5 / 2).wait().unwrap();
        assert_eq!(slow.mailbox().refused(), 2);
        slow.resume().unwrap();
        sleep(2 * second).wait().unwrap();
        assert_eq!(began.take().len(), 3);
        slow.stop().unwrap();
        slow.ended().wait().unwrap();
        sleep(2 * second).wait().unwrap();
        assert!(!timer.cancel(), "it has ended with the actor");
    });
}

/// The time does not depend on what the asking thread has entered.
#[test]
fn a_limit_on_a_thread_whose_runtime_has_ended() {
    struct Slow;
    impl Actor for Slow {}
    struct Question;
    impl Message for Question {
        type Reply = u32;
    }
    impl Receive<Question> for Slow {
        fn receive(&mut self, _: Question, reply: Reply<u32>, context: &mut Context<Self>) {
            context.detach(reply, async {
                let _ = sleep(Duration::from_millis(5)).await;
                7
            });
        }
    }
    let runtimes = [1, 1].map(|workers| coact_tests::runtime(workers, &coact_tests::Faults::new()));
    let [ended, living] = runtimes;
    let slow = living.run(|| spawn(Slow));
    let home = ended.handle();
    drop(ended);
    let _entered = home.enter();
    assert_eq!(slow.ask(Question).timeout(PATIENCE).wait(), Ok(7));
}
