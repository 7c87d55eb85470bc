//! Primes: those of the sieve, and the number that is factorised beside the rings.

use crate::workload::Setup;

/// How many there are below a limit.
pub fn below(limit: u64) -> u64 {
    let limit = limit as usize;
    let mut is_prime = vec![true; limit];
    let mut primes = 0;
    for number in 2..limit {
        if is_prime[number] {
            primes += 1;
            is_prime[number..].iter_mut().step_by(number).for_each(|multiple| *multiple = false);
        }
    }
    primes
}

/// The two factors of the number that is factorised; less work needs less of them.
pub fn factors(setup: &Setup) -> (u64, u64) {
    let next = |full: u64, least| {
        let from = setup.scaled_at_least(full, least);
        (from..).find(|&number| is_prime(number)).expect("there are infinitely many")
    };
    (next(86_028_157, 101), next(329_545_133, 1_009))
}

fn is_prime(number: u64) -> bool {
    let mut roots = (2..).take_while(|root| root * root <= number);
    roots.all(|root| !number.is_multiple_of(root))
}

/// The sum of a number's prime factors, by trial division.
pub fn sum_of_factors(mut number: u64) -> u64 {
    let mut sum = 0;
    let mut take_out = |divisor: u64, number: &mut u64| {
        while number.is_multiple_of(divisor) {
            *number /= divisor;
            sum += divisor;
        }
    };
    take_out(2, &mut number);
    let mut divisor = 3;
    while divisor * divisor <= number {
        take_out(divisor, &mut number);
        divisor += 2;
    }
    // What is left has no divisor up to its root: it is 1, or a prime.
    if number > 1 { sum + number } else { sum }
}

#[cfg(test)]
mod tests {
    use super::{below, factors, sum_of_factors};
    use crate::workload::Setup;

    #[test]
    fn the_full_size_is_that_of_the_paper() {
        let (less, greater) = factors(&Setup { scale: 1.0, workers: 2 });
        assert_eq!(less * greater, 28_350_160_440_309_881);
    }

    #[test]
    fn factors_count_as_often_as_they_divide() {
        let cases = [
            (1, 0),
            (2, 2),
            (8, 6),
            (9, 6),
            (12, 7),
            (97, 97),
            (360, 17),
            (101 * 103, 204),
            (101 * 1_009, 1_110),
        ];
        assert_eq!(cases.map(|(number, _)| sum_of_factors(number)), cases.map(|(_, sum)| sum));
    }

    #[test]
    fn the_primes_below_a_hundred_are_twenty_five() {
        assert_eq!([3, 100, 1_000].map(below), [1, 25, 168]);
    }
}
