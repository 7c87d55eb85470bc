//! A fork is a cown, a meal a behaviour on two of them that spawns the next meal.

use coact::prelude::{Cown, ask, when};

use super::{Fork, SEATS, meals};
use crate::runtime;
use coact_bench_workloads::{Finish, Measured, Setup, Stopwatch};

/// The handles of the forks travel from meal to meal.
fn eat_with(forks: (Cown<Fork>, Cown<Fork>), hunger: u64, finish: Finish) {
    if hunger == 0 {
        return finish.part(0);
    }
    when(forks, move |(mut left, mut right)| {
        left.uses += 1;
        right.uses += 1;
        eat_with((left.into_cown(), right.into_cown()), hunger - 1, finish);
    });
}

/// Every philosopher owns the handles of its forks.
pub fn owned(setup: &Setup, meals_each: u64) -> Measured {
    dine(setup, meals_each, move |forks, seat, finish| {
        let pair = (forks[seat].clone(), forks[(seat + 1) % SEATS].clone());
        eat_with(pair, meals_each, finish);
    })
}

/// The philosophers share a table that lives for ever.
pub fn borrowed(setup: &Setup, meals_each: u64) -> Measured {
    fn eat(forks: &'static [Cown<Fork>], seat: usize, hunger: u64, finish: Finish) {
        if hunger == 0 {
            return finish.part(0);
        }
        when((&forks[seat], &forks[(seat + 1) % SEATS]), move |(left, right)| {
            left.uses += 1;
            right.uses += 1;
            eat(forks, seat, hunger - 1, finish);
        });
    }
    dine(setup, meals_each, move |forks, seat, finish| eat(forks, seat, meals_each, finish))
}

fn dine(
    setup: &Setup,
    meals_each: u64,
    sit_down: impl Fn(&'static [Cown<Fork>], usize, Finish) + Send + 'static,
) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let finish = Finish::after(SEATS as u64);
    let stopwatch = Stopwatch::default();
    // One table a process; the borrowing philosophers need it to outlive every meal.
    let forks: &'static [Cown<Fork>] =
        Vec::leak((0..SEATS).map(|_| Cown::new(Fork::default())).collect());
    let (started, finished) = (stopwatch.clone(), finish.clone());
    when(Cown::new(()), move |_| {
        started.start();
        for seat in 0..SEATS {
            sit_down(forks, seat, finished.clone());
        }
    });
    let (elapsed, _) = stopwatch.until(&finish);
    let uses = ask(forks, |forks| forks.iter().map(|fork| fork.uses).sum())
        .wait()
        .expect("the count runs");
    Measured::new(elapsed, meals(meals_each), uses)
}
