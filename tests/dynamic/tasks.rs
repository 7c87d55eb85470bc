//! Actors whose bodies are futures.

use std::pin::pin;
use std::time::Duration;

use coact::actor::actor;
use coact::dynamic::{
    DynActor, DynAddr, DynContext, DynTask, atom, cases, spawn_async, spawn_async_with, spawn_dyn,
};
use coact::prelude::*;
use coact_tests::{Log, everywhere, everywhere_with_faults, finally};

const LONG: Duration = Duration::from_secs(60);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

struct Told(&'static str, Log<&'static str>);

impl Drop for Told {
    fn drop(&mut self) {
        self.1.push(self.0);
    }
}

async fn pairs(mut me: DynTask<Vec<i32>>) {
    loop {
        let first = me.receive(cases! { |_me: &mut DynTask<Vec<i32>>| (n: i32) => n }).await;
        let second = me.receive(cases! { |_me: &mut DynTask<Vec<i32>>| (n: i64) => n }).await;
        me.state_mut().push(first + second as i32);
    }
}

#[test]
fn d9_a_future_takes_what_its_cases_take_and_keeps_the_rest() {
    everywhere(|| {
        let it = spawn_async_with(Vec::new(), pairs);
        for n in 1..=3 {
            it.send(n).unwrap();
        }
        for n in 1..=3_i64 {
            it.send(10 * n).unwrap();
        }
        it.send("never taken").unwrap();
        assert_eq!(call(&it, |sums| sums.clone()).wait(), Ok(vec![11, 22, 33]));
        let skipped = call(&**it, |actor: &mut DynActor| actor.skipped().len());
        assert_eq!(skipped.wait(), Ok(1));
    });
}

/// A behaviour comes at its place, though the body waits for what it sends.
#[test]
fn d10_a_behaviour_runs_between_two_waits_of_a_future() {
    everywhere(|| {
        let it = spawn_async_with(Vec::new(), pairs);
        it.send(1).unwrap();
        let second = it.clone();
        when(&it, move |sums| {
            sums.push(0);
            second.send(2_i64).unwrap();
        });
        it.send(5).unwrap();
        it.send(6_i64).unwrap();
        let sums = call(&it, |sums| sums.clone()).wait().unwrap();
        assert_eq!(sums[0], 0);
        drop(call(&it, |_| ()).wait());
    });
}

#[test]
fn d12_what_ends_the_actor_drops_the_future_which_has_its_state_meanwhile() {
    everywhere(|| {
        struct Session<'a>(&'a mut DynTask<u32>, Log<u32>);
        impl Drop for Session<'_> {
            fn drop(&mut self) {
                *self.0.state_mut() += 1;
                self.1.push(*self.0.state());
            }
        }
        let log = Log::new();
        let told = log.clone();
        let it = spawn_async_with(7, |mut me| async move {
            let session = Session(&mut me, told);
            session.0.receive(cases! { |me: &mut DynTask<u32>| (n: i32) => me.reply(n) }).await;
            session.0.receive(cases! { |_me: &mut DynTask<u32>| (atom!("never")) => () }).await;
        });
        it.ask(1).wait().unwrap();
        it.stop().unwrap();
        it.ended().wait().unwrap();
        finally(move || assert_eq!(log.take(), [8]));
    });
}

#[test]
fn d12_a_future_without_an_address_lives_as_long_as_it_has_a_time() {
    everywhere(|| {
        let log = Log::new();
        let told = log.clone();
        let it = spawn_async(|mut me: DynTask| async move {
            let log = told;
            let _told = Told("dropped", log.clone());
            me.receive(cases! { |_me: &mut DynTask| (_: i32) => () }).await;
            let late = me.receive(cases! { |_me: &mut DynTask|
                (_: i32) => "message",
                after ms(1) => "late",
            });
            let late = late.await;
            log.push(late);
            me.receive(cases! { |_me: &mut DynTask| (_: i32) => () }).await;
            log.push("not reached");
        });
        it.send(1).unwrap();
        drop(it);
        finally(move || assert_eq!(log.take(), ["late", "dropped"]));
    });
}

#[test]
fn d13_a_restart_makes_a_new_future_and_skipped_messages_come_first() {
    everywhere(|| {
        let make = || {
            DynActor::with_future((), |mut me: DynTask| async move {
                me.receive(cases! { |_me: &mut DynTask| (atom!("go")) => () }).await;
                loop {
                    me.receive(cases! { |me: &mut DynTask| (n: i32) => me.reply(n) }).await;
                }
            })
        };
        let it = DynAddr::from(actor(make()).restartable(make).spawn());
        let asks = [1, 2].map(|n| it.ask(n));
        it.restart().unwrap();
        it.send(atom!("go")).unwrap();
        for (n, ask) in (1..).zip(asks) {
            assert_eq!(ask.wait().unwrap(), (n,));
        }
    });
}

