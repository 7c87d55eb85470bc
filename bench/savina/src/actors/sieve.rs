//! A chain of filters, which grows as primes are found.

use coact::prelude::*;
use coact_bench_workloads::Finish;

#[derive(Actor)]
struct Filter {
    primes: Vec<u32>,
    next: Option<Addr<Filter>>,
    done: Finish,
}

impl Filter {
    fn spawn(buffer: usize, done: Finish) -> Addr<Filter> {
        spawn(Filter { primes: Vec::with_capacity(buffer), next: None, done })
    }
}

#[handlers]
impl Filter {
    #[message]
    fn candidate(&mut self, number: u32) {
        if self.primes.iter().any(|prime| number.is_multiple_of(*prime)) {
            return;
        }
        let buffer = self.primes.capacity();
        if self.primes.len() < buffer {
            return self.primes.push(number);
        }
        let next = self.next.get_or_insert_with(|| Filter::spawn(buffer, self.done.clone()));
        let _ = next.send(Candidate { number });
    }

    #[message]
    fn end(&mut self, primes: u64) {
        let primes = primes + self.primes.len() as u64;
        match &self.next {
            Some(next) => drop(next.send(End { primes })),
            None => self.done.part(primes),
        }
    }
}

#[derive(Actor)]
struct Producer {
    filter: Addr<Filter>,
}

#[handlers]
impl Producer {
    #[message]
    fn produce(&mut self, limit: u32) {
        for number in (3..limit).step_by(2) {
            let _ = self.filter.send(Candidate { number });
        }
        // The 2, which no filter sees.
        let _ = self.filter.send(End { primes: 1 });
    }
}

pub fn start(limit: u32, buffer: usize, done: Finish) {
    let _ = spawn(Producer { filter: Filter::spawn(buffer, done) }).send(Produce { limit });
}
