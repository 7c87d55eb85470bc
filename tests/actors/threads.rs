//! Plain threads as actors.

use std::thread;
use std::time::Duration;

use coact::prelude::*;
use coact::sim;
use coact::{Context, this_thread};
use coact_tests::{Log, check, check_with_faults, finally, panic_of};

use crate::world::{Diary, Do};

/// Numbers, and where they come from.
#[derive(Debug, PartialEq)]
struct Number(u64);

impl Message for Number {
    type Reply = u64;
}

struct Word(&'static str);

impl Message for Word {
    type Reply = ();
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A thread that is simulated, as a result.
fn simulated<R: Send + 'static>(main: impl FnOnce() -> R + Send + 'static) -> Promise<R> {
    sim::thread(main)
}

#[test]
fn each_kind_of_message_is_kept_in_order() {
    check(|| {
        let (numbers, words) = (this_thread::recipient(), this_thread::recipient());
        let sender = thread::spawn(move || {
            for n in 0..100 {
                numbers.send(Number(n)).unwrap();
            }
            words.send(Word("all sent")).unwrap();
        });
        // The last one of the other kind overtakes those of the first.
        assert_eq!(this_thread::receive::<Word>().0, "all sent");
        for n in 0..100 {
            assert_eq!(this_thread::receive::<Number>().0, n);
        }
        assert_eq!(this_thread::try_receive::<Number>(), None);
        sender.join().unwrap();
    });
}

#[test]
fn an_actor_answers_to_a_thread_as_to_an_actor() {
    check(|| {
        let (diary, _) = Diary::spawn();
        let me: Recipient<Number> = this_thread::recipient();
        diary
            .send(Do(move |_: &mut Diary, _: &mut Context<Diary>| me.send(Number(7)).unwrap()))
            .unwrap();
        assert_eq!(this_thread::receive::<Number>(), Number(7));
    });
}

#[test]
fn a_thread_is_asked() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let me: Recipient<Number> = this_thread::recipient();
        diary
            .send(Do(move |_: &mut Diary, context: &mut Context<Diary>| {
                for n in [1, 2, 3] {
                    context.on_answer(me.ask(Number(n)), |diary, answer, _| {
                        diary.log.push(format!("{answer:?}"));
                    });
                }
            }))
            .unwrap();
        this_thread::answer(|number: Number| number.0 * 2);
        let (number, reply) = this_thread::receive_with_reply::<Number>();
        assert!(reply.is_wanted());
        reply.send(number.0 * 3);
        // To receive is not to answer.
        assert_eq!(this_thread::receive::<Number>(), Number(3));
        finally(move || {
            assert_eq!(log.take(), ["started", "Ok(2)", "Ok(6)", "Err(NoReply)"]);
            drop(diary);
        });
    });
}

#[test]
fn a_thread_waits_for_so_long_and_no_longer() {
    sim::check(|| {
        assert_eq!(this_thread::receive_timeout::<Number>(ms(20)), None);
        assert_eq!(sim::elapsed(), ms(20));
        let me: Recipient<Number> = this_thread::recipient();
        after(ms(5), (), move |()| me.send(Number(1)).unwrap());
        assert_eq!(this_thread::receive_timeout::<Number>(ms(20)), Some(Number(1)));
        assert_eq!(sim::elapsed(), ms(25));
        assert_eq!(this_thread::receive_timeout::<Number>(Duration::ZERO), None);
    });
}

#[test]
fn the_end_of_a_thread_ends_its_recipients() {
    let (numbers, unread) = thread::spawn(|| {
        let me: Recipient<Number> = this_thread::recipient();
        me.send(Number(1)).unwrap();
        let unread = me.ask(Number(2));
        assert!(!me.has_ended());
        (me, unread)
    })
    .join()
    .unwrap();
    assert_eq!(unread.wait(), Err(AskError::Stopped(ExitReason::Normal)));
    assert!(numbers.has_ended());
    assert!(matches!(numbers.send(Number(3)), Err(SendError::Stopped(Number(3)))));
    assert_eq!(numbers.ask(Number(4)).wait(), Err(AskError::Stopped(ExitReason::Normal)));
}

