//! Actors with a stack of their own: fibers, and detached threads with a state.

use std::cell::RefCell;
use std::ops::ControlFlow::{Break, Continue};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use coact::dynamic::{
    AnyTuple, DynActor, DynAddr, DynContext, DynReply, DynThread, SameWorker, ThreadSpawn, atom,
    cases, detached, dyn_actor, fiber, remaining_stack, spawn_dyn, spawn_fiber, this_thread,
};
use coact::internals::{as_body, deciding, scoped, with_scoped};
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::runtime::MoveError;
use coact::sim;
use coact::supervise::{Supervisor, permanent};
use coact::system::Host;
use coact_tests::{Log, check, check_with_faults, everywhere, everywhere_with_faults};

const LONG: Duration = Duration::from_secs(60);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Tells a log when it is dropped, and on which thread.
struct Told(&'static str, Log<(&'static str, ThreadId)>);

impl Drop for Told {
    fn drop(&mut self) {
        self.1.push((self.0, thread::current().id()));
    }
}

fn names(log: &Log<(&'static str, ThreadId)>) -> Vec<&'static str> {
    log.take().into_iter().map(|(name, _)| name).collect()
}

/// Creates an actor of some kind with a stack.
type Kind<S> = fn(S, fn(&mut DynThread<S>)) -> ThreadSpawn<S>;

fn kinds<S: Send + 'static>() -> [Kind<S>; 2] {
    [fiber, detached]
}

/// Waits in two nested steps for numbers, and keeps their sums.
fn pairs(me: &mut DynThread<Vec<i32>>) {
    loop {
        let sum = me.receive(cases! { |me: &mut DynThread<Vec<i32>>|
            (first: i32) => me.receive(cases! { |_me: &mut DynThread<Vec<i32>>|
                (second: i64) => first + second as i32,
            }),
        });
        me.state_mut().push(sum);
    }
}

#[test]
fn d9_a_body_takes_what_its_cases_take_and_keeps_the_rest() {
    for kind in kinds() {
        everywhere(move || {
            let it = kind(Vec::new(), pairs).spawn();
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
}

/// A behaviour comes at its place between two messages, though the body waits for the second.
#[test]
fn d10_a_behaviour_runs_between_two_waits() {
    for kind in kinds() {
        everywhere(move || {
            let it = kind(Vec::new(), pairs).spawn();
            it.send(1).unwrap();
            let (second, seen) = (it.clone(), Log::new());
            let log = seen.clone();
            // It sends what the body waits for.
            when(&it, move |sums| {
                log.push(sums.len());
                sums.push(0);
                second.send(2_i64).unwrap();
            });
            let settled = call(&it, |sums| sums.len());
            drop(settled.wait());
            let sums = call(&it, |sums| sums.clone()).wait().unwrap();
            assert!(sums == [0, 3] || sums == [0], "{sums:?}");
            assert_eq!(seen.take(), [0]);
            it.send(5).unwrap();
            it.send(6_i64).unwrap();
            assert_eq!(call(&it, |sums| sums.last().copied()).wait(), Ok(Some(11)));
        });
    }
}

/// Two actors with stacks exchange what they have in one atomic step, while each is in the middle
/// of a body.
#[test]
fn d10_a_behaviour_over_two_bodies_is_atomic() {
    everywhere(|| {
        let account = |n: i64| {
            fiber(n, |me: &mut DynThread<i64>| {
                me.receive_loop(cases! { |me: &mut DynThread<i64>|
                    (atom!("add"), n: i64) => { *me.state_mut() += n; Continue(()) },
                    (atom!("end")) => Break(()),
                });
            })
            .spawn()
        };
        let (a, b) = (account(100), account(0));
        for _ in 0..20 {
            when((&a, &b), |(a, b)| {
                *a -= 3;
                *b += 3;
            });
            a.send((atom!("add"), 1_i64)).unwrap();
            b.send((atom!("add"), -1_i64)).unwrap();
        }
        assert_eq!(call((&a, &b), |(a, b)| *a + *b).wait(), Ok(100));
        assert_eq!(call(&b, |b| *b).wait(), Ok(40));
    });
}

thread_local! {
    static LOCAL: RefCell<u32> = const { RefCell::new(0) };
}

/// What is on the stack is not `Send`: it is touched, and dropped, on one thread only, wherever it
/// is sent to from.
#[test]
fn d11_a_fiber_stays_on_its_thread() {
    check(|| {
        let (log, mutex) = (Log::new(), Arc::new([(); 16].map(|()| Mutex::new(0))));
        let threads = Log::new();
        let fibers: Vec<DynAddr> = (0..16)
            .map(|at| {
                let (log, mutex, threads) = (log.clone(), Arc::clone(&mutex), threads.clone());
                spawn_fiber(move |me: &mut DynThread| {
                    let home = thread::current().id();
                    let _told = Told("end", log);
                    let shared = Rc::new(RefCell::new(0));
                    let mut guard = mutex[at].lock().unwrap();
                    let _span = tracing::info_span!("fiber", at).entered();
                    me.receive_loop(cases! { |me: &mut DynThread|
                        (atom!("end")) => Break(()),
                        (n: i32) => { me.reply(n + 1); Continue(()) },
                    });
                    let other = Rc::clone(&shared);
                    *guard += 1;
                    for _ in 0..50 {
                        let n = me.receive(cases! { |me: &mut DynThread|
                            (n: i32) => { me.reply(2 * n); n },
                        });
                        assert_eq!(thread::current().id(), home);
                        *shared.borrow_mut() += n;
                        *guard += 1;
                    }
                    assert_eq!((*other.borrow(), *guard), (50 * 49 / 2, 51));
                    threads.push(home);
                })
            })
            .collect();
        // Others send from every worker, and steal.
        let asked: Vec<_> = fibers
            .iter()
            .map(|fiber| {
                fiber.send(atom!("end")).unwrap();
                let asks: Vec<_> = (0..50).map(|n| fiber.ask(n)).collect();
                asks
            })
            .collect();
        for asks in asked {
            for (n, ask) in asks.into_iter().enumerate() {
                assert_eq!(ask.wait().unwrap().get::<i32>(0), Some(&(2 * n as i32)));
            }
        }
        for fiber in &fibers {
            fiber.ended().wait().unwrap();
        }
        assert_eq!(names(&log).len(), 16);
        assert_eq!(threads.take().len(), 16);
    });
}

#[test]
fn fibers_can_begin_on_one_worker() {
    check(|| {
        let (together, log) = (SameWorker::new(), Log::new());
        let fibers: Vec<DynAddr> = (0..20)
            .map(|_| {
                let log = log.clone();
                let it = fiber(log, |me: &mut DynThread<Log<ThreadId>>| {
                    let home = thread::current().id();
                    me.receive(
                        cases! { |me: &mut DynThread<Log<ThreadId>>| (n: i32) => me.reply(n) },
                    );
                    assert_eq!(thread::current().id(), home);
                    me.state().push(home);
                });
                it.same_worker(&together).spawn().into()
            })
            .collect();
        for it in &fibers {
            it.ask(1).wait().unwrap();
            it.ended().wait().unwrap();
        }
        let mut threads = log.take();
        threads.dedup();
        // Where the workers have no threads of their own, each has a thread.
        assert!(threads.len() == 1 || threads.len() == 20, "{threads:?}");
    });
}

/// A borrow of a thread-local value is kept over a wait; it is that of the worker.
#[test]
fn d11_a_borrowed_thread_local_stays_borrowed() {
    check(|| {
        let it = spawn_fiber(|me: &mut DynThread| {
            LOCAL.with_borrow_mut(|local| {
                *local += 1;
                let before = *local;
                me.receive(cases! { |_me: &mut DynThread| _ => () });
                assert_eq!(*local, before);
                *local -= 1;
            });
            me.receive(cases! { |me: &mut DynThread| _ => me.reply(LOCAL.with_borrow(|n| *n)) });
        });
        it.send(1).unwrap();
        assert_eq!(it.ask(1).wait().unwrap(), (0_u32,));
    });
}

#[test]
fn d12_a_stop_unwinds_a_body_where_it_waits() {
    for kind in kinds::<Option<Log<(&'static str, ThreadId)>>>() {
        everywhere(move || {
            let log = Log::new();
            let it = kind(Some(log.clone()), |me| {
                let log = me.state_mut().take().unwrap();
                let _outer = Told("outer", log.clone());
                me.receive(cases! { ref |me: &mut DynThread<Option<Log<_>>>|
                    (atom!("begin")) => {
                        let _inner = Told("inner", log.clone());
                        me.reply(1);
                        me.receive(cases! { |_me: &mut DynThread<Option<Log<_>>>| (atom!("never")) => () });
                    },
                });
                log.push(("not reached", thread::current().id()));
            })
            .spawn();
            it.ask(atom!("begin")).wait().unwrap();
            assert!(log.is_empty());
            it.stop().unwrap();
            assert_eq!(it.ended().wait(), Ok(ExitReason::Shutdown));
            coact_tests::finally(move || assert_eq!(names(&log), ["inner", "outer"]));
        });
    }
}

#[test]
fn d12_a_swallowed_stop_comes_again() {
    for kind in kinds::<Log<u32>>() {
        everywhere(move || {
            let log = Log::new();
            let it = kind(log.clone(), |me| {
                let log = me.state().clone();
                for n in 0..3 {
                    let caught = catch_unwind(AssertUnwindSafe(|| {
                        me.receive(
                            cases! { |me: &mut DynThread<Log<u32>>| (n: i32) => me.reply(n) },
                        );
                    }));
                    if caught.is_err() {
                        log.push(n);
                    }
                }
            })
            .spawn();
            it.ask(1).wait().unwrap();
            it.kill().unwrap();
            it.ended().wait().unwrap();
            coact_tests::finally(move || assert_eq!(log.take(), [1, 2]));
        });
    }
}

/// A body that never gives up is left where it is, and its worker goes on.
#[test]
fn d12_a_stop_that_is_swallowed_for_ever_takes_no_worker_along() {
    check(|| {
        let it = spawn_fiber(|me: &mut DynThread| {
            loop {
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    me.receive(cases! { |me: &mut DynThread| (n: i32) => me.reply(n) });
                }));
            }
        });
        it.ask(1).wait().unwrap();
        it.stop().unwrap();
        it.ended().wait().unwrap();
        let other = spawn_fiber(|me: &mut DynThread| {
            me.receive(cases! { |me: &mut DynThread| (n: i32) => me.reply(n) });
        });
        other.ask(1).wait().unwrap();
    });
}

#[test]
fn d12_without_an_address_a_body_that_waits_for_ever_ends() {
    for kind in kinds::<Log<(&'static str, ThreadId)>>() {
        everywhere(move || {
            let log = Log::new();
            let it = kind(log.clone(), |me| {
                let log = me.state().clone();
                let _told = Told("unwound", log.clone());
                me.receive(cases! { |_me: &mut DynThread<Log<_>>| (_: i32) => () });
                log.push(("first", thread::current().id()));
                me.receive(cases! { ref |_me: &mut DynThread<Log<_>>|
                    (_: i32) => (),
                    after ms(1) => log.push(("late", thread::current().id())),
                });
                me.receive(cases! { |_me: &mut DynThread<Log<_>>| (_: i32) => () });
                log.push(("not reached", thread::current().id()));
            })
            .spawn();
            it.send(1).unwrap();
            // The message is handled first, and the time waited for.
            drop(it);
            coact_tests::finally(move || assert_eq!(names(&log), ["first", "late", "unwound"]));
        });
    }
}

#[test]
fn d13_a_restart_begins_the_body_anew_and_skipped_messages_come_first() {
    for kind in kinds::<u32>() {
        everywhere(move || {
            let made = Arc::new(Mutex::new(0));
            let count = Arc::clone(&made);
            let it = kind(0, |me| {
                loop {
                    me.receive(cases! { |_me: &mut DynThread<u32>| (atom!("go")) => () });
                    me.receive_for(
                        0..2,
                        cases! { |me: &mut DynThread<u32>| (n: i32) => me.reply((n, *me.state())) },
                    );
                }
            })
            .restartable(move || {
                *count.lock().unwrap() += 1;
                *count.lock().unwrap()
            })
            .spawn();
            let (first, second) = (it.ask(1), it.ask(2));
            it.restart().unwrap();
            it.send(atom!("go")).unwrap();
            assert_eq!(first.wait().unwrap(), (1, 1_u32));
            assert_eq!(second.wait().unwrap(), (2, 1_u32));
            it.restart().unwrap();
            it.send(atom!("go")).unwrap();
            assert_eq!(it.ask(3).wait().unwrap(), (3, 2_u32));
            assert_eq!(*made.lock().unwrap(), 2);
        });
    }
}

#[test]
fn a_panic_ends_the_actor_for_that_reason_and_fails_its_ask() {
    for kind in kinds::<()>() {
        everywhere_with_faults(move |_| {
            let it = kind((), |me| {
                me.receive(cases! { |_me: &mut DynThread| (_: i32) => panic!("as it was told") });
            })
            .spawn();
            let (failed, behind) = (it.ask(1), it.ask(2));
            let why = failed.wait().unwrap_err().to_string();
            assert!(why.contains("as it was told"), "{why}");
            assert!(behind.wait().is_err());
            match it.ended().wait().unwrap() {
                ExitReason::Panicked(why) => assert_eq!(&*why, "as it was told"),
                other => panic!("{other:?}"),
            }
        });
    }
}

#[test]
fn a_supervisor_restarts_a_fiber() {
    check_with_faults(|_| {
        let mut tree = Supervisor::one_for_one();
        let child = permanent(|| {
            DynActor::with_fiber(0, |me: &mut DynThread<i32>| {
                loop {
                    me.receive(cases! { |me: &mut DynThread<i32>|
                        (atom!("fail")) => panic!("as it was told"),
                        (n: i32) => { *me.state_mut() += n; me.reply(*me.state()) },
                    });
                }
            })
            .expect("there is memory for a stack")
        });
        let it = DynAddr::from(tree.child(child));
        let _supervisor = tree.spawn();
        assert_eq!(it.ask(1).wait().unwrap(), (1,));
        assert_eq!(it.ask(1).wait().unwrap(), (2,));
        it.send(atom!("fail")).unwrap();
        assert_eq!(it.ask(1).wait().unwrap(), (1,));
    });
}

#[test]
fn d14_what_is_awaited_leaves_messages_waiting() {
    for kind in kinds::<Vec<String>>() {
        everywhere(move || {
            let kept = Log::new();
            let keeper = kept.clone();
            let slow = spawn_dyn(move |me: &mut DynContext| {
                me.become_(cases! { |me: &mut DynContext|
                    (atom!("ask")) => {
                        keeper.push(me.take_reply());
                        me.send_later(ms(2), atom!("answer"));
                    },
                    (atom!("answer")) => for mut reply in keeper.take() { reply.send(7) },
                });
            });
            let it = kind(Vec::new(), |me| {
                let slow = me
                    .receive(cases! { |_me: &mut DynThread<Vec<String>>| (slow: DynAddr) => slow });
                let answer = me.request(&slow, atom!("ask")).await_(
                    me,
                    cases! { |_me: &mut DynThread<Vec<String>>|
                        (n: i32) => format!("answer {n}"),
                        after LONG => "late".to_owned(),
                    },
                );
                me.state_mut().push(answer);
                me.receive_loop(cases! { |me: &mut DynThread<Vec<String>>|
                    (n: i32) => { me.state_mut().push(n.to_string()); Continue(()) },
                    (atom!("end")) => { let all = me.state().join(" "); me.reply(all); Break(()) },
                });
            })
            .spawn();
            it.send(slow).unwrap();
            it.send(1).unwrap();
            it.send(2).unwrap();
            let all = it.ask(atom!("end"));
            assert_eq!(all.wait().unwrap(), ("answer 7 1 2".to_owned(),));
        });
    }
}

/// Two bodies that await each other's answers are told so.
#[test]
fn d14_a_circle_of_awaited_answers_is_found() {
    check(|| {
        let body = |me: &mut DynThread| {
            let other = me.receive(cases! { |_me: &mut DynThread| (other: DynAddr) => other });
            let got = me.request(&other, atom!("hello")).await_(
                me,
                cases! { |_me: &mut DynThread|
                    (error: AskError) => matches!(error, AskError::Cycle(_)),
                    _ => false,
                    after LONG => false,
                },
            );
            me.receive_loop(cases! { |me: &mut DynThread|
                (atom!("hello")) => { me.reply(1); Continue(()) },
                (atom!("result")) => { me.reply(got); Break(()) },
            });
        };
        let (a, b) = (spawn_fiber(body), spawn_fiber(body));
        a.send(b.clone()).unwrap();
        b.send(a.clone()).unwrap();
        let found = [&a, &b].map(|it| it.ask(atom!("result")).wait().unwrap() == (true,));
        assert!(found.contains(&true), "{found:?}");
    });
}

#[test]
fn a_time_is_measured_from_the_call_and_skipped_messages_do_not_make_it_longer() {
    for kind in kinds::<Option<Duration>>() {
        sim::check(move || {
            let it = kind(None, |me| {
                let begun = sim::elapsed();
                me.receive(cases! { |_me: &mut DynThread<Option<Duration>>|
                    (_: String) => (),
                    after ms(55) => (),
                });
                *me.state_mut() = Some(sim::elapsed() - begun);
                me.receive(cases! { |me: &mut DynThread<Option<Duration>>|
                    (atom!("get")) => { let time = *me.state(); me.reply(format!("{time:?}")) },
                });
            })
            .spawn();
            let all = it.ask(atom!("get"));
            for n in 0..10 {
                coact::time::sleep(ms(10)).wait().unwrap();
                // It may have ended.
                drop(it.send(n));
            }
            assert_eq!(all.wait().unwrap(), ("Some(55ms)".to_owned(),));
        });
    }
}

#[test]
fn a_time_of_zero_takes_what_is_there() {
    for kind in kinds::<()>() {
        everywhere(move || {
            let it = kind((), |me| {
                me.receive(cases! { |_me: &mut DynThread| (atom!("go")) => () });
                let mut sum = 0;
                me.receive_loop(cases! { ref |_me: &mut DynThread|
                    (n: i32) => { sum += n; Continue(()) },
                    after Duration::ZERO => Break(()),
                });
                me.receive(cases! { |me: &mut DynThread| (atom!("get")) => me.reply(sum) });
            })
            .spawn();
            for n in 1..=4 {
                it.send(n).unwrap();
            }
            it.send(atom!("go")).unwrap();
            assert_eq!(it.ask(atom!("get")).wait().unwrap(), (10,));
        });
    }
}

#[test]
fn a_fiber_must_not_block_and_a_thread_may() {
    everywhere(|| {
        let a = spawn_fiber(|me: &mut DynThread| {
            // It would never be kept.
            let (kept, promise) = Promise::<i32>::channel();
            let blocked = catch_unwind(AssertUnwindSafe(|| promise.wait())).is_ok();
            drop(kept);
            me.receive(cases! { |me: &mut DynThread| (atom!("get")) => me.reply(blocked) });
        });
        let b = detached((), |me: &mut DynThread| {
            let n = call(&Cown::new(7), |n| *n).wait().unwrap();
            me.receive(cases! { |me: &mut DynThread| (atom!("get")) => me.reply(n) });
        })
        .spawn();
        assert_eq!(a.ask(atom!("get")).wait().unwrap(), (false,));
        assert_eq!(b.ask(atom!("get")).wait().unwrap(), (7,));
    });
}

#[test]
fn a_wait_while_a_panic_unwinds_is_refused() {
    check(|| {
        struct Receives<'a>(RefCell<&'a mut DynThread>, Log<bool>);
        impl Drop for Receives<'_> {
            fn drop(&mut self) {
                let refused = catch_unwind(AssertUnwindSafe(|| {
                    self.0.get_mut().receive(cases! { |_me: &mut DynThread| _ => () });
                }));
                self.1.push(refused.is_err());
            }
        }
        let log = Log::new();
        let told = log.clone();
        let it = spawn_fiber(move |me: &mut DynThread| {
            let waits = Receives(RefCell::new(me), told);
            let waits = waits;
            waits.0.borrow_mut().receive(cases! { |_me: &mut DynThread| (atom!("never")) => () });
        });
        it.stop().unwrap();
        it.ended().wait().unwrap();
        coact_tests::finally(move || assert!(log.take().iter().all(|refused| *refused)));
    });
}

