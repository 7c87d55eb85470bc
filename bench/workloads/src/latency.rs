//! How long single operations took.

use std::time::Duration;

/// The times of many operations.
#[derive(Debug, Default)]
pub struct Latencies(Vec<u32>);

impl Latencies {
    /// With room for this number, so that recording one allocates nothing.
    pub fn of_up_to(count: usize) -> Latencies {
        Latencies(Vec::with_capacity(count))
    }

    /// Notes one; of more than four seconds it is only known that it was as long.
    pub fn note(&mut self, time: Duration) {
        self.0.push(u32::try_from(time.as_nanos()).unwrap_or(u32::MAX));
    }

    /// Takes over those of another.
    pub fn extend(&mut self, other: Latencies) {
        self.0.extend(other.0);
    }

    /// What 99 of 100 took at the most, in nanoseconds; `None` if there were none.
    pub fn p99(mut self) -> Option<f64> {
        let at = (self.0.len() * 99).div_ceil(100).checked_sub(1)?;
        Some(f64::from(*self.0.select_nth_unstable(at).1))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Latencies;

    #[test]
    fn one_of_a_hundred_may_take_longer() {
        let p99 = |count: u64| {
            let mut latencies = Latencies::default();
            (1..=count).rev().for_each(|n| latencies.note(Duration::from_nanos(n)));
            latencies.p99()
        };
        assert_eq!(
            [0, 1, 99, 100, 101, 1_000].map(p99),
            [None, Some(1.0), Some(99.0), Some(99.0), Some(100.0), Some(990.0)]
        );
    }

    #[test]
    fn those_of_several_tasks_count_as_one() {
        let mut all = Latencies::of_up_to(2);
        for nanos in [5, 3] {
            let mut one = Latencies::of_up_to(1);
            one.note(Duration::from_nanos(nanos));
            all.extend(one);
        }
        assert_eq!(all.p99(), Some(5.0));
    }
}