#[test]
fn an_unread_message_whose_destructor_panics_does_not_stop_the_others() {
    struct Fragile(Option<Log<&'static str>>);
    impl Drop for Fragile {
        fn drop(&mut self) {
            match &self.0 {
                Some(log) => log.push("dropped"),
                None => panic!("no drop"),
            }
        }
    }
    impl Message for Fragile {
        type Reply = ();
    }
    check_with_faults(|_| {
        let log = Log::new();
        let seen = log.clone();
        let ended = thread::spawn(move || {
            let me = this_thread::recipient();
            me.send(Fragile(None)).unwrap();
            me.send(Fragile(Some(seen))).unwrap();
        });
        ended.join().unwrap();
        assert_eq!(log.take(), ["dropped"]);
    });
}

#[test]
fn every_thread_is_somebody_else() {
    let mine = this_thread::id();
    assert_eq!(this_thread::id(), mine);
    assert_eq!(this_thread::recipient::<Number>().id(), mine);
    assert_eq!(this_thread::recipient::<Number>(), this_thread::recipient::<Number>());
    assert_ne!(thread::spawn(this_thread::id).join().unwrap(), mine);
    let (diary, _) = Diary::spawn();
    assert_ne!(diary.id(), mine);
}

#[test]
fn inside_of_a_handler_there_is_no_thread() {
    check(|| {
        let (diary, _) = Diary::spawn();
        let messages = Log::new();
        let seen = messages.clone();
        diary
            .send(Do(move |_: &mut Diary, _: &mut Context<Diary>| {
                seen.push(panic_of(this_thread::recipient::<Number>));
                seen.push(panic_of(this_thread::receive::<Number>));
                seen.push(panic_of(|| this_thread::receive_timeout::<Number>(Duration::ZERO)));
                seen.push(panic_of(this_thread::try_receive::<Number>));
                seen.push(panic_of(this_thread::receive_with_reply::<Number>));
                seen.push(panic_of(|| this_thread::answer(|number: Number| number.0)));
            }))
            .unwrap();
        let cown = Cown::new(messages.clone());
        when(&cown, |seen| seen.push(panic_of(this_thread::receive::<Number>)));
        finally(move || {
            let messages = messages.take();
            assert_eq!(messages.len(), 7);
            for message in &messages {
                assert!(message.contains("use `Context::address`"), "{message}");
            }
            let by_name = |name| messages.iter().any(|message| message.starts_with(name));
            assert!(by_name("`this_thread::receive`"), "{messages:?}");
            assert!(by_name("`this_thread::receive_with_reply`"), "{messages:?}");
            drop(diary);
        });
    });
}

#[test]
fn threads_play_with_actors_on_every_schedule() {
    sim::check(|| {
        let (diary, _) = Diary::spawn();
        let main: Recipient<Number> = this_thread::recipient();
        let players: Vec<_> = (0..3)
            .map(|player| {
                let (main, diary) = (main.clone(), diary.clone());
                simulated(move || {
                    // Each has mail of its own.
                    let me: Recipient<Word> = this_thread::recipient();
                    diary
                        .send(Do(move |_: &mut Diary, _: &mut Context<Diary>| {
                            drop(me.send(Word("go")))
                        }))
                        .unwrap();
                    assert_eq!(this_thread::receive::<Word>().0, "go");
                    assert!(this_thread::try_receive::<Word>().is_none());
                    assert_eq!(main.ask(Number(player)).wait(), Ok(player * 2));
                    for n in 0..3 {
                        main.send(Number(10 * player + n)).unwrap();
                    }
                    this_thread::id()
                })
            })
            .collect();
        let mut last = [None; 3];
        let mut asked = 0;
        for _ in 0..12 {
            let (Number(n), reply) = this_thread::receive_with_reply();
            if reply.is_wanted() {
                asked += 1;
                reply.send(n * 2);
                continue;
            }
            let (player, n) = ((n / 10) as usize, n % 10);
            assert!(last[player].is_none_or(|last| last + 1 == n));
            last[player] = Some(n);
        }
        assert_eq!((asked, last), (3, [Some(2); 3]));
        let mut ids: Vec<_> = players.into_iter().map(|player| player.wait().unwrap()).collect();
        ids.push(this_thread::id());
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 4);
    });
}

#[test]
fn the_end_of_a_simulated_thread_is_an_end_too() {
    sim::check(|| {
        let thread = simulated(this_thread::recipient::<Number>).wait().unwrap();
        // The thread has given its result, and then it ends.
        let ask = thread.ask(Number(1));
        assert_eq!(ask.wait(), Err(AskError::Stopped(ExitReason::Normal)));
    });
}

#[test]
fn a_thread_whose_recipient_nobody_has_does_not_wait_for_ever() {
    let alone = thread::spawn(this_thread::receive::<Number>).join();
    let why = alone.unwrap_err().downcast::<String>().unwrap();
    assert!(why.contains("it has no recipient"), "{why}");
    // The last message of one who has it no more is received.
    for _ in 0..500 {
        let last = thread::spawn(|| {
            let me = this_thread::recipient::<Number>();
            let sender = thread::spawn(move || me.send(Number(1)).unwrap());
            let received = this_thread::receive::<Number>();
            sender.join().unwrap();
            received
        });
        assert_eq!(last.join().unwrap(), Number(1));
    }
}