#[test]
fn the_bound_of_a_mailbox_counts_what_is_skipped() {
    check(|| {
        let it = fiber((), |me: &mut DynThread| {
            loop {
                me.receive(cases! { |me: &mut DynThread| (atom!("one")) => {
                    me.receive(cases! { |me: &mut DynThread| (n: i32) => me.reply(n) });
                } });
            }
        })
        .mailbox(Mailbox::bounded(3))
        .spawn();
        for n in 0..2 {
            it.send(n).unwrap();
        }
        // They are skipped, and still take up their room.
        drop(call(&it, |()| ()).wait());
        it.send(9).unwrap();
        assert!(it.send(4).is_err());
    });
}

#[test]
fn it_is_unwound_with_its_runtime() {
    for workers in [1, 2, 8] {
        let log = Log::new();
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        let told = log.clone();
        let kept = runtime.run(move || {
            let fibers: Vec<DynAddr> = (0..100)
                .map(|_| {
                    let log = told.clone();
                    spawn_fiber(move |me: &mut DynThread| {
                        let _told = Told("unwound", log);
                        me.receive(cases! { |_me: &mut DynThread| (atom!("never")) => () });
                    })
                })
                .collect();
            for fiber in &fibers {
                fiber.send(1).unwrap();
            }
            fibers
        });
        runtime.shutdown(LONG);
        assert_eq!(names(&log).len(), 100, "with {workers} workers");
        drop(kept);
    }
}

