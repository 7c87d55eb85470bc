//! Medians and extremes of a few repetitions.

use serde::{Deserialize, Serialize};

/// The middle and the extremes of a sample.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Summary {
    /// The middle value; of an even number of values, the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Summary {
    /// Summarises a sample; `None` if it is empty.
    ///
    /// ```
    /// use coact_bench::measure::statistics::Summary;
    ///
    /// let summary = Summary::of(&[3.0, 1.0, 2.0]).unwrap();
    /// assert_eq!((summary.min, summary.median, summary.max), (1.0, 2.0, 3.0));
    /// ```
    pub fn of(sample: &[f64]) -> Option<Summary> {
        let mut sorted = sample.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len().is_multiple_of(2) {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        } else {
            sorted[middle]
        };
        Some(Summary { median, min, max })
    }
}

/// The quotients of values that were taken in the same round, summarised.
///
/// On a machine whose speed drifts, neighbours in time are comparable where medians of the whole
/// are not.
pub fn paired_ratio(values: &[f64], baseline: &[f64]) -> Option<Summary> {
    let quotients: Vec<f64> =
        values.iter().zip(baseline).map(|(value, base)| value / base).collect();
    Summary::of(&quotients)
}

#[cfg(test)]
mod tests {
    use super::{Summary, paired_ratio};

    #[test]
    fn an_empty_sample_has_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(paired_ratio(&[], &[]), None);
    }

    #[test]
    fn one_value_is_its_own_summary() {
        assert_eq!(Summary::of(&[4.0]), Some(Summary { median: 4.0, min: 4.0, max: 4.0 }));
    }

    #[test]
    fn the_median_of_an_even_sample_lies_between_the_middle_two() {
        assert_eq!(Summary::of(&[10.0, 1.0, 3.0, 2.0]).map(|s| s.median), Some(2.5));
    }

    #[test]
    fn one_outlier_does_not_move_the_median() {
        assert_eq!(Summary::of(&[1.0, 1000.0, 2.0]).map(|s| s.median), Some(2.0));
    }

    #[test]
    fn a_paired_ratio_survives_drift() {
        // The machine became ten times slower after the first round; the ratio stays two.
        let ratio = paired_ratio(&[2.0, 20.0, 20.0], &[1.0, 10.0, 10.0]);
        assert_eq!(ratio, Some(Summary { median: 2.0, min: 2.0, max: 2.0 }));
    }
}
