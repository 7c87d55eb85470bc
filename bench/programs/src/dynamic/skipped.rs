//! An actor takes messages of two types in turns, while others that it does not take are in its
//! way.

use coact::dynamic::{DynAddr, DynContext, atom, cases, spawn_dyn_with};
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::runtime;

struct Taker {
    taken: u64,
    awaited: u64,
    finish: Finish,
}

fn taken(me: &mut DynContext<Taker>) {
    let state = me.state_mut();
    state.taken += 1;
    if state.taken == state.awaited {
        state.finish.part(state.taken);
    }
}

fn take_small(me: &mut DynContext<Taker>) {
    me.become_(cases! { |me: &mut DynContext<Taker>|
        (_: u32) => {
            taken(me);
            take_large(me);
        },
    });
}

fn take_large(me: &mut DynContext<Taker>) {
    me.become_(cases! { |me: &mut DynContext<Taker>|
        (_: u64) => {
            taken(me);
            take_small(me);
        },
    });
}

pub fn run(given: &Given) -> anyhow::Result<Measured> {
    let (skipped, awaited) = (given.number("skipped")?, given.number("taken")?);
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let (finish, stopwatch) = (Finish::after(1), Stopwatch::default());
    let state = Taker { taken: 0, awaited, finish: finish.clone() };
    let taker = DynAddr::from(spawn_dyn_with(state, take_small));
    for number in 0..skipped {
        taker.send((atom!("skipped"), number)).expect("it lives");
    }
    runtime.wait_idle();
    stopwatch.start();
    for number in 0..awaited {
        let sent = match number % 2 {
            0 => taker.send(number as u32),
            _ => taker.send(number),
        };
        sent.expect("it lives");
    }
    let (elapsed, taken) = stopwatch.until(&finish);
    Ok(Measured::new(elapsed, awaited, taken))
}
