//! A fork is a cown, and a meal a behaviour over two of them: nothing is asked.

use coact::prelude::*;
use coact_bench_workloads::Finish;

#[derive(Default)]
struct Fork {
    uses: u64,
}

struct Philosopher {
    rounds: u64,
    meals: u64,
    done: Finish,
}

impl Philosopher {
    fn dine(mut self, left: Cown<Fork>, right: Cown<Fork>) {
        if self.meals == self.rounds {
            return self.done.part(self.meals);
        }
        when((left, right), move |(mut left, mut right)| {
            left.uses += 1;
            right.uses += 1;
            self.meals += 1;
            self.dine(left.into_cown(), right.into_cown());
        });
    }
}

pub fn start(philosophers: u64, rounds: u64, done: Finish) {
    let forks: Vec<_> = (0..philosophers).map(|_| Cown::new(Fork::default())).collect();
    for (left, right) in forks.iter().zip(forks.iter().cycle().skip(1)) {
        let philosopher = Philosopher { rounds, meals: 0, done: done.clone() };
        philosopher.dine(left.clone(), right.clone());
    }
}
