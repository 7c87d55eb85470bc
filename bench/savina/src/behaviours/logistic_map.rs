//! A term is one behaviour over the series and its computer: nothing is asked or waited for.

use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::work::logistic_map::{Terms, next};

pub fn start(terms: Terms, done: Finish) {
    for (rate, first) in terms.series() {
        let (series, computer) = (Cown::new(first), Cown::new(rate));
        for _ in 0..terms.terms {
            when((&series, &computer), |(term, rate)| *term = next(*rate, *term));
        }
        let done = done.clone();
        when(&series, move |term| done.part(term.to_bits()));
    }
}
