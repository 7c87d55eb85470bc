//! A master asks its workers for the areas of their parts.

use std::ops::Range;

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::work::integral::{Integral, area, result};

#[derive(Actor)]
struct Worker;

#[handlers]
impl Worker {
    #[message]
    fn part(&self, integral: Integral, pieces: Range<u64>) -> f64 {
        area(integral, pieces)
    }
}

#[derive(Actor)]
struct Master {
    area: f64,
    missing: u64,
    done: Finish,
}

#[handlers]
impl Master {
    #[message]
    fn integrate(&mut self, integral: Integral, context: &mut Context<Self>) {
        for pieces in integral.parts() {
            context.ask(&spawn(Worker), Part { integral, pieces }, |this, area, _| {
                this.add(area.unwrap_or(f64::NAN));
            });
        }
    }

    fn add(&mut self, area: f64) {
        self.area += area;
        self.missing -= 1;
        if self.missing == 0 {
            self.done.part(result(self.area));
        }
    }
}

pub fn start(integral: Integral, done: Finish) {
    let master = spawn(Master { area: 0.0, missing: integral.workers, done });
    let _ = master.send(Integrate { integral });
}