#[test]
fn seventy_thousand_wait_at_once() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.run(|| {
        let body = |me: &mut DynThread<u32>| {
            loop {
                let n =
                    me.receive(cases! { |me: &mut DynThread<u32>| (n: u32) => { me.reply(n); n } });
                *me.state_mut() += n;
            }
        };
        let all: Vec<_> =
            (0..70_000).map(|_| fiber(0, body).stack_size(32 * 1024).spawn()).collect();
        let asks: Vec<_> = all.iter().map(|it| it.ask(1_u32)).collect();
        for ask in asks {
            ask.wait().unwrap();
        }
        let last = all.last().unwrap();
        assert_eq!(call(last, |n| *n).wait(), Ok(1));
    });
    runtime.shutdown(LONG);
}

#[test]
fn fibers_that_end_leave_their_stacks_to_others() {
    check(|| {
        for _ in 0..2_000 {
            let it = spawn_fiber(|me: &mut DynThread| {
                me.receive(cases! { |me: &mut DynThread| (n: i32) => me.reply(n) });
            });
            it.send(1).unwrap();
        }
    });
}

#[test]
fn what_is_left_of_the_stack_can_be_seen() {
    check(|| {
        fn deep(n: u32) -> usize {
            let room = std::hint::black_box([n as u8; 512]);
            if n == 0 {
                remaining_stack().unwrap_or(0)
            } else {
                deep(n - 1).min(usize::from(room[1]) + 1_000_000)
            }
        }
        let it = fiber((), |me: &mut DynThread| {
            me.receive(cases! { |me: &mut DynThread| (_: i32) => {
                me.reply((remaining_stack().unwrap_or(0) as u64, deep(20) as u64));
            } });
        })
        .stack_size(128 * 1024)
        .spawn();
        let left = it.ask(1).wait().unwrap();
        let (left, deep) = (*left.get::<u64>(0).unwrap(), *left.get::<u64>(1).unwrap());
        // Where the workers have no threads of their own, it is a thread.
        assert!(left == 0 || left < 128 * 1024 && deep + 20 * 512 < left, "{left} {deep}");
    });
}