#[test]
fn d14_what_a_future_awaits_leaves_messages_waiting() {
    everywhere(|| {
        let slow = spawn_dyn(|me: &mut DynContext| {
            me.become_(cases! { |me: &mut DynContext|
                (atom!("ask")) => {
                    let mut reply = me.take_reply();
                    let mut kept = Some(());
                    me.send_later(ms(2), atom!("answer"));
                    me.become_(cases! { |_me: &mut DynContext|
                        (atom!("answer")) => if kept.take().is_some() { reply.send(7) },
                    });
                },
            });
        });
        let it = spawn_async_with(Vec::new(), move |mut me: DynTask<Vec<String>>| async move {
            let answer = me.request(&slow, atom!("ask")).await_(
                &mut me,
                cases! { |_me: &mut DynTask<Vec<String>>|
                    (n: i32) => format!("answer {n}"),
                    after LONG => "late".to_owned(),
                },
            );
            let answer = answer.await;
            me.state_mut().push(answer);
            for _ in 0..2 {
                me.receive(cases! { |me: &mut DynTask<Vec<String>>|
                    (n: i32) => me.state_mut().push(n.to_string()),
                })
                .await;
            }
            me.receive(cases! { |me: &mut DynTask<Vec<String>>|
                (atom!("end")) => { let all = me.state().join(" "); me.reply(all) },
            })
            .await;
        });
        it.send(1).unwrap();
        it.send(2).unwrap();
        assert_eq!(it.ask(atom!("end")).wait().unwrap(), ("answer 7 1 2".to_owned(),));
    });
}

/// While it awaits something else, the actor is held; a stop ends that.
#[test]
fn another_future_holds_the_actor() {
    everywhere(|| {
        let it = spawn_async_with(Vec::new(), |mut me: DynTask<Vec<u32>>| async move {
            coact::time::sleep(ms(2)).await.unwrap();
            me.state_mut().push(1);
            me.receive(cases! { |me: &mut DynTask<Vec<u32>>| (n: u32) => me.state_mut().push(n) })
                .await;
            let (_kept, never) = Promise::<()>::channel();
            drop(never.await);
        });
        when(&it, |all| all.push(2));
        // The behaviour has come after the sleep.
        assert_eq!(call(&it, |all| all.clone()).wait(), Ok(vec![1, 2]));
        it.send(3_u32).unwrap();
        it.stop().unwrap();
        it.ended().wait().unwrap();
    });
}

/// A wait that is dropped takes nothing.
#[test]
fn a_wait_that_is_given_up_loses_no_message() {
    everywhere(|| {
        let it = spawn_async(|mut me: DynTask| async move {
            {
                let mut wait = pin!(me.receive(cases! { |_me: &mut DynTask| (_: u8) => () }));
                let mut polls = 0;
                // Given up when it is polled for the second time, with a message.
                std::future::poll_fn(|context| {
                    polls += 1;
                    if polls == 2 {
                        return std::task::Poll::Ready(());
                    }
                    wait.as_mut().poll(context)
                })
                .await;
            }
            me.receive(cases! { |me: &mut DynTask| (n: i32) => me.reply(n) }).await;
        });
        assert_eq!(it.ask(5).wait().unwrap(), (5,));
    });
}

#[test]
fn a_panic_of_a_future_ends_the_actor_for_that_reason() {
    everywhere_with_faults(|_| {
        let it = spawn_async(|mut me: DynTask| async move {
            me.receive(cases! { |_me: &mut DynTask| (_: i32) => panic!("as it was told") }).await;
        });
        let why = it.ask(1).wait().unwrap_err().to_string();
        assert!(why.contains("as it was told"), "{why}");
        assert!(matches!(it.ended().wait().unwrap(), ExitReason::Panicked(_)));
    });
}

/// Fifty thousand wait at once: none of them has a stack.
#[test]
fn many_futures_wait_at_once() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.run(|| {
        let all: Vec<DynAddr> = (0..50_000)
            .map(|_| {
                spawn_async(|mut me: DynTask| async move {
                    loop {
                        me.receive(cases! { |me: &mut DynTask| (n: i32) => me.reply(n) }).await;
                    }
                })
            })
            .collect();
        let asks: Vec<_> = all.iter().map(|it| it.ask(1)).collect();
        for ask in asks {
            ask.wait().unwrap();
        }
    });
}
