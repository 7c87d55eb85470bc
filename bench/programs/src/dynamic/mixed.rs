//! A collector; and for each ring a master, which builds it, and a worker, which factorises.

use coact::dynamic::{DynAddr, DynContext, atom, cases, spawn_dyn, spawn_dyn_with};
use coact_bench_workloads::work::mixed::MixedSizes;
use coact_bench_workloads::work::primes::sum_of_factors;
use coact_bench_workloads::{Finish, Given, Measured};

use crate::runtime;

struct Collector {
    missing: u64,
    sum: u64,
    done: Finish,
}

fn collector(state: Collector) -> DynAddr {
    fn told(me: &mut DynContext<Collector>, sum: u64) {
        let state = me.state_mut();
        state.sum += sum;
        state.missing -= 1;
        if state.missing == 0 {
            state.done.part(state.sum);
        }
    }
    let collector = spawn_dyn_with(state, |me| {
        me.become_(cases! { |me: &mut DynContext<Collector>|
            (atom!("factors"), sum: u64) => told(me, sum),
            // A master has no ring to build any more.
            (atom!("over")) => told(me, 0),
        });
    });
    collector.into()
}

fn worker(collector: DynAddr) -> DynAddr {
    spawn_dyn(move |me: &mut DynContext| {
        me.become_(cases! { |me: &mut DynContext|
            (atom!("factorise"), number: u64) => {
                let sum = sum_of_factors(number);
                me.send(&collector, (atom!("factors"), sum)).expect("the collector waits");
            },
        });
    })
}

fn link(next: DynAddr) -> DynAddr {
    spawn_dyn(move |me: &mut DynContext| {
        me.become_(cases! { |me: &mut DynContext|
            (atom!("token"), value: u64) => {
                me.send(&next, (atom!("token"), value)).expect("the ring lives");
                if value == 0 {
                    me.stop();
                }
            },
        });
    })
}

struct Master {
    size: MixedSizes,
    collector: DynAddr,
    worker: DynAddr,
    rebuilds: u64,
    first: Option<DynAddr>,
}

fn master(state: Master) -> DynAddr {
    let master = spawn_dyn_with(state, |me| {
        me.become_(cases! { |me: &mut DynContext<Master>|
            (atom!("build")) => build(me),
            (atom!("token"), value: u64) => match &me.state().first {
                Some(first) if value > 0 => {
                    me.send(first, (atom!("token"), value - 1)).expect("the ring lives");
                }
                _ => build(me),
            },
        });
    });
    master.into()
}

fn build(me: &mut DynContext<Master>) {
    let state = me.state_mut();
    state.first = None;
    if state.rebuilds == 0 {
        return me.send(&me.state().collector, atom!("over")).expect("the collector waits");
    }
    state.rebuilds -= 1;
    let Master { size, worker, .. } = me.state();
    me.send(worker, (atom!("factorise"), size.number)).expect("the worker lives");
    let first = (0..size.links).fold(me.address(), |next, _| link(next));
    me.send(&first, (atom!("token"), size.token)).expect("the ring has just been built");
    me.state_mut().first = Some(first);
}

pub fn run(given: &Given) -> anyhow::Result<Measured> {
    let size = MixedSizes::of(given)?;
    runtime::run(given, size.messages(), 1, move |done| start(size, done))
}

fn start(size: MixedSizes, done: Finish) {
    let missing = size.rings * (size.rebuilds + 1);
    let collector = collector(Collector { missing, sum: 0, done });
    for _ in 0..size.rings {
        let collector = collector.clone();
        let worker = worker(collector.clone());
        let rebuilds = size.rebuilds;
        let master = master(Master { size, collector, worker, rebuilds, first: None });
        master.send(atom!("build")).expect("it has just been spawned");
    }
}
