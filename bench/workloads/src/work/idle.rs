//! Things that are made and then have nothing to do: what does each cost in time and memory?

use crate::memory::{Begun, places};
use crate::workload::Measured;

/// The three that are asked for their numbers in the end.
pub fn witnesses(count: u64) -> [u64; 3] {
    [0, count / 2, count - 1]
}

/// Makes them all, into memory that is already resident, and measures the time and the growth.
///
/// The result is left at zero, for the caller to fill in from the witnesses.
pub fn make<T>(count: u64, mut one: impl FnMut(u64) -> T) -> (Vec<Option<T>>, Measured) {
    let mut all = places(count);
    let begun = Begun::now();
    fill(&mut all, &mut one);
    (all, begun.measured(count))
}

fn fill<T>(all: &mut [Option<T>], one: &mut impl FnMut(u64) -> T) {
    for (number, place) in (0..).zip(all) {
        *place = Some(one(number));
    }
}
