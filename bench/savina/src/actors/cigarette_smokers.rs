//! An arbiter, and those whom it lets smoke.

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::random::{R16, spin};

#[derive(Actor)]
struct Arbiter {
    smokers: Vec<Addr<Smoker>>,
    rounds: u64,
    random: R16,
    sum: u64,
    done: Finish,
}

#[handlers]
impl Arbiter {
    #[message]
    fn begin(&mut self, smokers: u64, context: &mut Context<Self>) {
        let smoker = |_| spawn(Smoker { arbiter: context.address() });
        self.smokers = (0..smokers).map(smoker).collect();
        self.pick(context);
    }

    #[message]
    fn started(&mut self, steps: u64, context: &mut Context<Self>) {
        self.sum += steps;
        self.pick(context);
    }

    fn pick(&mut self, context: &mut Context<Self>) {
        if self.rounds == 0 {
            self.done.part(self.sum);
            // The smokers' only addresses are here: they end as well.
            return context.stop();
        }
        self.rounds -= 1;
        let smoker = self.random.below(self.smokers.len() as u32) as usize;
        let steps = u64::from(self.random.below(1_000) + 10);
        let _ = self.smokers[smoker].send(StartSmoking { steps });
    }
}

#[derive(Actor)]
struct Smoker {
    arbiter: Addr<Arbiter>,
}

#[handlers]
impl Smoker {
    #[message]
    fn start_smoking(&mut self, steps: u64) {
        let _ = self.arbiter.send(Started { steps });
        spin(steps);
    }
}

pub fn start(smokers: u64, rounds: u64, done: Finish) {
    let random = R16::new(74_755);
    let arbiter = Arbiter { smokers: Vec::new(), rounds, random, sum: 0, done };
    let _ = spawn(arbiter).send(Begin { smokers });
}
