//! Fibonacci numbers by naive recursion, down to 1 and 2 (Savina) or to 0 and 1 (fork-join).

use crate::workload::Setup;

/// The number.
pub fn fibonacci(n: u64) -> u64 {
    let (mut last, mut next) = (0, 1);
    for _ in 0..n {
        (last, next) = (next, last + next);
    }
    last
}

/// Calls until 1 or 2: all but the leaves have two.
pub fn calls_to_one(n: u64) -> u64 {
    2 * fibonacci(n) - 1
}

/// Calls until 0 or 1.
pub fn calls_to_zero(n: u64) -> u64 {
    2 * fibonacci(n + 1) - 1
}

/// 25, or the greatest whose number is within the scale.
pub fn number_within(setup: &Setup) -> u64 {
    let most = setup.scaled(fibonacci(25));
    (2..=25).rev().find(|&n| fibonacci(n) <= most).unwrap_or(2)
}

/// 25, or the greatest whose calls are within the scale.
pub fn calls_within(setup: &Setup) -> u64 {
    let most = setup.scaled(calls_to_zero(25));
    (2..=25).rev().find(|&n| calls_to_zero(n) <= most).unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use super::{calls_to_one, calls_to_zero, fibonacci};

    #[test]
    fn calls_are_those_of_the_recursion() {
        fn calls(n: u64, last: u64) -> u64 {
            if n <= last { 1 } else { 1 + calls(n - 1, last) + calls(n - 2, last) }
        }
        for n in 1..15 {
            assert_eq!((calls_to_zero(n), calls_to_one(n)), (calls(n, 1), calls(n, 2)), "{n}");
        }
        assert_eq!((fibonacci(10), fibonacci(25), calls_to_zero(25)), (55, 75_025, 242_785));
    }
}
