//! Programs as the paper on libcppa has them.

use coact::dynamic::{
    AnyTuple, DynAddr, DynCases, DynContext, atom, cases, spawn_dyn, spawn_dyn_with,
};
use coact::prelude::*;
use coact_tests::{Log, everywhere};

/// What an actor answers.
fn answer(of: &DynAddr, tuple: impl coact::dynamic::IntoTuple) -> AnyTuple {
    of.ask(tuple).wait().expect("it answers")
}

#[test]
fn a_calculator() {
    everywhere(|| {
        let calculator = spawn_dyn(|me: &mut DynContext| {
            me.become_(cases! { |me: &mut DynContext|
                (atom!("add"), a: i32, b: i32) => me.reply((atom!("result"), a + b)),
                (atom!("minus"), a: i32, b: i32) => me.reply((atom!("result"), a - b)),
                (atom!("quit")) => me.stop(),
            });
        });
        assert_eq!(answer(&calculator, (atom!("add"), 1, 2)).to_string(), "('result', 3)");
        assert_eq!(answer(&calculator, (atom!("minus"), 1, 2)).to_string(), "('result', -1)");
        calculator.send(atom!("quit")).unwrap();
        assert_eq!(calculator.ended().wait(), Ok(ExitReason::Normal));
        assert!(calculator.send(atom!("quit")).is_err());
        assert_eq!(
            calculator.ask((atom!("add"), 1, 2)).wait().map(drop),
            Err(AskError::Stopped(ExitReason::Normal))
        );
    });
}

/// Section 5.1: a stack of at most ten elements, as a state machine whose states are methods.
#[derive(Default)]
struct FixedStack {
    data: Vec<i32>,
}

const MAX_SIZE: usize = 10;

impl FixedStack {
    fn empty() -> DynCases<Self> {
        cases! { |me: &mut DynContext<Self>|
            (atom!("push"), what: i32) => {
                me.state_mut().data.push(what);
                me.become_(Self::filled());
            },
            (atom!("pop")) => me.reply(atom!("failure")),
        }
    }

    fn filled() -> DynCases<Self> {
        cases! { |me: &mut DynContext<Self>|
            (atom!("push"), what: i32) => {
                me.state_mut().data.push(what);
                if me.state().data.len() == MAX_SIZE {
                    me.become_(Self::full());
                }
            },
            (atom!("pop")) => {
                let top = me.state_mut().data.pop().expect("it is not empty");
                me.reply((atom!("ok"), top));
                if me.state().data.is_empty() {
                    me.become_(Self::empty());
                }
            },
        }
    }

    fn full() -> DynCases<Self> {
        cases! { |me: &mut DynContext<Self>|
            (atom!("push"), _: i32) => {},
            (atom!("pop")) => {
                let top = me.state_mut().data.pop().expect("it is full");
                me.reply((atom!("ok"), top));
                me.become_(Self::filled());
            },
        }
    }
}

#[test]
fn a_stack_whose_states_are_methods() {
    everywhere(|| {
        let stack = spawn_dyn_with(FixedStack::default(), |me| me.become_(FixedStack::empty()));
        assert_eq!(answer(&stack, atom!("pop")).to_string(), "('failure',)");
        for n in 1..=12 {
            stack.send((atom!("push"), n)).unwrap();
        }
        assert_eq!(call(&stack, |stack| stack.data.len()).wait(), Ok(10));
        for n in (1..=10).rev() {
            assert_eq!(answer(&stack, atom!("pop")).to_string(), format!("('ok', {n})"));
        }
        assert_eq!(answer(&stack, atom!("pop")).to_string(), "('failure',)");
    });
}

/// Section 5.1: pairs of an integer and a float, in whatever order they come.
#[test]
fn a_nested_receive_by_keeping_the_cases() {
    everywhere(|| {
        let log = Log::new();
        let said = log.clone();
        let testee = spawn_dyn(move |me: &mut DynContext| {
            me.become_(cases! { |me: &mut DynContext|
                (first: i32) => {
                    let said = said.clone();
                    me.become_keeping(cases! { |me: &mut DynContext|
                        (second: f32) => {
                            said.push(format!("{first} => {second:?}"));
                            me.unbecome();
                        },
                    });
                },
                (atom!("end")) => me.unbecome(),
            });
        });
        for tuple in [
            AnyTuple::new(1),
            AnyTuple::new(1.5_f32),
            AnyTuple::new(2),
            AnyTuple::new(3),
            AnyTuple::new(2.5_f32),
            AnyTuple::new(3.5_f32),
            AnyTuple::new(4.5_f32),
            AnyTuple::new(4),
            AnyTuple::new(atom!("end")),
        ] {
            testee.send(tuple).unwrap();
        }
        // Its stack of cases is empty.
        assert_eq!(testee.ended().wait(), Ok(ExitReason::Normal));
        assert_eq!(log.take(), ["1 => 1.5", "2 => 2.5", "3 => 3.5", "4 => 4.5"]);
    });
}

