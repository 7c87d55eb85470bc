//! Savina's series of numbers.

/// The rates and the first terms, ten thousandths; and how many terms there are.
#[derive(Clone, Copy)]
pub struct Terms {
    /// Series.
    pub series: u64,
    /// Terms of each.
    pub terms: u64,
    /// The first rate.
    pub start: u64,
    /// What the next rate has more.
    pub increment: u64,
}

impl Terms {
    /// The rate and the first term of each series.
    pub fn series(self) -> impl Iterator<Item = (f64, f64)> {
        (0..self.series).map(move |number| {
            let offset = number * self.increment;
            ((self.start + offset) as f64 / 10_000.0, offset as f64 / 10_000.0)
        })
    }

    /// Terms of all.
    pub fn all(self) -> u64 {
        self.series * self.terms
    }
}

/// The term after this one.
#[inline]
pub fn next(rate: f64, term: f64) -> f64 {
    rate * term * (1.0 - term)
}

/// The bits of the last terms.
pub fn expected(terms: Terms) -> u64 {
    let last = |(rate, first)| (0..terms.terms).fold(first, |term, _| next(rate, term));
    terms.series().map(|series| last(series).to_bits()).fold(0, u64::wrapping_add)
}
