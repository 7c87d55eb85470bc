//! What actors become: their stack of cases, their state, their time, and their end.

use std::time::Duration;

use coact::actor::Down;
use coact::dynamic::{
    DynActor, DynAddr, DynCases, DynContext, atom, cases, dyn_actor, spawn_dyn, spawn_dyn_with,
};
use coact::prelude::*;
use coact::runtime::RuntimeHandle;
use coact::sim::{self, Sim};
use coact::supervise::{Supervisor, permanent};
use coact::time::sleep;
use coact_tests::{Log, check_with_faults, everywhere, fail, panic_of};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn d4_changes_of_one_case_are_made_in_their_order() {
    everywhere(|| {
        let log = Log::new();
        fn level(name: &'static str, log: Log<String>) -> DynCases {
            cases! { |me: &mut DynContext|
                (atom!("which")) => me.reply(name),
                (atom!("deeper")) => {
                    me.become_keeping(level("b", log.clone()));
                    me.become_keeping(level("c", log.clone()));
                    me.become_(level("d", log.clone()));
                },
                (atom!("back")) => me.unbecome(),
                (atom!("far back")) => {
                    me.unbecome();
                    me.unbecome();
                    log.push(format!("from {name}"));
                },
            }
        }
        let levels = log.clone();
        let it = spawn_dyn(move |me: &mut DynContext| me.become_(level("a", levels)));
        let which = || it.ask(atom!("which")).wait().unwrap().get::<String>(0).unwrap().clone();
        assert_eq!(which(), "a");
        it.send(atom!("deeper")).unwrap();
        assert_eq!(which(), "d");
        it.send(atom!("back")).unwrap();
        assert_eq!(which(), "b");
        it.send(atom!("deeper")).unwrap();
        it.send(atom!("far back")).unwrap();
        assert_eq!(which(), "b");
        it.send(atom!("far back")).unwrap();
        assert_eq!(it.ended().wait(), Ok(ExitReason::Normal));
        assert_eq!(log.take(), ["from d", "from b"]);
    });
}

#[test]
fn d4_an_actor_that_becomes_nothing_ends() {
    everywhere(|| {
        let it = spawn_dyn(|_: &mut DynContext| {});
        assert_eq!(it.ended().wait(), Ok(ExitReason::Normal));
        let it = spawn_dyn(|me: &mut DynContext| me.unbecome());
        assert_eq!(it.ended().wait(), Ok(ExitReason::Normal));
    });
}

#[test]
fn the_cases_of_a_program_can_be_changed_from_outside() {
    // Hot swapping: the new cases come as a message.
    type Swap = std::sync::Arc<std::sync::Mutex<Option<DynCases>>>;
    everywhere(|| {
        fn swappable(cases: DynCases) -> DynCases {
            cases.or_else(cases! { |me: &mut DynContext|
                (atom!("swap"), new: Swap) => {
                    if let Some(new) = new.lock().unwrap().take() {
                        me.become_(swappable(new));
                    }
                },
            })
        }
        let it = spawn_dyn(|me: &mut DynContext| {
            me.become_(swappable(cases! { |me: &mut DynContext| (n: i32) => me.reply(n + 1) }));
        });
        assert_eq!(it.ask(1).wait().unwrap().get(0), Some(&2));
        let doubled: DynCases = cases! { |me: &mut DynContext| (n: i32) => me.reply(n * 2) };
        it.send((atom!("swap"), Swap::new(Some(doubled).into()))).unwrap();
        assert_eq!(it.ask(4).wait().unwrap().get(0), Some(&8));
    });
}

