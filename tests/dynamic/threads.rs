//! Plain threads that take tuples, and wait for them where they are.

use std::ops::ControlFlow::{Break, Continue};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use coact::dynamic::{
    AnyTuple, DynAddr, DynContext, DynThread, atom, cases, spawn_detached, spawn_dyn, this_thread,
};
use coact::prelude::*;
use coact::sim;
use coact_tests::{Log, panic_of};

const LONG: Duration = Duration::from_secs(60);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Runs a program on a thread of its own, with a runtime of its own.
fn run<R: Send + 'static>(program: impl FnOnce() -> R + Send + 'static) -> R {
    let thread = thread::spawn(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        runtime.run(program)
    });
    thread.join().unwrap()
}

fn echo() -> DynAddr {
    spawn_dyn(|me: &mut DynContext| {
        me.become_(cases! { |me: &mut DynContext| message => me.reply((atom!("echo"), message)) });
    })
}

#[test]
fn d8_a_thread_takes_what_its_cases_take_and_keeps_the_rest() {
    run(|| {
        let mut me = this_thread();
        let own = me.address();
        for n in 1..=3 {
            own.send(n).unwrap();
            own.send(format!("text {n}")).unwrap();
        }
        let text =
            me.receive(cases! { |_me: &mut DynThread| (text: String) if text != "text 1" => text });
        assert_eq!(text, "text 2");
        let mut all = Vec::new();
        for _ in 0..5 {
            all.push(me.receive(cases! { |_me: &mut DynThread| message => message.to_string() }));
        }
        assert_eq!(all, ["(1,)", "(\"text 1\",)", "(2,)", "(3,)", "(\"text 3\",)"]);
        let nothing = me.receive(cases! { |_me: &mut DynThread|
            _ => false,
            after Duration::ZERO => true,
        });
        assert!(nothing);
    });
}

#[test]
fn an_actor_answers_a_thread_and_a_thread_an_actor() {
    run(|| {
        let mut me = this_thread();
        let echo = echo();
        me.send_tagged(&echo, atom!("tag"), (1, "one")).unwrap();
        let (sender, asked) = me.receive(cases! { |me: &mut DynThread|
            (atom!("echo"), what: AnyTuple) if what.len() == 2 => (me.sender(), me.is_asked()),
        });
        assert_eq!((sender, asked), (Some(echo.clone()), false));

        let main = me.address();
        let asker = thread::spawn(move || {
            let mut me = this_thread();
            me.request(&main, 20).await_(
                &mut me,
                cases! { |_me: &mut DynThread|
                    (n: i32) => n,
                    after LONG => 0,
                },
            )
        });
        me.receive(cases! { |me: &mut DynThread| (n: i32) => me.reply(n + 1) });
        assert_eq!(asker.join().unwrap(), 21);

        // Passed on, it is answered to where it came from.
        let main = me.address();
        let asker = thread::spawn(move || main.ask(5).wait().unwrap().to_string());
        me.receive(cases! { |me: &mut DynThread| message => me.forward(&echo, message).unwrap() });
        assert_eq!(asker.join().unwrap(), "('echo', (5,))");
        let reply = {
            let own = me.address();
            own.send(1).unwrap();
            me.receive(cases! { |me: &mut DynThread| (1) => me.take_reply() })
        };
        drop(reply);
    });
}

#[test]
fn loops_make_their_cases_once() {
    run(|| {
        let mut me = this_thread();
        let own = me.address();
        for n in 0..10 {
            own.send(n).unwrap();
        }
        let (mut sum, count) = (0, AtomicU32::new(0));
        me.receive_for(0..3, cases! { ref |_me: &mut DynThread| (n: i32) => sum += n });
        assert_eq!(sum, 3);
        me.do_receive(
            cases! { ref |_me: &mut DynThread| (_: i32) => _ = count.fetch_add(1, Relaxed) },
        )
        .until(|_| count.load(Relaxed) == 4);
        let last = me.receive_loop(cases! { |_me: &mut DynThread|
            (n: i32) => if n == 9 { Break(n) } else { Continue(()) },
        });
        assert_eq!((count.into_inner(), last), (4, 9));
    });
}

