//! A series asks its computer for each term, and counts the terms that it is told to find meanwhile.

use coact::prelude::*;

use super::{Terms, next};
use crate::harness::Finish;

#[derive(Actor)]
struct Computer {
    rate: f64,
}

#[handlers]
impl Computer {
    #[message]
    fn compute(&self, term: f64) -> f64 {
        next(self.rate, term)
    }
}

#[derive(Actor)]
struct Series {
    computer: Addr<Computer>,
    term: f64,
    waiting: u64,
    asked: Option<Reply<f64>>,
}

#[handlers]
impl Series {
    #[message]
    fn next_term(&mut self, context: &mut Context<Self>) {
        self.waiting += 1;
        if self.waiting == 1 {
            self.compute(context);
        }
    }

    fn compute(&mut self, context: &mut Context<Self>) {
        let question = Compute { term: self.term };
        context.ask(&self.computer, question, |this, term, context| {
            this.term = term.unwrap_or(f64::NAN);
            this.waiting -= 1;
            if this.waiting > 0 {
                this.compute(context);
            } else if let Some(reply) = this.asked.take() {
                reply.send(this.term);
            }
        });
    }

    /// Answered after the terms that were sent before.
    #[message]
    fn term(&mut self, reply: Reply<f64>) {
        if self.waiting == 0 {
            reply.send(self.term);
        } else {
            self.asked = Some(reply);
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
            let computer = spawn(Computer { rate });
            let series = spawn(Series { computer, term, waiting: 0, asked: None });
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
