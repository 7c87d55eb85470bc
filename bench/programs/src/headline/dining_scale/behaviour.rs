//! A fork is a cown, a meal a behaviour on two of them, which spawns the next one.

use coact::prelude::*;

use super::Size;
use crate::runtime;
use coact_bench_workloads::random::busy;
use coact_bench_workloads::{Finish, Measured, Setup};

struct Fork;

/// Neighbours do not follow each other: half of the philosophers can eat at once, and then the other half.
pub fn alternating(setup: &Setup, size: Size) -> Measured {
    let seats = 0..size.philosophers as usize;
    dine(setup, size, seats.clone().skip(1).step_by(2).chain(seats.step_by(2)))
}

/// Each waits for the neighbour at first.
pub fn sequential(setup: &Setup, size: Size) -> Measured {
    dine(setup, size, 0..size.philosophers as usize)
}

fn dine(
    setup: &Setup,
    size: Size,
    seats: impl Iterator<Item = usize> + Send + 'static,
) -> Measured {
    runtime::run(setup, size.all_meals(), size.philosophers, move |done| {
        let forks: Vec<_> = (0..size.philosophers).map(|_| Cown::new(Fork)).collect();
        for seat in seats {
            let (left, right) = (forks[seat].clone(), forks[(seat + 1) % forks.len()].clone());
            eat((left, right), size, 0, done.clone());
        }
    })
}

/// The forks travel from meal to meal.
fn eat(forks: (Cown<Fork>, Cown<Fork>), size: Size, eaten: u64, done: Finish) {
    if eaten == size.meals {
        return done.part(eaten);
    }
    when(forks, move |(left, right)| {
        busy(size.work);
        eat((left.into_cown(), right.into_cown()), size, eaten + 1, done);
    });
}
