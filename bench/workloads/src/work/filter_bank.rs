//! Savina's signal that goes through banks of filters, a bank a channel, and comes together again.

/// How much there is of what.
#[derive(Clone, Copy)]
pub struct Bank {
    /// Chains of filters.
    pub channels: u64,
    /// Values that a filter holds.
    pub columns: u64,
    /// Values of the signal.
    pub simulations: u64,
}

impl Bank {
    /// That of the filters of a channel, both the same, in a column.
    #[inline]
    pub fn coefficient(&self, channel: u64, column: u64) -> f64 {
        let Bank { channels, columns, .. } = *self;
        (column * columns + column * channels + column + channel + column + 1) as f64
    }

    /// What a bank puts out, the sums by means of what is not zero only: few of the values that are
    /// sampled.
    fn bank(&self, channel: u64) -> Vec<f64> {
        let columns = self.columns;
        // The first delay puts in that many zeros, the first filter eats as many of them; so its
        // first sum is over zeros and the signal's first value, and the n-th over the values until
        // the n-th.
        let delayed = |n: u64| n.checked_sub(columns - 1).map_or(0.0, |n| ((n + 1) % 1_000) as f64);
        let first = |n: u64| {
            let place = |k: u64| {
                (self.column(n + columns - 1, k), self.coefficient(channel, columns - 1 - k))
            };
            (0..columns).map(place).fold(0.0, |sum, (at, c)| sum + delayed(at) * c)
        };
        let sums = self.simulations - (columns - 1);
        let sampled: Vec<(u64, f64)> =
            (0..sums).step_by(columns as usize).map(|n| (n + columns - 1, first(n))).collect();
        let second = |newest: u64| {
            let mut seen: Vec<(u64, f64)> = sampled
                .iter()
                .filter(|(at, _)| (newest + 1 - columns..=newest).contains(at))
                .map(|(at, value)| (at % columns, *value))
                .collect();
            seen.sort_unstable_by_key(|(place, _)| *place);
            seen.iter().fold(0.0, |sum, (place, value)| {
                sum + value * self.coefficient(channel, columns - 1 - place)
            })
        };
        (columns - 1..sums).map(second).collect()
    }

    /// Which value stands in a place of a ring whose newest value is known.
    fn column(&self, newest: u64, place: u64) -> u64 {
        newest - (newest - place) % self.columns
    }

    /// The bits of the sums over the channels, added.
    pub fn bits(&self) -> u64 {
        let banks: Vec<Vec<f64>> = (0..self.channels).map(|channel| self.bank(channel)).collect();
        (0..banks[0].len())
            .map(|n| banks.iter().fold(0.0, |sum, bank| sum + bank[n]))
            .fold(0, |bits: u64, sum: f64| bits.wrapping_add(sum.to_bits()))
    }
}
