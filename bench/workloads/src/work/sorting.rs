//! Savina's lists to be sorted.

use std::iter::repeat_n;

use crate::random::R64;

/// Random values.
pub fn list(values: u64, seed: u64) -> Vec<u64> {
    R64::new(seed).take(values as usize).collect()
}

/// The value that a list was split at, and how often it was there.
pub type Pivots = (u64, usize);

/// Splits a list at the value in its middle, into those that are less and those that are greater.
pub fn split(mut list: Vec<u64>) -> (Vec<u64>, Pivots, Vec<u64>) {
    let (values, pivot) = (list.len(), list[list.len() / 2]);
    let mut less = 0;
    for place in 0..values {
        // Swapped in any case: as a branch, every second one would be foreseen wrongly.
        list.swap(less, place);
        less += usize::from(list[less] < pivot);
    }
    let mut greater = list.split_off(less);
    greater.retain(|&value| value != pivot);
    let equal = values - less - greater.len();
    (list, (pivot, equal), greater)
}

/// Puts the parts together again.
pub fn join(mut less: Vec<u64>, (pivot, equal): Pivots, mut greater: Vec<u64>) -> Vec<u64> {
    less.extend(repeat_n(pivot, equal));
    less.append(&mut greater);
    less
}

/// The values, each times its place.
pub fn digest(list: &[u64]) -> u64 {
    let weighted = |(value, place): (&u64, u64)| value.wrapping_mul(place);
    list.iter().zip(1..).map(weighted).fold(0, u64::wrapping_add)
}

/// The digest of the sorted list.
pub fn sorted(values: u64, seed: u64) -> u64 {
    let mut list = list(values, seed);
    list.sort_unstable();
    digest(&list)
}
