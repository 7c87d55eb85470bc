//! A barber, his waiting room, and customers who come again if it is full.

mod actor;
mod full;

use coact_bench_workloads::random::{R16, spin};
use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

/// How many are served, how many may wait, and the most work to make a customer and to serve one.
#[derive(Clone, Copy)]
struct Shop {
    haircuts: u64,
    places: usize,
    production: u32,
    haircut: u32,
}

impl Shop {
    fn of(setup: &Setup) -> Shop {
        let places = setup.scaled(1_000) as usize;
        Shop { haircuts: setup.scaled(5_000), places, production: 1_000, haircut: 1_000 }
    }
}

/// Works for some steps, less than `most` and ten.
fn work(random: &mut R16, most: u32) {
    spin(u64::from(random.below(most)) + 10);
}

/// One who serves, and many who wait.
pub struct SleepingBarber;

impl Workload for SleepingBarber {
    fn name(&self) -> &'static str {
        "sleeping-barber"
    }

    fn about(&self) -> &'static str {
        "customers who wait for one barber, and come again if all places are taken; a haircut"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        let Shop { haircuts, places, production, haircut } = Shop::of(setup);
        let (production, haircut) = (production.into(), haircut.into());
        vec![
            ("haircuts", haircuts),
            ("places", places as u64),
            ("production", production),
            ("haircut", haircut),
        ]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of haircuts", Shop::of(setup).haircuts, measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "customers and the room are actors, the barber asks for the next",
                run: |setup| {
                    let shop = Shop::of(setup);
                    super::run(setup, shop.haircuts, 1, move |done| actor::start(shop, done))
                },
            },
            Implementation {
                name: "coact-full",
                about: "a behaviour over the barber and a customer is a haircut",
                run: |setup| {
                    let shop = Shop::of(setup);
                    super::run(setup, shop.haircuts, 1, move |done| full::start(shop, done))
                },
            },
        ]
    }
}