#[test]
fn cases_can_receive_themselves() {
    run(|| {
        let mut me = this_thread();
        let own = me.address();
        let mut pairs = Vec::new();
        for tuple in [
            AnyTuple::new(1),
            AnyTuple::new(2),
            AnyTuple::new(1.5_f32),
            AnyTuple::new("between"),
            AnyTuple::new(2.5_f32),
        ] {
            own.send(tuple).unwrap();
        }
        // The second is skipped by the inner ones, and taken by the outer one.
        me.receive_for(0..2, cases! { ref |me: &mut DynThread|
            (first: i32) => {
                let sender = me.sender();
                let second = me.receive(cases! { |_me: &mut DynThread| (second: f32) => second });
                assert_eq!(me.sender(), sender);
                pairs.push(format!("{first} => {second:?}"));
            },
        });
        assert_eq!(pairs, ["1 => 1.5", "2 => 2.5"]);
        me.receive(cases! { |_me: &mut DynThread| ("between") => {} });
    });
}

#[test]
fn a_time_is_measured_from_the_call() {
    sim::check(|| {
        let mut me = this_thread();
        let own = me.address();
        let sender = own.clone();
        let other = sim::thread(move || {
            for n in 0..10 {
                coact::time::sleep(ms(10)).wait().unwrap();
                sender.send(n).unwrap();
            }
        });
        let begun = sim::elapsed();
        let late = me.receive(cases! { |_me: &mut DynThread|
            (_: String) => None,
            after ms(55) => Some(sim::elapsed() - begun),
        });
        assert_eq!(late, Some(ms(55)), "skipped messages do not make it longer");
        let mut taken = 0;
        me.receive_for(
            0..10,
            cases! { ref |_me: &mut DynThread| (n: i32) => { assert_eq!(n, taken); taken += 1 } },
        );
        other.wait().unwrap();
    });
}

#[test]
fn a_request_has_an_answer_an_error_or_no_time() {
    sim::check(|| {
        let mut me = this_thread();
        let kept = Log::new();
        let keeper = kept.clone();
        let silent = spawn_dyn(move |me: &mut DynContext| {
            me.become_(cases! { |me: &mut DynContext|
                (atom!("keep")) => keeper.push(me.take_reply()),
                (atom!("drop")) => {},
                (atom!("end")) => me.stop(),
            });
        });
        let mut ask = |what| {
            me.request(&silent, what).await_(
                &mut me,
                cases! { |_me: &mut DynThread|
                    (error: AskError) => error.to_string(),
                    after ms(30) => "late".to_owned(),
                },
            )
        };
        assert_eq!(ask(atom!("keep")), "late");
        assert_eq!(ask(atom!("drop")), AskError::NoReply.to_string());
        ask(atom!("end"));
        assert!(ask(atom!("end")).contains("ended"));
        kept.take().into_iter().for_each(|mut reply| reply.send("too late"));
        let nothing = me.receive(cases! { |_me: &mut DynThread| _ => false, after ms(1) => true });
        assert!(nothing, "a late answer is no message");
    });
}

#[test]
fn d8_a_thread_that_no_one_can_send_to_does_not_wait() {
    run(|| {
        let mut me = this_thread();
        let why = panic_of(|| me.receive(cases! { |_me: &mut DynThread| (_: i32) => {} }));
        assert!(why.contains("would wait for ever"), "{why}");
        // And one whose last address goes while it waits.
        let own = me.address();
        let other = thread::spawn(move || {
            own.send(1).unwrap();
            thread::yield_now();
            drop(own);
        });
        me.receive(cases! { |_me: &mut DynThread| (1) => {} });
        let why = panic_of(|| me.receive(cases! { |_me: &mut DynThread| (_: i32) => {} }));
        assert!(why.contains("would wait for ever"), "{why}");
        other.join().unwrap();
        // It can be had again.
        me.address().send(2).unwrap();
        me.receive(cases! { |_me: &mut DynThread| (2) => {} });
    });
}

