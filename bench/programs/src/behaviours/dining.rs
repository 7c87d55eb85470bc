//! A fork is a cown, a meal a behaviour on two of them that spawns the next meal.

use std::time::Duration;

use coact::prelude::{Cown, call, when};
use coact_bench_workloads::random::busy;
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::runtime;

/// Philosophers whose meals take no time, and forks. (Known here, so that no neighbour takes a
/// division.)
const SEATS: usize = 20;

/// A fork; it counts its uses.
#[derive(Default)]
struct Fork {
    uses: u64,
}

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
pub fn owned(given: &Given) -> anyhow::Result<Measured> {
    let meals_each = given.number("meals_each")?;
    dine(given, move |forks, seat, finish| {
        let pair = (forks[seat].clone(), forks[(seat + 1) % SEATS].clone());
        eat_with(pair, meals_each, finish);
    })
}

/// The philosophers share a table that lives for ever.
pub fn borrowed(given: &Given) -> anyhow::Result<Measured> {
    let meals_each = given.number("meals_each")?;
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
    dine(given, move |forks, seat, finish| eat(forks, seat, meals_each, finish))
}

fn dine(
    given: &Given,
    sit_down: impl Fn(&'static [Cown<Fork>], usize, Finish) + Send + 'static,
) -> anyhow::Result<Measured> {
    let (seats, meals_each) = (given.size("philosophers")?, given.number("meals_each")?);
    anyhow::ensure!(seats == SEATS, "the table has {SEATS} seats, not {seats}");
    let runtime = runtime::coact(given)?;
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
    let uses = call(forks, |forks| forks.iter().map(|fork| fork.uses).sum())
        .wait()
        .expect("the count runs");
    Ok(Measured::new(elapsed, SEATS as u64 * meals_each, uses))
}

/// Neighbours do not follow each other: half of the philosophers can eat at once, and then the
/// other half.
pub fn alternating(given: &Given) -> anyhow::Result<Measured> {
    let seats = 0..given.size("philosophers")?;
    dine_slowly(given, seats.clone().skip(1).step_by(2).chain(seats.step_by(2)))
}

/// Each waits for the neighbour at first.
pub fn sequential(given: &Given) -> anyhow::Result<Measured> {
    dine_slowly(given, 0..given.size("philosophers")?)
}

/// Philosophers who take their time.
fn dine_slowly(
    given: &Given,
    seats: impl Iterator<Item = usize> + Send + 'static,
) -> anyhow::Result<Measured> {
    let (philosophers, meals) = (given.number("philosophers")?, given.number("meals")?);
    let work = Duration::from_micros(given.number("work")?);
    runtime::run(given, philosophers * meals, philosophers, move |done| {
        let forks: Vec<_> = (0..philosophers).map(|_| Cown::new(Fork::default())).collect();
        for seat in seats {
            let pair = (forks[seat].clone(), forks[(seat + 1) % forks.len()].clone());
            eat_slowly(pair, work, (0, meals), done.clone());
        }
    })
}

fn eat_slowly(
    forks: (Cown<Fork>, Cown<Fork>),
    work: Duration,
    (eaten, meals): (u64, u64),
    done: Finish,
) {
    if eaten == meals {
        return done.part(eaten);
    }
    when(forks, move |(left, right)| {
        busy(work);
        eat_slowly((left.into_cown(), right.into_cown()), work, (eaten + 1, meals), done);
    });
}
