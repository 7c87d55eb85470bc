//! Two files of records side by side: what became faster, what slower, and what cannot be told.

use crate::measure::record::Record;
use crate::measure::statistics::Summary;
use crate::report::study::{OURS, family, geometric_mean, is_same_case};
use crate::report::words::{Standing, figure, is_usable};

/// How far a basic cost may differ before the machines count as differing.
const DRIFT: f64 = 1.2;

/// A case that stands in both files.
pub struct Pair<'a> {
    /// In the first file.
    pub before: &'a Record,
    /// In the second.
    pub after: &'a Record,
    /// The second's median divided by the first's; the extremes are the least and the greatest
    /// quotient that any two of their values have.
    pub ratio: Summary,
}

impl<'a> Pair<'a> {
    fn of(before: &'a Record, after: &'a Record) -> Pair<'a> {
        let (old, new) = (&before.summary, &after.summary);
        let ratio = Summary {
            median: new.median / old.median,
            min: new.min / old.max,
            max: new.max / old.min,
        };
        Pair { before, after, ratio }
    }

    /// Faster or slower only if every value of the one is below every value of the other.
    pub fn verdict(&self) -> Standing {
        Standing::of(&self.ratio)
    }

    /// Whether it is our own case that got slower than `limit` times, beyond the spread.
    pub fn is_above(&self, limit: f64) -> bool {
        let is_ours = family(&self.after.implementation) == OURS;
        is_ours && self.verdict() == Standing::Slower && self.ratio.median > limit
    }
}

/// What two files have in common and what not.
pub struct Comparison<'a> {
    /// Cases of both, in the order of the first.
    pub pairs: Vec<Pair<'a>>,
    /// Cases of the first alone.
    pub gone: Vec<&'a Record>,
    /// Cases of the second alone.
    pub new: Vec<&'a Record>,
}

impl<'a> Comparison<'a> {
    /// Compares.
    pub fn of(before: &'a [Record], after: &'a [Record]) -> Comparison<'a> {
        let in_after = |old: &Record| after.iter().find(|new| is_same_case(old, new));
        let in_before = |new: &Record| before.iter().any(|old| is_same_case(old, new));
        Comparison {
            pairs: before.iter().filter_map(|old| Some(Pair::of(old, in_after(old)?))).collect(),
            gone: before.iter().filter(|old| in_after(old).is_none()).collect(),
            new: after.iter().filter(|new| !in_before(new)).collect(),
        }
    }

    /// The geometric mean of the ratios of those for which `is_meant`.
    pub fn mean(&self, is_meant: impl Fn(&Record) -> bool) -> Option<f64> {
        let meant = self.pairs.iter().filter(|pair| is_meant(pair.after));
        geometric_mean(meant.map(|pair| pair.ratio.median).filter(|ratio| is_usable(*ratio)))
    }

    /// Why the files may not be comparable, each reason once.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = Vec::new();
        for warning in self.pairs.iter().flat_map(differences) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }
}

/// What differs between the two sides of a pair, apart from the figures.
fn differences(pair: &Pair<'_>) -> Vec<String> {
    let Pair { before, after, .. } = pair;
    let name = &after.workload;
    let machine = |record: &Record| record.machine.to_string();
    let sizes = |record: &Record| {
        let sizes = record.parameters.iter().map(|(name, value)| format!("{name} {value}"));
        sizes.chain([format!("share 1/{}", record.share)]).collect::<Vec<_>>().join(", ")
    };
    let changed = |what: &str, old: String, new: String| {
        (old != new).then(|| format!("{what} differs: {old} / {new}"))
    };
    let add = |record: &Record| record.calibration.atomic_add_ns;
    let drift = add(after) / add(before);
    let drifted = !(1.0 / DRIFT..=DRIFT).contains(&drift);
    [
        changed("the machine", machine(before), machine(after)),
        changed("the scale", before.scale.to_string(), after.scale.to_string()),
        changed(&format!("the unit of {name}"), before.unit.clone(), after.unit.clone()),
        changed(&format!("the size of {name}"), sizes(before), sizes(after)),
        drifted.then(|| {
            let (old, new) = (figure(add(before)), figure(add(after)));
            format!(
                "the machine was not as fast while it ran {name}: atomic add {old} ns / {new} ns"
            )
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Pair};
    use crate::report::sample::record;
    use crate::report::words::Standing;

    #[test]
    fn only_what_lies_beyond_the_spread_has_become_faster_or_slower() {
        let verdict = |before: &[f64], after: &[f64]| {
            let (before, after) = (record("w", "coact", 2, before), record("w", "coact", 2, after));
            Pair::of(&before, &after).verdict()
        };
        assert_eq!(verdict(&[10.0, 11.0], &[12.0, 13.0]), Standing::Slower);
        assert_eq!(verdict(&[12.0, 13.0], &[10.0, 11.0]), Standing::Faster);
        assert_eq!(verdict(&[10.0, 12.0], &[11.0, 30.0]), Standing::Even);
        assert_eq!(verdict(&[10.0], &[10.0]), Standing::Even);
    }

    #[test]
    fn what_stands_in_one_file_alone_is_listed() {
        let before = [record("a", "coact", 2, &[1.0]), record("b", "coact", 2, &[1.0])];
        let after = [record("b", "coact", 2, &[2.0]), record("b", "coact", 1, &[2.0])];
        let comparison = Comparison::of(&before, &after);
        assert_eq!(
            (comparison.pairs.len(), comparison.gone.len(), comparison.new.len()),
            (1, 1, 1)
        );
        assert_eq!(comparison.mean(|_| true), Some(2.0));
        assert_eq!(comparison.mean(|record| record.workload == "a"), None);
    }

    #[test]
    fn other_conditions_are_warned_of_once() {
        let before = [record("a", "coact", 2, &[1.0]), record("a", "tokio", 2, &[1.0])];
        let mut after = before.clone();
        assert!(Comparison::of(&before, &after).warnings().is_empty());
        for record in &mut after {
            record.scale = 0.1;
            record.machine.processors = 4;
            record.calibration.atomic_add_ns = 7.0;
            record.parameters.insert("messages".to_owned(), 100);
        }
        let warnings = Comparison::of(&before, &after).warnings();
        assert_eq!(warnings.len(), 4, "{warnings:?}");
    }

    #[test]
    fn only_our_own_loss_counts_as_one() {
        let before = record("a", "coact", 2, &[1.0]);
        let after = record("a", "coact", 2, &[1.5]);
        assert!(Pair::of(&before, &after).is_above(1.2));
        assert!(!Pair::of(&before, &after).is_above(1.6));
        let (before, after) = (record("a", "tokio", 2, &[1.0]), record("a", "tokio", 2, &[1.5]));
        assert!(!Pair::of(&before, &after).is_above(1.2));
    }
}
