//! A haircut is a behaviour over the barber and the customer: those who wait stand in the barber's
//! own queue, and the room only counts them.

use std::sync::Arc;

use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::random::R16;

use crate::sizes::{Shop, steps};

struct Cowns {
    shop: Shop,
    /// Customers who are done.
    factory: Cown<u64>,
    /// Customers who wait.
    room: Cown<usize>,
    barber: Cown<R16>,
    done: Finish,
}

struct Customer;

fn enter(cowns: Arc<Cowns>, customer: Cown<Customer>) {
    when(&cowns.clone().room, move |waiting| {
        if *waiting == cowns.shop.places {
            return when(&cowns.clone().factory, move |_| enter(cowns, customer));
        }
        *waiting += 1;
        when((&cowns.clone().barber, customer), move |(random, _customer)| {
            when(&cowns.room, |waiting| *waiting -= 1);
            steps(random, cowns.shop.haircut);
            leave(cowns);
        });
    });
}

fn leave(cowns: Arc<Cowns>) {
    when(&cowns.clone().factory, move |left| {
        *left += 1;
        if *left == cowns.shop.haircuts {
            cowns.done.part(*left);
        }
    });
}

pub fn start(shop: Shop, done: Finish) {
    let (factory, room, barber) = (Cown::new(0), Cown::new(0), Cown::new(R16::new(2)));
    let cowns = Arc::new(Cowns { shop, factory, room, barber, done });
    when(&cowns.clone().factory, move |_| {
        let mut random = R16::new(1);
        for _ in 0..shop.haircuts {
            enter(cowns.clone(), Cown::new(Customer));
            steps(&mut random, shop.production);
        }
    });
}