#[test]
fn a_name_that_is_taken_is_refused() {
    check(|| {
        let body = |me: &mut DynThread| loop {
            me.receive(cases! { |_me: &mut DynThread| _ => () });
        };
        let _first = fiber((), body).named("taken").spawn();
        let second = fiber((), body).named("taken").try_spawn();
        assert!(second.unwrap_err().to_string().contains("taken"));
    });
}

#[test]
fn messages_between_fibers_have_senders_and_replies() {
    everywhere(|| {
        let echo = spawn_fiber(|me: &mut DynThread| {
            loop {
                me.receive(
                    cases! { |me: &mut DynThread| message => me.reply((atom!("echo"), message)) },
                );
            }
        });
        let it = spawn_fiber(move |me: &mut DynThread| {
            me.send(&echo, 5).unwrap();
            let is_from_echo = me.receive(cases! { |me: &mut DynThread|
                (atom!("echo"), what: AnyTuple) if *what == (5,) => me.sender() == Some(echo.clone()),
            });
            me.receive(cases! { |me: &mut DynThread| (atom!("get")) => me.reply(is_from_echo) });
        });
        assert_eq!(it.ask(atom!("get")).wait().unwrap(), (true,));
    });
}

/// A behaviour that exchanges two actors ends both, as with others.
#[test]
fn actors_that_were_exchanged_end_and_say_so() {
    check(|| {
        let body = |me: &mut DynThread| loop {
            me.receive(cases! { |me: &mut DynThread| (n: i32) => me.reply(n) });
        };
        let (a, b) = (spawn_fiber(body), spawn_fiber(body));
        for it in [&a, &b] {
            it.ask(1).wait().unwrap();
        }
        call((&*a, &*b), |(a, b)| std::mem::swap(a, b)).wait().unwrap();
        for it in [&a, &b] {
            assert!(it.ask(1).wait().is_err());
            assert!(matches!(it.ended().wait().unwrap(), ExitReason::Failed(_)));
        }
    });
}

