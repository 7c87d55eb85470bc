//! Chains of filters that are actors, a chain a channel. Each ends when its last address is
//! dropped: the end goes through the chains behind the last value.

use std::collections::VecDeque;

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::work::filter_bank::Bank;

#[derive(Message)]
struct Value(f64);

#[derive(Actor)]
struct Producer {
    simulations: u64,
    source: Addr<Source>,
}

#[handlers]
impl Producer {
    #[message]
    fn next(&mut self, context: &mut Context<Self>) {
        if self.simulations == 0 {
            return context.stop();
        }
        self.simulations -= 1;
        let _ = self.source.send(Boot { producer: context.address() });
    }
}

#[derive(Actor)]
struct Source {
    value: u32,
    /// Kept, so that it lives until it stops.
    producer: Option<Addr<Producer>>,
    branches: Addr<Branches>,
}

#[handlers]
impl Source {
    #[message]
    fn boot(&mut self, producer: Addr<Producer>) {
        let _ = self.branches.send(Value(f64::from(self.value)));
        self.value = (self.value + 1) % 1_000;
        let _ = self.producer.insert(producer).send(Next);
    }
}

#[derive(Actor)]
struct Branches {
    banks: Vec<Addr<Delay>>,
}

impl Handler<Value> for Branches {
    fn handle(&mut self, Value(value): Value, _: &mut Context<Self>) {
        for bank in &self.banks {
            let _ = bank.send(Value(value));
        }
    }
}

#[derive(Actor)]
struct Delay {
    ring: Vec<f64>,
    place: usize,
    next: Addr<Fir>,
}

impl Handler<Value> for Delay {
    fn handle(&mut self, Value(value): Value, _: &mut Context<Self>) {
        let oldest = std::mem::replace(&mut self.ring[self.place], value);
        self.place = (self.place + 1) % self.ring.len();
        let _ = self.next.send(Value(oldest));
    }
}

#[derive(Actor)]
struct Fir {
    ring: Vec<f64>,
    place: usize,
    full: bool,
    /// The last one first.
    coefficients: Vec<f64>,
    next: Recipient<Value>,
}

impl Handler<Value> for Fir {
    fn handle(&mut self, Value(value): Value, _: &mut Context<Self>) {
        self.ring[self.place] = value;
        self.place = (self.place + 1) % self.ring.len();
        self.full |= self.place == 0;
        if self.full {
            let products = self.ring.iter().zip(&self.coefficients).map(|(data, c)| data * c);
            let _ = self.next.send(Value(products.fold(0.0, |sum, product| sum + product)));
        }
    }
}

#[derive(Actor)]
struct Sample {
    rate: u64,
    count: u64,
    next: Addr<Delay>,
}

impl Handler<Value> for Sample {
    fn handle(&mut self, Value(value): Value, _: &mut Context<Self>) {
        let taken = self.count.is_multiple_of(self.rate);
        self.count += 1;
        let _ = self.next.send(Value(if taken { value } else { 0.0 }));
    }
}

#[derive(Actor)]
struct Tag {
    channel: usize,
    integrator: Addr<Integrator>,
}

impl Handler<Value> for Tag {
    fn handle(&mut self, Value(value): Value, _: &mut Context<Self>) {
        let _ = self.integrator.send(Tagged { channel: self.channel, value });
    }
}

#[derive(Actor)]
struct Integrator {
    channels: Vec<VecDeque<f64>>,
    combine: Addr<Combine>,
}

#[handlers]
impl Integrator {
    #[message]
    fn tagged(&mut self, channel: usize, value: f64) {
        self.channels[channel].push_back(value);
        if self.channels.iter().all(|values| !values.is_empty()) {
            let values = self.channels.iter_mut().filter_map(VecDeque::pop_front).collect();
            let _ = self.combine.send(Gathered { values });
        }
    }
}

#[derive(Actor)]
struct Combine {
    sink: Addr<Sink>,
}

#[handlers]
impl Combine {
    #[message]
    fn gathered(&mut self, values: Vec<f64>) {
        let _ = self.sink.send(Value(values.iter().fold(0.0, |sum, value| sum + value)));
    }
}

struct Sink {
    bits: u64,
    done: Finish,
}

impl Handler<Value> for Sink {
    fn handle(&mut self, Value(value): Value, _: &mut Context<Self>) {
        self.bits = self.bits.wrapping_add(value.to_bits());
    }
}

impl Actor for Sink {
    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.done.part(self.bits);
    }
}

/// Two filters with a sample between them.
fn bank(channel: usize, sizes: Bank, integrator: Addr<Integrator>) -> Addr<Delay> {
    let columns = sizes.columns as usize;
    let delayed = |next: Recipient<Value>| {
        let coefficients = (0..sizes.columns).rev().map(|j| sizes.coefficient(channel as u64, j));
        let (ring, coefficients) = (vec![0.0; columns], coefficients.collect());
        let next = spawn(Fir { ring, place: 0, full: false, coefficients, next });
        spawn(Delay { ring: vec![0.0; columns - 1], place: 0, next })
    };
    let tag = spawn(Tag { channel, integrator });
    let next = delayed(tag.to_recipient());
    let sample = spawn(Sample { rate: sizes.columns, count: 0, next });
    delayed(sample.to_recipient())
}

pub fn start(sizes: Bank, done: Finish) {
    let combine = spawn(Combine { sink: spawn(Sink { bits: 0, done }) });
    let channels = vec![VecDeque::new(); sizes.channels as usize];
    let integrator = spawn(Integrator { channels, combine });
    let bank = |channel| bank(channel, sizes, integrator.clone());
    let banks = (0..sizes.channels as usize).map(bank).collect();
    let branches = spawn(Branches { banks });
    let source = spawn(Source { value: 1, producer: None, branches });
    let _ = spawn(Producer { simulations: sizes.simulations, source }).send(Next);
}
