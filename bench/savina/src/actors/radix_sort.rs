//! A chain of actors, one a bit.

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::random::R64;

/// Of a value; and the actors of the chain.
const BITS: u32 = 60;

#[derive(Actor)]
struct Source {
    random: R64,
    chain: Addr<Sorter>,
}

#[handlers]
impl Source {
    #[message]
    fn draw(&mut self, values: usize) {
        for value in self.random.by_ref().take(values) {
            let _ = self.chain.send(Value { value });
        }
    }
}

#[derive(Actor)]
struct Sorter {
    bit: u32,
    missing: usize,
    kept: Vec<u64>,
    next: Next,
}

enum Next {
    Sorter(Addr<Sorter>),
    Last(Addr<Sum>),
}

#[handlers]
impl Sorter {
    #[message]
    fn value(&mut self, value: u64) {
        if value >> self.bit & 1 == 0 {
            self.send_on(value);
        } else {
            self.kept.push(value);
        }
        self.missing -= 1;
        if self.missing == 0 {
            self.kept.iter().for_each(|&value| self.send_on(value));
        }
    }

    fn send_on(&self, value: u64) {
        match &self.next {
            Next::Sorter(next) => drop(next.send(Value { value })),
            Next::Last(sum) => drop(sum.send(Value { value })),
        }
    }
}

#[derive(Actor)]
struct Sum {
    sum: u64,
    place: u64,
    values: u64,
    done: Finish,
}

impl Handler<Value> for Sum {
    fn handle(&mut self, Value { value }: Value, _: &mut Context<Self>) {
        self.place += 1;
        self.sum = self.sum.wrapping_add(self.place.wrapping_mul(value));
        if self.place == self.values {
            self.done.part(self.sum);
        }
    }
}

pub fn start(values: usize, seed: u64, done: Finish) {
    let sorter = |bit, next| spawn(Sorter { bit, missing: values, kept: Vec::new(), next });
    let sum = spawn(Sum { sum: 0, place: 0, values: values as u64, done });
    let last = sorter(BITS - 1, Next::Last(sum));
    let chain = (0..BITS - 1).rev().fold(last, |next, bit| sorter(bit, Next::Sorter(next)));
    let _ = spawn(Source { random: R64::new(seed), chain }).send(Draw { values });
}
