//! A message is taken by one of two cases, or of thirty, which have four types of elements.

use coact::dynamic::{AnyTuple, DynAddr, DynContext, StateAddr, atom, cases, spawn_dyn_with};
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::runtime;

struct Sum {
    sum: u64,
    left: u64,
    finish: Finish,
}

fn add(me: &mut DynContext<Sum>, value: impl Into<u64>) {
    let state = me.state_mut();
    state.sum += value.into();
    state.left -= 1;
    if state.left == 0 {
        state.finish.part(state.sum);
    }
}

pub fn of_two(given: &Given) -> anyhow::Result<Measured> {
    let messages =
        [AnyTuple::new((atom!("case00"), 1_u64)), AnyTuple::new((atom!("case01"), 1_u32))];
    run(given, &messages, |sum| {
        spawn_dyn_with(sum, |me| {
            me.become_(cases! { |me: &mut DynContext<Sum>|
                (atom!("case00"), value: u64) => add(me, value),
                (atom!("case01"), value: u32) => add(me, value),
            });
        })
    })
}

/// Those in the middle and at the end come.
pub fn of_thirty(given: &Given) -> anyhow::Result<Measured> {
    let messages =
        [AnyTuple::new((atom!("case16"), 1_u64)), AnyTuple::new((atom!("case29"), 1_u32))];
    run(given, &messages, |sum| {
        spawn_dyn_with(sum, |me| {
            me.become_(cases! { |me: &mut DynContext<Sum>|
                (atom!("case00"), value: u64) => add(me, value),
                (atom!("case01"), value: u32) => add(me, value),
                (atom!("case02"), value: u16) => add(me, value),
                (atom!("case03"), value: u8) => add(me, value),
                (atom!("case04"), value: u64) => add(me, value),
                (atom!("case05"), value: u32) => add(me, value),
                (atom!("case06"), value: u16) => add(me, value),
                (atom!("case07"), value: u8) => add(me, value),
                (atom!("case08"), value: u64) => add(me, value),
                (atom!("case09"), value: u32) => add(me, value),
                (atom!("case10"), value: u16) => add(me, value),
                (atom!("case11"), value: u8) => add(me, value),
                (atom!("case12"), value: u64) => add(me, value),
                (atom!("case13"), value: u32) => add(me, value),
                (atom!("case14"), value: u16) => add(me, value),
                (atom!("case15"), value: u8) => add(me, value),
                (atom!("case16"), value: u64) => add(me, value),
                (atom!("case17"), value: u32) => add(me, value),
                (atom!("case18"), value: u16) => add(me, value),
                (atom!("case19"), value: u8) => add(me, value),
                (atom!("case20"), value: u64) => add(me, value),
                (atom!("case21"), value: u32) => add(me, value),
                (atom!("case22"), value: u16) => add(me, value),
                (atom!("case23"), value: u8) => add(me, value),
                (atom!("case24"), value: u64) => add(me, value),
                (atom!("case25"), value: u32) => add(me, value),
                (atom!("case26"), value: u16) => add(me, value),
                (atom!("case27"), value: u8) => add(me, value),
                (atom!("case28"), value: u64) => add(me, value),
                (atom!("case29"), value: u32) => add(me, value),
            });
        })
    })
}

fn run(
    given: &Given,
    messages: &[AnyTuple],
    spawn: fn(Sum) -> StateAddr<Sum>,
) -> anyhow::Result<Measured> {
    let count = given.number("messages")?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let (finish, stopwatch) = (Finish::after(1), Stopwatch::default());
    let sum = DynAddr::from(spawn(Sum { sum: 0, left: count, finish: finish.clone() }));
    runtime.wait_idle();
    stopwatch.start();
    for message in messages.iter().cycle().take(count as usize) {
        sum.send(message.clone()).expect("it lives");
    }
    let (elapsed, sum) = stopwatch.until(&finish);
    Ok(Measured::new(elapsed, count, sum))
}