#[test]
fn behaviours_and_cases_share_a_state_and_an_order() {
    everywhere(|| {
        let make = || {
            spawn_dyn_with(Vec::new(), |me| {
                me.become_(cases! { |me: &mut DynContext<Vec<i32>>|
                    (n: i32) => me.state_mut().push(n),
                });
            })
        };
        let (a, b) = (make(), make());
        for n in 0..10 {
            a.send(n).unwrap();
            b.send(n + 100).unwrap();
            when((&a, &b), |(a, b)| std::mem::swap(a, b));
        }
        let (a, b) = call((&a, &b), |(a, b)| (a.clone(), b.clone())).wait().unwrap();
        let mixed = |even: i32, odd: i32| -> Vec<i32> {
            (0..10).map(|n| n + if n % 2 == 0 { even } else { odd }).collect()
        };
        // After ten swaps each has what it began with.
        assert_eq!((a, b), (mixed(0, 100), mixed(100, 0)));
    });
}

#[test]
fn an_exchanged_state_of_another_type_is_noticed() {
    check_with_faults(|faults| {
        let a = spawn_dyn_with(1_i32, |me| {
            me.become_(cases! { |_me: &mut DynContext<i32>| (_: u8) => {} })
        });
        let b = spawn_dyn_with(String::new(), |me| {
            me.become_(cases! { |_me: &mut DynContext<String>| (_: u8) => {} });
        });
        when((&**a, &**b), |(a, b): (&mut DynActor, &mut DynActor)| {
            assert_eq!(a.state::<i32>(), Some(&1));
            assert_eq!(a.state_mut::<String>(), None);
            std::mem::swap(a, b);
        });
        let panicked = call(&a, |a| *a).wait();
        assert!(matches!(panicked, Err(Broken::Panicked(_))), "{panicked:?}");
        let ended = a.ended().wait().unwrap();
        assert!(matches!(ended, ExitReason::Panicked(_)), "{ended:?}");
        assert_eq!(faults.take().len(), 1);
        drop(b);
    });
}

#[test]
fn d5_after_fires_when_nothing_was_taken_and_again() {
    sim::check(|| {
        let log = Log::new();
        let said = log.clone();
        let begun = sim::elapsed();
        let it = spawn_dyn(move |me: &mut DynContext| {
            let late = said.clone();
            me.become_(cases! { |_me: &mut DynContext|
                (n: i32) => said.push(n.to_string()),
                after ms(100) => late.push(format!("late at {:?}", sim::elapsed() - begun)),
            });
        });
        sleep(ms(60)).wait().unwrap();
        it.send(1).unwrap();
        // Skipped ones do not restart the clock, nor do behaviours.
        sleep(ms(40)).wait().unwrap();
        it.send("no case").unwrap();
        sleep(ms(250)).wait().unwrap();
        drop(it);
        assert_eq!(log.take(), ["1", "late at 160ms", "late at 260ms"]);
    });
}

#[test]
fn d5_new_cases_begin_with_a_new_time() {
    sim::check(|| {
        let log = Log::new();
        let said = log.clone();
        let begun = sim::elapsed();
        let at = move || (sim::elapsed() - begun).as_millis();
        let it = spawn_dyn(move |me: &mut DynContext| {
            let (late, inner) = (said.clone(), said);
            me.become_(cases! { |me: &mut DynContext|
                (atom!("inner")) => {
                    let inner = inner.clone();
                    me.become_keeping(cases! { |me: &mut DynContext|
                        after ms(30) => {
                            inner.push(format!("inner at {}", at()));
                            me.unbecome();
                        },
                    });
                },
                after ms(100) => {
                    late.push(format!("outer at {}", at()));
                    me.stop();
                },
            });
        });
        sleep(ms(90)).wait().unwrap();
        it.send(atom!("inner")).unwrap();
        it.ended().wait().unwrap();
        assert_eq!(log.take(), ["inner at 120", "outer at 220"]);
    });
}

