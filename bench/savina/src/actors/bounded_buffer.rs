//! A manager with a buffer between producers and consumers.

use std::collections::VecDeque;

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::random::R16;

use crate::sizes::Buffer;

#[derive(Actor)]
struct Manager {
    items: VecDeque<Item>,
    /// So many are queued before producers become idle.
    limit: usize,
    producers: Vec<Addr<Producer>>,
    consumers: Vec<Addr<Consumer>>,
    idle_producers: VecDeque<usize>,
    idle_consumers: VecDeque<usize>,
    open: u64,
}

struct Item {
    number: u64,
    value: f64,
}

#[handlers]
impl Manager {
    #[message]
    fn begin(&mut self, sizes: Buffer, done: Finish, context: &mut Context<Self>) {
        let Buffer { producers, consumers, items, cost, .. } = sizes;
        for place in 0..consumers as usize {
            let (manager, done) = (context.address(), done.clone());
            self.consumers.push(spawn(Consumer { place, manager, cost, value: 0.0, sum: 0, done }));
            self.idle_consumers.push_back(place);
        }
        for place in 0..producers as usize {
            let (manager, next) = (context.address(), place as u64 * items);
            let producer = Producer { place, manager, cost, value: 0.0, next, end: next + items };
            self.producers.push(spawn(producer));
            self.wake(place);
        }
    }

    #[message]
    fn made(&mut self, item: Item, producer: usize) {
        match self.idle_consumers.pop_front() {
            Some(consumer) => drop(self.consumers[consumer].send(Consume { item })),
            None => self.items.push_back(item),
        }
        if self.items.len() < self.limit {
            self.wake(producer);
        } else {
            self.idle_producers.push_back(producer);
        }
    }

    #[message]
    fn available(&mut self, consumer: usize, context: &mut Context<Self>) {
        self.open -= 1;
        if self.open == 0 {
            // Their only addresses are here: producers and consumers end as well.
            return context.stop();
        }
        let Some(item) = self.items.pop_front() else {
            return self.idle_consumers.push_back(consumer);
        };
        let _ = self.consumers[consumer].send(Consume { item });
        if let Some(producer) = self.idle_producers.pop_front() {
            self.wake(producer);
        }
    }

    fn wake(&self, producer: usize) {
        let _ = self.producers[producer].send(Produce);
    }
}

#[derive(Actor)]
struct Producer {
    place: usize,
    manager: Addr<Manager>,
    cost: u32,
    value: f64,
    next: u64,
    end: u64,
}

#[handlers]
impl Producer {
    #[message]
    fn produce(&mut self) {
        if self.next < self.end {
            self.value = work(self.value, self.cost);
            let item = Item { number: self.next, value: self.value };
            self.next += 1;
            let _ = self.manager.send(Made { item, producer: self.place });
        }
    }
}

struct Consumer {
    place: usize,
    manager: Addr<Manager>,
    cost: u32,
    value: f64,
    sum: u64,
    done: Finish,
}

#[handlers]
impl Consumer {
    #[message]
    fn consume(&mut self, item: Item) {
        self.value = work(self.value + item.value, self.cost);
        if item.value.is_finite() {
            self.sum += item.number;
        }
        let _ = self.manager.send(Available { consumer: self.place });
    }
}

impl Actor for Consumer {
    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.done.part(self.sum);
    }
}

fn work(value: f64, cost: u32) -> f64 {
    let mut random = R16::new(cost);
    let mut step = || (1.0 / f64::from(random.next() + 1) + 0.01).ln();
    (0..cost * 100).fold(value, |value, _| value + step())
}

pub fn start(sizes: Buffer, done: Finish) {
    let manager = Manager {
        items: VecDeque::new(),
        limit: sizes.buffer.saturating_sub(sizes.producers).max(1) as usize,
        producers: Vec::new(),
        consumers: Vec::new(),
        idle_producers: VecDeque::new(),
        idle_consumers: VecDeque::new(),
        open: sizes.producers * sizes.items,
    };
    let _ = spawn(manager).send(Begin { sizes, done });
}