#[test]
fn a_thread_that_ends_has_ended() {
    run(|| {
        let (send, addresses) = std::sync::mpsc::channel();
        let (go, gone) = std::sync::mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            send.send(this_thread().address()).unwrap();
            let _ = gone.recv();
        });
        let address = addresses.recv().unwrap();
        let ask = address.ask(1);
        drop(go);
        thread.join().unwrap();
        assert!(ask.wait().is_err());
        drop(address.ended().wait());
        assert!(address.send(2).is_err());
    });
}

#[test]
fn a_panic_of_a_case_fails_its_ask_and_leaves_the_others() {
    run(|| {
        let mut me = this_thread();
        let own = me.address();
        let asks = thread::spawn(move || {
            [own.ask(1), own.ask(2)].map(|ask| ask.wait().map(|tuple| tuple.to_string()))
        });
        let why = panic_of(|| {
            me.receive(cases! { |_me: &mut DynThread| (1) => panic!("one") });
        });
        assert_eq!(why, "one");
        me.receive(cases! { |me: &mut DynThread| (2) => me.reply("two") });
        let [first, second] = asks.join().unwrap();
        assert!(first.is_err(), "{first:?}");
        assert_eq!(second, Ok("(\"two\",)".into()));
    });
}

/// Notes that it was dropped.
struct Bell(Log<&'static str>);

impl Drop for Bell {
    fn drop(&mut self) {
        self.0.push("dropped");
    }
}

#[test]
fn an_actor_with_a_thread_ends_with_its_body() {
    run(|| {
        let log = Log::new();
        let bell = Bell(log.clone());
        let sum = spawn_detached(move |me: &mut DynThread| {
            let _bell = bell;
            let mut sum = 0;
            me.receive_for(0..3, cases! { ref |_me: &mut DynThread| (n: i32) => sum += n });
            me.receive(cases! { ref |me: &mut DynThread| (atom!("sum")) => me.reply(sum) });
        })
        .unwrap();
        for n in 1..=3 {
            sum.send(n).unwrap();
        }
        assert_eq!(sum.ask(atom!("sum")).wait().unwrap(), (6,));
        assert_eq!(sum.ended().wait(), Ok(ExitReason::Normal));
        assert_eq!(log.take(), ["dropped"]);
        assert!(sum.send(4).is_err());
    });
}

#[test]
fn d8_a_stop_unwinds_the_thread_where_it_receives() {
    run(|| {
        let log = Log::new();
        let (bell, said) = (Bell(log.clone()), log.clone());
        let (told, tell) = std::sync::mpsc::channel::<()>();
        let it = spawn_detached(move |me: &mut DynThread| {
            let _told = told;
            let _bell = bell;
            for _ in 0..3 {
                // One that is swallowed comes again.
                let stopped = catch_unwind(AssertUnwindSafe(|| {
                    me.receive(cases! { |_me: &mut DynThread| (_: i32) => {} });
                }));
                said.push(if stopped.is_err() { "stopped" } else { "received" });
            }
            me.receive(cases! { |_me: &mut DynThread| (_: i32) => {} });
            said.push("never");
        })
        .unwrap();
        it.send(1).unwrap();
        let skipped = it.ask("never taken");
        while log.is_empty() {
            thread::yield_now();
        }
        it.stop().unwrap();
        assert_eq!(it.ended().wait(), Ok(ExitReason::Shutdown));
        // It drops its end of this last.
        assert!(tell.recv().is_err());
        assert_eq!(log.take(), ["received", "stopped", "stopped", "dropped"]);
        assert!(skipped.wait().is_err());
    });
}

#[test]
fn a_panic_of_the_body_is_why_the_actor_ends() {
    run(|| {
        let it = spawn_detached(|me: &mut DynThread| {
            me.receive(cases! { |_me: &mut DynThread| (_: i32) => panic!("out of luck") });
        })
        .unwrap();
        assert!(it.ask(1).wait().is_err());
        assert_eq!(it.ended().wait(), Ok(ExitReason::Panicked("out of luck".into())));
    });
}

#[test]
fn it_ends_without_an_address_and_with_its_runtime() {
    let log = Log::new();
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let kept = runtime.run(|| {
        let bells = [Bell(log.clone()), Bell(log.clone())];
        let [alone, kept] = bells.map(|bell| {
            spawn_detached(move |me: &mut DynThread| {
                let _bell = bell;
                me.receive(cases! { |_me: &mut DynThread| (_: i32) => {} });
            })
            .unwrap()
        });
        let ended = alone.ended();
        drop(alone);
        ended.wait().unwrap();
        kept
    });
    // The runtime is idle while it waits.
    let report = runtime.shutdown(LONG);
    assert!(report.stuck.is_empty());
    kept.ended().wait().unwrap();
    while log.len() < 2 {
        thread::yield_now();
    }
}

#[test]
fn a_runtime_waits_for_a_thread_that_works_or_has_a_time() {
    let log = Log::new();
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let said = log.clone();
    let kept = runtime.run(|| {
        spawn_detached(move |me: &mut DynThread| {
            me.receive(cases! { |_me: &mut DynThread| _ => {}, after ms(20) => {} });
            for _ in 0..100 {
                thread::yield_now();
            }
            said.push("has worked");
            me.receive(cases! { |_me: &mut DynThread| (1) => {} });
            said.push("has been woken");
            me.receive(cases! { |_me: &mut DynThread| (2) => {} });
        })
        .unwrap()
    });
    assert_eq!(log.take(), ["has worked"]);
    runtime.run(|| kept.send(1).unwrap());
    assert_eq!(log.take(), ["has been woken"]);
}

#[test]
fn inside_of_an_actor_there_is_no_such_thread() {
    run(|| {
        let it = spawn_dyn(|me: &mut DynContext| {
            me.become_(cases! { |me: &mut DynContext|
                _ => {
                    let why = panic_of(|| drop(this_thread()));
                    me.reply(why);
                },
            });
        });
        let why = it.ask(()).wait().unwrap();
        assert!(why.get::<String>(0).unwrap().contains("plain threads"), "{why}");
    });
}

#[test]
fn d8_messages_of_one_sender_keep_their_order_across_types() {
    run(|| {
        let mut me = this_thread();
        let senders: Vec<_> = (0..4_u64)
            .map(|sender| {
                let main = me.address();
                thread::spawn(move || {
                    for n in 0..500_u64 {
                        match n % 3 {
                            0 => main.send((sender, n)).unwrap(),
                            1 => main.send((sender, n as u32)).unwrap(),
                            _ => main.send((sender, n.to_string())).unwrap(),
                        }
                    }
                })
            })
            .collect();
        let mut next = [0_u64; 4];
        let mut came = |sender: u64, n: u64| {
            assert_eq!(next[sender as usize], n);
            next[sender as usize] += 1;
        };
        me.receive_for(
            0..2_000,
            cases! { ref |_me: &mut DynThread|
                (sender: u64, n: u64) => came(sender, n),
                (sender: u64, n: u32) => came(sender, n.into()),
                (sender: u64, n: String) => came(sender, n.parse().unwrap()),
            },
        );
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

/// A guard that receives by another handle of the same mailbox, and then declines, loses nothing.
#[test]
fn a_guard_may_receive_itself() {
    run(|| {
        let mut me = this_thread();
        let own = me.address();
        for n in 1..=3 {
            own.send(n).unwrap();
        }
        own.send("a").unwrap();
        me.receive(cases! { |_me: &mut DynThread| ("a") => () });
        let takes_two = || {
            this_thread()
                .receive(cases! { |_me: &mut DynThread| (2) => (), after Duration::ZERO => () });
            false
        };
        me.receive(cases! { |_me: &mut DynThread|
            (_: i32) if takes_two() => panic!("it declines"),
            after Duration::ZERO => (),
        });
        let mut left = Vec::new();
        me.receive_for(0..2, cases! { ref |_me: &mut DynThread| (n: i32) => left.push(n) });
        assert_eq!(left, [1, 3]);
    });
}