/// From a plain thread, a pump and a worker of another runtime, messages find the fiber's worker.
#[test]
fn messages_come_from_everywhere() {
    let runtime = Runtime::builder().workers(3).build().unwrap();
    let other = Runtime::builder().workers(2).build().unwrap();
    let it = runtime.run(|| {
        fiber(0, |me: &mut DynThread<i32>| {
            loop {
                let n =
                    me.receive(cases! { |me: &mut DynThread<i32>| (n: i32) => { me.reply(n); n } });
                *me.state_mut() += n;
            }
        })
        .spawn()
    });
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..200).for_each(|_| drop(it.ask(1).wait().unwrap())));
        }
        other.run(|| (0..200).for_each(|_| drop(it.ask(1).wait().unwrap())));
        let mut me = runtime.run(this_thread);
        for _ in 0..100 {
            me.request(&it, 1).await_(
                &mut me,
                cases! { |_me: &mut DynThread| (1) => (), after LONG => panic!("no answer") },
            );
        }
    });
    assert_eq!(call(&it, |n| *n).wait(), Ok(900));
    other.shutdown(LONG);
    runtime.shutdown(LONG);
}

/// An actor that was taken out of its place, and dropped by the destructor of a thread-local value:
/// what is on its stack may have borrowed another one, which is gone. It is not unwound there.
#[test]
fn a_stack_is_not_unwound_while_a_thread_destroys_its_locals() {
    struct Owned(Vec<u8>);
    impl Drop for Owned {
        fn drop(&mut self) {
            self.0.fill(7);
        }
    }
    struct Reads<'a>(&'a Owned);
    impl Drop for Reads<'_> {
        fn drop(&mut self) {
            assert_eq!(self.0.0[3], 1);
            UNWOUND.store(true, SeqCst);
        }
    }
    static UNWOUND: AtomicBool = AtomicBool::new(false);
    thread_local! {
        static HOLD: RefCell<Option<DynActor>> = const { RefCell::new(None) };
        static LOCAL: Owned = Owned(vec![1; 16]);
    }
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let it = runtime.run(|| {
        let it = spawn_fiber(|me: &mut DynThread| {
            HOLD.with_borrow_mut(|hold| *hold = None);
            LOCAL.with(|local| {
                let _reads = Reads(local);
                me.receive(cases! { |me: &mut DynThread| (n: i32) => me.reply(n) });
                me.receive(cases! { |_me: &mut DynThread| (atom!("never")) => () });
            });
        });
        it.ask(1).wait().unwrap();
        call(&*it, |actor: &mut DynActor| {
            let taken = std::mem::replace(actor, DynActor::new((), |_| ()));
            HOLD.set(Some(taken));
        })
        .wait()
        .unwrap();
        it
    });
    runtime.shutdown(LONG);
    drop(it);
    assert!(!UNWOUND.load(SeqCst));
}

