//! The report: records in, one page out that a person can read.
//!
//! Reading order: [`study`] sorts the records by workload, `goals` judges them, `references` holds
//! what others have measured; [`words`] and `palette` say and colour figures, `chart` draws what
//! `figures` picks, and `page` writes it all as `markup`.

mod chart;
mod figures;
mod goals;
mod markup;
mod page;
mod palette;
mod references;
#[cfg(test)]
pub mod sample;
pub mod study;
pub mod words;

use study::Studies;

use crate::measure::record::Record;

/// The page, whole in itself: style and drawings are in it, and it asks for nothing else.
pub fn page(title: &str, records: &[Record]) -> String {
    format!("<!doctype html>\n{}\n", page::whole(title, records, &Studies::of(records)))
}
