//! Series of numbers, each of which another actor computes from the one before.

mod actor;
mod full;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Unit, Workload};

/// The rates and the first terms, ten thousandths; and how many terms there are.
#[derive(Clone, Copy)]
struct Terms {
    series: u64,
    terms: u64,
    start: u64,
    increment: u64,
}

impl Terms {
    fn of(setup: &Setup) -> Terms {
        Terms { series: 10, terms: setup.scaled(25_000), start: 34_600, increment: 25 }
    }

    /// The rate and the first term of each series.
    fn series(self) -> impl Iterator<Item = (f64, f64)> {
        (0..self.series).map(move |number| {
            let offset = number * self.increment;
            ((self.start + offset) as f64 / 10_000.0, offset as f64 / 10_000.0)
        })
    }

    fn all(self) -> u64 {
        self.series * self.terms
    }
}

/// The term after this one.
fn next(rate: f64, term: f64) -> f64 {
    rate * term * (1.0 - term)
}

/// The bits of the last terms.
fn expected(terms: Terms) -> u64 {
    let last = |(rate, first)| (0..terms.terms).fold(first, |term, _| next(rate, term));
    terms.series().map(|series| last(series).to_bits()).fold(0, u64::wrapping_add)
}

/// One state that is held while another is asked.
pub struct LogisticMap;

impl Workload for LogisticMap {
    fn name(&self) -> &'static str {
        "logistic-map"
    }

    fn about(&self) -> &'static str {
        "ten series whose terms are computed by other actors; the whole"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn unit(&self) -> Unit {
        Unit::Seconds
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        let Terms { series, terms, start, increment } = Terms::of(setup);
        vec![("series", series), ("terms", terms), ("start", start), ("increment", increment)]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the sum of the last terms' bits", expected(Terms::of(setup)), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "a message a term, and two between the series and its computer",
                run: |setup| {
                    let terms = Terms::of(setup);
                    super::run(setup, terms.all(), terms.series, move |done| {
                        actor::start(terms, done)
                    })
                },
            },
            Implementation {
                name: "coact-full",
                about: "a behaviour over a series and its computer a term",
                run: |setup| {
                    let terms = Terms::of(setup);
                    super::run(setup, terms.all(), terms.series, move |done| {
                        full::start(terms, done)
                    })
                },
            },
        ]
    }
}