/// The state is there until the stack is gone, also if the deadline of a shutdown passes meanwhile.
#[test]
fn what_unwinds_a_body_leaves_it_its_state() {
    struct Session<'a>(&'a mut DynThread<Steps>);
    impl Drop for Session<'_> {
        fn drop(&mut self) {
            self.0.state_mut().unwound.wait();
        }
    }
    #[derive(Clone)]
    struct Steps {
        begun: Arc<Barrier>,
        late: Arc<Barrier>,
        unwound: Arc<Barrier>,
    }
    for kind in kinds() {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let [begun, late, unwound] = [1, 2, 3].map(|_| Arc::new(Barrier::new(2)));
        let steps = Steps { begun, late, unwound };
        let state = steps.clone();
        // (Its runtime never becomes idle.)
        let entered = runtime.enter();
        let it = kind(state, |me| {
            let steps = me.state().clone();
            let session = Session(me);
            session.0.receive(cases! { |_me: &mut DynThread<Steps>| (_: i32) => () });
            steps.begun.wait();
            steps.late.wait();
            session.0.receive(cases! { |_me: &mut DynThread<Steps>| (atom!("never")) => () });
        });
        let it = it.spawn();
        it.send(1).unwrap();
        steps.begun.wait();
        drop(entered);
        assert!(!runtime.shutdown(ms(20)).is_complete());
        steps.late.wait();
        steps.unwound.wait();
    }
}

/// What unwinds a stack is no panic: the asks on it hear why, and at once.
#[test]
fn d12_asks_on_a_stack_that_is_unwound_hear_why() {
    let kinds: [fn() -> DynAddr; 3] = [
        || fiber(0, keeps_asks).restartable(|| 0).spawn().into(),
        || detached(0, keeps_asks).restartable(|| 0).spawn().into(),
        || {
            let body = |me: &mut DynThread| {
                me.receive(cases! { ref |me: &mut DynThread|
                    (atom!("keep")) => me.receive(cases! { |_me: &mut DynThread| (atom!("never")) => () }),
                });
            };
            coact::dynamic::spawn_detached(body).unwrap()
        },
    ];
    everywhere(move || {
        for (n, kind) in kinds.iter().enumerate() {
            for how in ["stop", "kill", "restart"] {
                if (n, how) == (2, "restart") {
                    // It has one life.
                    continue;
                }
                let it = kind();
                let kept = it.ask(atom!("keep"));
                // It has the ask when it answers this one, if it can.
                if n < 2 {
                    assert_eq!(it.ask(atom!("here")).wait().unwrap(), (true,));
                }
                match how {
                    "stop" => it.stop().unwrap(),
                    "kill" => it.kill().unwrap(),
                    _ => it.restart().unwrap(),
                }
                let why = kept.wait().unwrap_err();
                let is_right = match how {
                    "restart" => matches!(why, AskError::NoReply),
                    _ => matches!(why, AskError::Stopped(_)),
                };
                assert!(is_right, "kind {n}, {how}: {why:?}");
                let _ = it.stop();
            }
        }
    });
}

/// Has an ask on its stack, and waits for others.
fn keeps_asks(me: &mut DynThread<u32>) {
    me.receive(cases! { ref |me: &mut DynThread<u32>|
        (atom!("keep")) => me.receive_loop(cases! { |me: &mut DynThread<u32>|
            (atom!("here")) => { me.reply(true); Continue::<()>(()) },
        }),
    });
}

#[test]
fn an_actor_with_a_fiber_is_not_moved() {
    let [here, there] = [1, 2].map(|_| Runtime::builder().workers(1).build().unwrap());
    let it = here.run(|| {
        spawn_fiber(|me: &mut DynThread| {
            loop {
                me.receive(cases! { |me: &mut DynThread| (n: i32) => me.reply(n) });
            }
        })
    });
    assert_eq!(it.move_to(there.handle()), Err(MoveError::HasFiber));
    assert_eq!(it.ask(1).wait().unwrap(), (1,));
    // Nor is a group with one.
    let (member, cown) = here.run(|| {
        let group = Group::new();
        let member = fiber((), |me: &mut DynThread| {
            loop {
                me.receive(cases! { |me: &mut DynThread| (n: i32) => me.reply(n) });
            }
        });
        (member.in_group(&group).spawn(), group.cown(0))
    });
    assert_eq!(member.ask(1).wait().unwrap(), (1,));
    assert_eq!(cown.move_to(there.handle()), Err(MoveError::HasFiber));
    here.shutdown(LONG);
    there.shutdown(LONG);
}