/// The philosophers of the libcppa manual: each takes the sticks one after the other, and puts down
/// the first if it does not get the second.
#[test]
fn dining_philosophers() {
    fn free() -> DynCases {
        cases! { |me: &mut DynContext|
            (atom!("take"), philosopher: DynAddr) => {
                let me_ = me.address();
                me.send(&philosopher, (atom!("taken"), me_)).unwrap();
                me.become_(taken_by(philosopher));
            },
            (atom!("put"), _: DynAddr) => unreachable!("it is not taken"),
        }
    }
    fn taken_by(owner: DynAddr) -> DynCases {
        cases! { |me: &mut DynContext|
            (atom!("take"), philosopher: DynAddr) => {
                let me_ = me.address();
                me.send(&philosopher, (atom!("busy"), me_)).unwrap();
            },
            (atom!("put"), philosopher: DynAddr) if *philosopher == owner => me.become_(free()),
        }
    }

    struct Philosopher {
        name: usize,
        sticks: [DynAddr; 2],
        meals: u32,
        log: Log<usize>,
    }
    impl Philosopher {
        fn thinking() -> DynCases<Self> {
            cases! { |me: &mut DynContext<Self>|
                (atom!("eat")) => {
                    let (own, sticks) = (me.address(), me.state().sticks.clone());
                    for stick in &sticks {
                        me.send(stick, (atom!("take"), own.clone())).unwrap();
                    }
                    me.become_(Self::hungry());
                },
            }
        }
        fn hungry() -> DynCases<Self> {
            cases! { |me: &mut DynContext<Self>|
                (atom!("taken"), stick: DynAddr) => me.become_(Self::with_one(stick)),
                (atom!("busy"), _: DynAddr) => me.become_(Self::denied()),
            }
        }
        fn with_one(first: DynAddr) -> DynCases<Self> {
            cases! { |me: &mut DynContext<Self>|
                (atom!("taken"), second: DynAddr) => {
                    me.state_mut().meals += 1;
                    let (own, meals) = (me.address(), me.state().meals);
                    for stick in [&first, &second] {
                        me.send(stick, (atom!("put"), own.clone())).unwrap();
                    }
                    if meals == 3 {
                        me.state().log.push(me.state().name);
                        return me.stop();
                    }
                    me.send(&own, atom!("eat")).unwrap();
                    me.become_(Self::thinking());
                },
                (atom!("busy"), _: DynAddr) => {
                    let own = me.address();
                    me.send(&first, (atom!("put"), own.clone())).unwrap();
                    me.send(&own, atom!("eat")).unwrap();
                    me.become_(Self::thinking());
                },
            }
        }
        fn denied() -> DynCases<Self> {
            cases! { |me: &mut DynContext<Self>|
                (atom!("taken"), stick: DynAddr) => {
                    let own = me.address();
                    me.send(&stick, (atom!("put"), own.clone())).unwrap();
                    me.send(&own, atom!("eat")).unwrap();
                    me.become_(Self::thinking());
                },
                (atom!("busy"), _: DynAddr) => {
                    let own = me.address();
                    me.send(&own, atom!("eat")).unwrap();
                    me.become_(Self::thinking());
                },
            }
        }
    }

    coact_tests::check(|| {
        let log = Log::new();
        let sticks: Vec<DynAddr> =
            (0..5).map(|_| spawn_dyn(|me: &mut DynContext| me.become_(free()))).collect();
        let philosophers: Vec<_> = (0..5)
            .map(|name| {
                let sticks = [sticks[name].clone(), sticks[(name + 1) % 5].clone()];
                let state = Philosopher { name, sticks, meals: 0, log: log.clone() };
                spawn_dyn_with(state, |me| me.become_(Philosopher::thinking()))
            })
            .collect();
        for philosopher in &philosophers {
            philosopher.send(atom!("eat")).unwrap();
        }
        for philosopher in &philosophers {
            assert_eq!(philosopher.ended().wait(), Ok(ExitReason::Normal));
        }
        let mut fed = log.take();
        fed.sort_unstable();
        assert_eq!(fed, [0, 1, 2, 3, 4]);
    });
}

/// Section 3.6: what the closure captures is of the spawner, `me` is the spawned one.
#[test]
fn function_actors_have_arguments_and_themselves() {
    everywhere(|| {
        let log = Log::new();
        let said = log.clone();
        fn child(parent: DynAddr, n: i32) -> impl FnOnce(&mut DynContext) + Send {
            move |me| {
                let own = me.address();
                me.send(&parent, (atom!("born"), own, n)).unwrap();
                // It becomes nothing, and ends.
            }
        }
        let parent = spawn_dyn(move |me: &mut DynContext| {
            let own = me.address();
            let born = spawn_dyn(child(own.clone(), 42));
            me.become_(cases! { |me: &mut DynContext|
                (atom!("born"), child: DynAddr, n: i32) => {
                    said.push(format!("{} {} {n}", child == born, child == own));
                    me.stop();
                },
            });
        });
        parent.ended().wait().unwrap();
        assert_eq!(log.take(), ["true false 42"]);
    });
}
