//! A factory of customers, a waiting room, and a barber.

use std::collections::VecDeque;

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::random::R16;

use crate::sizes::{Shop, steps};

#[derive(Actor)]
struct Factory {
    room: Addr<Room>,
    left: u64,
    haircuts: u64,
    done: Finish,
}

#[handlers]
impl Factory {
    #[message]
    fn produce(&mut self, shop: Shop, context: &mut Context<Self>) {
        let mut random = R16::new(1);
        for _ in 0..shop.haircuts {
            let customer = spawn(Customer { factory: context.address() });
            let _ = self.room.send(Enter { customer });
            steps(&mut random, shop.production);
        }
    }

    #[message]
    fn returned(&mut self, customer: Addr<Customer>) {
        let _ = self.room.send(Enter { customer });
    }

    #[message]
    fn left(&mut self) {
        self.left += 1;
        if self.left == self.haircuts {
            self.done.part(self.left);
        }
    }
}

#[derive(Actor)]
struct Customer {
    factory: Addr<Factory>,
}

#[handlers]
impl Customer {
    #[message]
    fn full(&self, context: &mut Context<Self>) {
        let _ = self.factory.send(Returned { customer: context.address() });
    }

    #[message]
    fn start(&self) {}

    #[message]
    fn done(&self) {
        let _ = self.factory.send(Left);
    }
}

#[derive(Actor)]
struct Room {
    places: usize,
    waiting: VecDeque<Addr<Customer>>,
    barber: Addr<Barber>,
    barber_sleeps: bool,
}

#[handlers]
impl Room {
    #[message]
    fn enter(&mut self, customer: Addr<Customer>, context: &mut Context<Self>) {
        if self.waiting.len() == self.places {
            let _ = customer.send(Full);
            return;
        }
        self.waiting.push_back(customer);
        if self.barber_sleeps {
            self.next(context);
        }
    }

    #[message]
    fn next(&mut self, context: &mut Context<Self>) {
        let next = self.waiting.pop_front();
        self.barber_sleeps = next.is_none();
        if let Some(customer) = next {
            let _ = self.barber.send(Cut { customer, room: context.address() });
        }
    }
}

#[derive(Actor)]
struct Barber {
    random: R16,
    haircut: u32,
}

#[handlers]
impl Barber {
    #[message]
    fn cut(&mut self, customer: Addr<Customer>, room: Addr<Room>) {
        let _ = customer.send(Start);
        steps(&mut self.random, self.haircut);
        let _ = customer.send(Done);
        let _ = room.send(Next);
    }
}

pub fn start(shop: Shop, done: Finish) {
    let barber = spawn(Barber { random: R16::new(2), haircut: shop.haircut });
    let waiting = VecDeque::with_capacity(shop.places);
    let room = spawn(Room { places: shop.places, waiting, barber, barber_sleeps: true });
    let factory = spawn(Factory { room, left: 0, haircuts: shop.haircuts, done });
    let _ = factory.send(Produce { shop });
}