/// Bodies that know each other, and wait, are at rest and no deadlock.
#[test]
fn a_simulated_program_ends_while_bodies_wait() {
    for kind in kinds::<()>() {
        sim::check(move || {
            let body = |me: &mut DynThread| {
                let _other = me.receive(cases! { |_me: &mut DynThread| (other: DynAddr) => other });
                me.receive(cases! { |_me: &mut DynThread| (atom!("never")) => () });
            };
            let [a, b] = [1, 2].map(|_| DynAddr::from(kind((), body).spawn()));
            a.send(b.clone()).unwrap();
            b.send(a).unwrap();
            let swallows = kind((), |me| {
                loop {
                    let _ = catch_unwind(AssertUnwindSafe(|| {
                        me.receive(cases! { |me: &mut DynThread| (n: i32) => me.reply(n) });
                    }));
                }
            });
            let swallows = swallows.spawn();
            swallows.ask(1).wait().unwrap();
            swallows.stop().unwrap();
            swallows.ended().wait().unwrap();
        });
    }
}

/// A message from a destructor that a panic runs is handled like any other.
#[test]
fn a_fiber_on_its_callers_is_not_hurt_by_their_panics() {
    check_with_faults(|_| {
        struct Sends(DynAddr);
        impl Drop for Sends {
            fn drop(&mut self) {
                self.0.send(1).unwrap();
            }
        }
        let it = fiber(0, |me: &mut DynThread<i32>| {
            loop {
                me.receive(cases! { |me: &mut DynThread<i32>|
                    (n: i32) => { *me.state_mut() += n; me.reply(*me.state()) },
                });
            }
        })
        .on(Host::caller())
        .spawn();
        let sends = Sends(it.clone().into());
        let cown = Cown::new(());
        let failed = call(&cown, move |()| {
            let _sends = sends;
            panic!("as it was told");
        });
        assert!(failed.wait().is_err());
        assert_eq!(it.ask(1).wait().unwrap(), (2,));
    });
}

#[test]
fn a_panic_after_the_end_is_reported() {
    let (faults, log) = (Log::new(), Log::new());
    let told = faults.clone();
    let runtime = Runtime::builder()
        .workers(2)
        .panic_hook(move |fault| told.push(fault.to_string()))
        .build()
        .unwrap();
    for kind in kinds::<Log<u32>>() {
        runtime.run(|| {
            let it = kind(log.clone(), |me| {
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    me.receive(cases! { |_me: &mut DynThread<Log<u32>>| (atom!("never")) => () });
                }));
                assert!(caught.is_ok(), "late");
            })
            .spawn();
            it.stop().unwrap();
        });
    }
    runtime.shutdown(LONG);
    let faults = faults.take();
    assert_eq!(faults.iter().filter(|fault| fault.contains("late")).count(), 2, "{faults:?}");
}

#[test]
fn an_ask_learns_that_the_actor_was_stopped() {
    check(|| {
        let it = spawn_fiber(|me: &mut DynThread| {
            me.receive(cases! { |me: &mut DynThread|
                (atom!("ask")) => me.receive(cases! { |_me: &mut DynThread| (atom!("never")) => () }),
            });
        });
        let asked = it.ask(atom!("ask"));
        drop(call(&*it, |_: &mut DynActor| ()).wait());
        it.stop().unwrap();
        let why = asked.wait().unwrap_err();
        // Where a thread has the stack, that is unwound there.
        assert!(!matches!(&why, AskError::Panicked(why) if why.contains("stopped")), "{why}");
    });
}

