//! A series has its computer find each term, and counts the terms that it is told to find
//! meanwhile.

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::work::logistic_map::{Terms, next};

#[derive(Actor)]
struct Computer {
    rate: f64,
    series: Addr<Series>,
}

#[handlers]
impl Computer {
    #[message]
    fn compute(&self, term: f64) {
        let _ = self.series.send(Computed { term: next(self.rate, term) });
    }
}

struct Series {
    rate: f64,
    term: f64,
    /// Terms that are yet to be found, including the one that the computer has.
    missing: u64,
    computer: Option<Addr<Computer>>,
    asked: Option<Reply<f64>>,
}

impl Actor for Series {
    fn started(&mut self, context: &mut Context<Self>) {
        self.computer = Some(spawn(Computer { rate: self.rate, series: context.address() }));
    }
}

#[handlers]
impl Series {
    #[message]
    fn next_term(&mut self) {
        self.missing += 1;
        if self.missing == 1 {
            self.compute();
        }
    }

    #[message]
    fn computed(&mut self, term: f64) {
        self.term = term;
        self.missing -= 1;
        if self.missing > 0 {
            self.compute();
        } else {
            self.answer();
        }
    }

    /// The last message: it comes after all terms have been asked for, and is answered when they
    /// are found.
    #[message]
    fn term(&mut self, reply: Reply<f64>) {
        self.asked = Some(reply);
        if self.missing == 0 {
            self.answer();
        }
    }

    fn compute(&self) {
        if let Some(computer) = &self.computer {
            let _ = computer.send(Compute { term: self.term });
        }
    }

    fn answer(&mut self) {
        if let Some(reply) = self.asked.take() {
            reply.send(self.term);
            // The two know each other: one has to let go.
            self.computer = None;
        }
    }
}

#[derive(Actor)]
struct Master {
    done: Finish,
}

#[handlers]
impl Master {
    #[message]
    fn run(&self, terms: Terms, context: &mut Context<Self>) {
        for (rate, term) in terms.series() {
            let series = spawn(Series { rate, term, missing: 0, computer: None, asked: None });
            for _ in 0..terms.terms {
                let _ = series.send(NextTerm);
            }
            context.ask(&series, Term, |this, term, _| {
                this.done.part(term.map_or(0, f64::to_bits));
            });
        }
    }
}

pub fn start(terms: Terms, done: Finish) {
    let _ = spawn(Master { done }).send(Run { terms });
}