#[test]
fn a_time_of_zero_and_one_without_end() {
    Sim::new().check(|| {
        let it = spawn_dyn(|me: &mut DynContext| {
            let why = panic_of(|| {
                me.become_(cases! { |me: &mut DynContext| after Duration::ZERO => me.stop() });
            });
            assert!(why.contains("would never stop"), "{why}");
        });
        it.ended().wait().unwrap();
        let it = spawn_dyn(|me: &mut DynContext| {
            me.become_(cases! { |me: &mut DynContext|
                (n: i32) => me.reply(n),
                after Duration::MAX => me.stop(),
            });
        });
        assert_eq!(it.ask(1).wait().unwrap().get(0), Some(&1));
        assert!(!it.has_ended());
    });
}

#[test]
fn a_panic_fails_the_ask_and_the_actor() {
    check_with_faults(|faults| {
        let it = spawn_dyn(|me: &mut DynContext| {
            me.become_(cases! { |me: &mut DynContext|
                (atom!("fail")) => fail("on purpose"),
                (n: i32) if [true].get(n as usize).copied().unwrap() => me.reply(n),
            });
        });
        assert_eq!(it.ask(0).wait().unwrap(), (0,));
        assert_eq!(
            it.ask(atom!("fail")).wait().map(drop),
            Err(AskError::Panicked("on purpose".into()))
        );
        assert_eq!(it.ended().wait(), Ok(ExitReason::Panicked("on purpose".into())));
        drop(faults.take());
    });
}

#[test]
fn d3_a_restart_begins_anew_with_what_was_skipped() {
    check_with_faults(|faults| {
        let log = Log::new();
        let said = log.clone();
        let it = dyn_actor(0, move |me: &mut DynContext<i32>| {
            said.push("begins".to_owned());
            let (open, said) = (said.clone(), said.clone());
            me.become_(cases! { |me: &mut DynContext<i32>|
                (atom!("open")) => {
                    let open = open.clone();
                    me.become_(cases! { |me: &mut DynContext<i32>|
                        (n: i32) => {
                            open.push(format!("{n}"));
                            me.reply(n);
                        },
                        (atom!("fail")) => fail("again"),
                    });
                },
                (text: String) => said.push(text),
            });
        })
        .restartable(|| 1)
        .spawn();
        let asked = it.ask(1);
        it.send(2).unwrap();
        it.send("text").unwrap();
        it.restart().unwrap();
        it.send(3).unwrap();
        it.send(atom!("open")).unwrap();
        assert_eq!(asked.wait().unwrap().get(0), Some(&1));
        assert_eq!(call(&it, |state| *state).wait(), Ok(1));
        let mut log = log.take();
        log.retain(|said| said != "text");
        assert_eq!(log, ["begins", "begins", "1", "2", "3"]);
        assert!(faults.take().is_empty());
    });
}

#[test]
fn it_can_be_supervised() {
    check_with_faults(|faults| {
        let mut tree = Supervisor::one_for_one();
        let it = DynAddr::from(tree.child(permanent(|| {
            DynActor::new((), |me: &mut DynContext| {
                me.become_(cases! { |me: &mut DynContext|
                    (atom!("fail")) => fail("down"),
                    message => me.reply(message),
                });
            })
        })));
        let supervisor = tree.spawn();
        it.send(atom!("fail")).unwrap();
        assert_eq!(it.ask((1, "up")).wait().unwrap().to_string(), "(1, \"up\")");
        drop(supervisor);
        drop(faults.take());
    });
}

#[test]
fn what_it_monitors_comes_as_a_tuple() {
    everywhere(|| {
        let log = Log::new();
        let said = log.clone();
        let other = spawn_dyn(|me: &mut DynContext| {
            me.become_(cases! { |me: &mut DynContext| (atom!("end")) => me.stop() });
        });
        let watched = other.clone();
        let it = spawn_dyn(move |me: &mut DynContext| {
            me.actor().monitor(&*watched);
            watched.send(atom!("end")).unwrap();
            me.become_(cases! { |me: &mut DynContext|
                (down: Down) => {
                    said.push(down.reason == ExitReason::Normal);
                    me.stop();
                },
            });
        });
        it.ended().wait().unwrap();
        assert_eq!(log.take(), [true]);
        drop(other);
    });
}