/// What a body has on its stack, a port or a file, is free before the next one begins, and before
/// the end is told.
#[test]
fn d13_a_body_begins_when_the_one_before_is_unwound() {
    for kind in kinds::<(Log<&'static str>, Cown<()>)>() {
        everywhere(move || {
            struct Owns(Log<&'static str>);
            impl Drop for Owns {
                fn drop(&mut self) {
                    self.0.push("unwound");
                }
            }
            let (log, busy) = (Log::new(), Cown::new(()));
            let (first, again) = ((log.clone(), busy.clone()), (log.clone(), busy.clone()));
            let it = kind(first, |me| {
                me.state().0.push("begun");
                let _owns = Owns(me.state().0.clone());
                // Something else for the workers.
                when(&me.state().1, |()| ());
                me.receive_loop(cases! { |me: &mut DynThread<(Log<&'static str>, Cown<()>)>|
                    (n: i32) => { me.reply(n); Continue(()) },
                    (atom!("end")) => Break(()),
                });
            })
            .restartable(move || again.clone())
            .spawn();
            for n in 0..3 {
                it.ask(n).wait().unwrap();
                it.restart().unwrap();
            }
            it.stop().unwrap();
            it.ended().wait().unwrap();
            let log = log.take();
            let pairs: Vec<_> = log.chunks(2).collect();
            assert!(pairs.iter().all(|pair| *pair == ["begun", "unwound"]), "{pairs:?}");
        });
    }
}

/// A simulation has a thread in place of a fiber, which its reports call after the place that has
/// spawned it.
#[test]
fn a_report_of_a_simulation_says_where_a_body_was_spawned() {
    let failed = sim::Sim::new().config(sim::Config::new().runs(1)).run(|| {
        let it = detached((), |me: &mut DynThread| {
            let kept = me.receive(cases! { |me: &mut DynThread| (_: i32) => me.take_reply() });
            // It never comes: a promise of the program's own.
            let (_never, promise) = Promise::<()>::channel();
            let _ = promise.wait();
            drop(kept);
        })
        .spawn();
        let _ = it.ask(1).wait();
    });
    let report = failed.expect_err("it never ends").to_string();
    assert!(report.contains("the thread of tests/dynamic/fibers.rs"), "{report}");
}

/// The number that is lent here.
fn lent() -> Option<u32> {
    scoped(|value| value.and_then(|value| value.downcast_ref().copied()))
}

/// Two are in the middle of a call that lends something of their stacks: each sees its own,
/// whichever ends first, and what the worker runs meanwhile and afterwards sees nothing.
#[test]
fn d15_what_a_body_lends_is_seen_on_its_stack_only() {
    everywhere(|| {
        let together = SameWorker::new();
        let all = [1, 2, 3].map(|n| {
            let it = fiber(n, |me: &mut DynThread<u32>| {
                let own = Box::new(*me.state());
                with_scoped(&*own, || {
                    me.receive_for(
                        0..2,
                        cases! { |me: &mut DynThread<u32>|
                            (atom!("look")) => { let seen = lent(); me.reply(seen == Some(*me.state())); },
                        },
                    );
                    assert_eq!(lent(), Some(*own));
                });
                assert_eq!(lent(), None);
            });
            it.same_worker(&together).spawn()
        });
        let looks = || all.iter().map(|it| it.ask(atom!("look")).wait().unwrap());
        assert!(looks().all(|seen| seen == (true,)));
        // A behaviour over each runs in between.
        for it in &all {
            assert_eq!(call(it, |_| lent()).wait(), Ok(None));
        }
        // The first that has begun ends first.
        assert!(looks().all(|seen| seen == (true,)));
        for it in &all {
            it.ended().wait().unwrap();
        }
        for _ in 0..8 {
            assert_eq!(call(&Cown::new(()), |()| lent()).wait(), Ok(None));
        }
    });
}

/// Where what runs next on the thread would get what a call has changed until it returns.
#[test]
fn d15_a_body_does_not_wait_inside_of_what_it_runs_inline() {
    for kind in kinds() {
        everywhere(move || {
            let it = kind(7, |me: &mut DynThread<i32>| {
                let mut refused = 0;
                let mut refuses = |inside: &mut dyn FnMut(&mut dyn FnMut())| {
                    let mut receives = || {
                        me.receive(cases! { |_me: &mut DynThread<i32>| (atom!("never")) => () });
                    };
                    let ended = catch_unwind(AssertUnwindSafe(|| inside(&mut receives)));
                    let why = *ended.unwrap_err().downcast::<&str>().unwrap();
                    assert!(why.contains("inside of a behaviour"), "{why}");
                    refused += 1;
                };
                // As `when_here` does.
                refuses(&mut |receives| as_body(receives));
                // As a behaviour over durable actors does.
                refuses(&mut |receives| deciding(receives));
                // It goes on as if nothing had happened.
                me.receive_for(
                    0..2,
                    cases! { |me: &mut DynThread<i32>|
                        (atom!("get")) => { let state = *me.state(); me.reply(state + refused); },
                    },
                );
            })
            .spawn();
            for _ in 0..2 {
                assert_eq!(it.ask(atom!("get")).wait().unwrap(), (9,));
            }
            it.ended().wait().unwrap();
        });
    }
}

/// An actor on its callers that keeps a reply until it is told to forget it.
fn keeper() -> (DynAddr, Ask<AnyTuple>) {
    let init = |me: &mut DynContext<Option<DynReply>>| {
        me.become_(cases! { |me: &mut DynContext<Option<DynReply>>|
            (atom!("keep")) => {
                let kept = me.take_reply();
                *me.state_mut() = Some(kept);
            },
            (atom!("forget")) => *me.state_mut() = None,
        });
    };
    let keeper: DynAddr = dyn_actor(None, init).on(Host::caller()).spawn().into();
    let kept = keeper.ask(atom!("keep"));
    (keeper, kept)
}

/// Has a keeper forget what it keeps, when it is dropped.
struct Forgets(DynAddr);

impl Drop for Forgets {
    fn drop(&mut self) {
        self.0.send(atom!("forget")).unwrap();
    }
}

/// The reply is another actor's, which lives; and no panic has dropped it.
#[test]
fn d15_what_an_unwound_stack_calls_inline_is_not_part_of_its_end() {
    for kind in kinds() {
        everywhere(move || {
            let (keeper, kept) = keeper();
            let it = kind(keeper.clone(), |me: &mut DynThread<DynAddr>| {
                let _forgets = Forgets(me.state().clone());
                me.receive(cases! { |_me: &mut DynThread<DynAddr>| (atom!("never")) => () });
            })
            .spawn();
            it.stop().unwrap();
            assert_eq!(kept.wait().unwrap_err(), AskError::NoReply);
            assert!(!keeper.has_ended());
        });
    }
}

#[test]
fn fibers_of_two_runtimes_begin_together_in_each() {
    let together = SameWorker::new();
    let runtimes = [2, 3].map(|n| Runtime::builder().workers(n).build().unwrap());
    for runtime in runtimes.iter().cycle().take(4) {
        let _entered = runtime.enter();
        let threads = Log::new();
        let fibers = [(); 10].map(|()| {
            let it = fiber(threads.clone(), |me: &mut DynThread<Log<ThreadId>>| {
                me.state().push(thread::current().id());
            });
            it.same_worker(&together).spawn()
        });
        for it in &fibers {
            it.ended().wait().unwrap();
        }
        let mut threads = threads.take();
        assert_eq!(threads.len(), 10);
        threads.dedup();
        assert_eq!(threads.len(), 1, "{threads:?}");
    }
}

/// A smaller stack would save addresses only, and a panic that prints its backtrace would overflow
/// it.
#[test]
fn a_stack_that_is_too_small_is_made_larger() {
    check(|| {
        let it = fiber(0, |me: &mut DynThread<usize>| {
            // A thread that stands for it has what the system gives.
            *me.state_mut() = remaining_stack().unwrap_or(64 * 1024);
            me.receive(cases! { |_me: &mut DynThread<usize>| (atom!("end")) => () });
        })
        .stack_size(1)
        .spawn();
        assert!(call(&it, |left| *left).wait().unwrap() > 48 * 1024);
    });
}