#[test]
fn d7_it_ends_with_its_last_address() {
    everywhere(|| {
        let ended = {
            let it = spawn_dyn(|me: &mut DynContext| {
                let own = me.address();
                // Neither this, which stays skipped, nor the other keeps it alive.
                me.send(&own, "to me").unwrap();
                me.send(&own, 1).unwrap();
                me.become_(cases! { |_me: &mut DynContext| (_: i32) => {} });
            });
            it.send("no case takes this").unwrap();
            it.ended()
        };
        assert_eq!(ended.wait(), Ok(ExitReason::Normal));
    });
}

#[test]
fn a_runtime_that_ends_ends_it() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let it = runtime.run(|| {
        spawn_dyn(|me: &mut DynContext| {
            me.become_(cases! { |_me: &mut DynContext| (_: i32) => {} })
        })
    });
    let waiting = it.ask("skipped");
    let report = runtime.shutdown(Duration::from_secs(10));
    assert!(report.stuck.is_empty());
    assert_eq!(it.exit_reason(), Some(ExitReason::Shutdown));
    assert_eq!(waiting.wait().map(drop), Err(AskError::Stopped(ExitReason::Shutdown)));
}

#[test]
fn time_that_runs_keeps_a_runtime_busy_and_no_more() {
    sim::check(|| {
        let it = spawn_dyn(|me: &mut DynContext| {
            me.become_(cases! { |me: &mut DynContext| after ms(50) => me.unbecome() });
        });
        let ended = it.ended();
        drop(it);
        // Without an address it ends, and its timer with it.
        ended.wait().unwrap();
        assert!(sim::elapsed() < ms(50));
        assert_eq!(RuntimeHandle::current().elapsed(), sim::elapsed());
    });
}

#[test]
fn an_exchanged_actor_ends_with_its_next_message() {
    everywhere(|| {
        let make = || {
            spawn_dyn_with(0, |me| {
                me.become_(cases! { |me: &mut DynContext<u32>| (n: i32) => me.reply(n) });
            })
        };
        let (a, b, c) = (make(), make(), make());
        when((&**a, &**b), |(a, b): (&mut DynActor, &mut DynActor)| std::mem::swap(a, b));
        when(&**c, |c: &mut DynActor| *c = DynActor::new(0, |_: &mut DynContext<u32>| {}));
        for it in [a, b, c] {
            let ask = it.ask(1);
            let ExitReason::Failed(why) = it.ended().wait().unwrap() else { panic!("it fails") };
            assert!(why.contains("exchanged"), "{why}");
            assert!(ask.wait().is_err());
        }
    });
}

#[test]
fn d3_what_the_old_state_monitored_does_not_reach_the_new_one() {
    check_with_faults(|_| {
        let log = Log::new();
        let said = log.clone();
        let other = spawn_dyn(|me: &mut DynContext| {
            me.become_(cases! { |_me: &mut DynContext| (_: i32) => {} });
        });
        let watched = other.clone();
        let it = dyn_actor(0, move |me: &mut DynContext<u32>| {
            let said = said.clone();
            if *me.state() == 0 {
                me.actor().monitor(&watched);
                me.become_(cases! { |me: &mut DynContext<u32>| (atom!("get")) => me.reply(0) });
            } else {
                me.become_(cases! { |me: &mut DynContext<u32>|
                    (down: Down) => said.push(down.reason.to_string()),
                    (atom!("get")) => me.reply(1),
                });
            }
        })
        .restartable(|| 1)
        .spawn();
        assert_eq!(it.ask(atom!("get")).wait().unwrap(), (0,));
        other.stop().unwrap();
        other.ended().wait().unwrap();
        // It is skipped.
        assert_eq!(it.ask(atom!("get")).wait().unwrap(), (0,));
        it.restart().unwrap();
        assert_eq!(it.ask(atom!("get")).wait().unwrap(), (1,));
        assert!(log.is_empty());
    });
}
