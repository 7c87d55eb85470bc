//! The records, joined and sorted into one study a workload.

use coact_bench_workloads::{Drawing, Group};

use super::words::is_usable;
use crate::measure::record::Record;
use crate::measure::statistics::{Summary, paired_ratio};

/// Our family of implementations, and the first of them.
pub const OURS: &str = "coact";

/// The library that an implementation measures: the part of its name before the first dash.
pub fn family(implementation: &str) -> &str {
    implementation.split('-').next().unwrap_or(implementation)
}

/// Joins the records of several files: a later one of the same workload, implementation and workers
/// replaces an earlier one, in its place.
pub fn join(files: impl IntoIterator<Item = Vec<Record>>) -> Vec<Record> {
    let mut joined: Vec<Record> = Vec::new();
    for record in files.into_iter().flatten() {
        match joined.iter_mut().find(|earlier| is_same_case(earlier, &record)) {
            Some(earlier) => *earlier = record,
            None => joined.push(record),
        }
    }
    joined
}

/// Whether two records measure the same.
pub fn is_same_case(a: &Record, b: &Record) -> bool {
    (&a.workload, &a.implementation, a.workers) == (&b.workload, &b.implementation, b.workers)
}

/// Time of the whole work in seconds.
pub fn seconds(record: &Record) -> f64 {
    match record.unit.as_str() {
        "s" => record.summary.median,
        _ => record.summary.median * operations(record) * 1e-9,
    }
}

/// What the whole work counts, where the record may hold a share of it.
pub fn operations(record: &Record) -> f64 {
    record.count as f64 * f64::from(record.share)
}

/// One record's time divided by another's, round by round where both have as many.
pub fn ratio(record: &Record, baseline: &Record) -> Option<Summary> {
    let ratio = if record.values.len() == baseline.values.len() {
        paired_ratio(&record.values, &baseline.values)?
    } else {
        Summary::of(&[record.summary.median / baseline.summary.median])?
    };
    Some(ratio).filter(|ratio| [ratio.median, ratio.min, ratio.max].into_iter().all(is_usable))
}

/// All records of one workload.
pub struct Study<'a> {
    /// The workload.
    pub name: &'a str,
    /// Where it belongs.
    pub group: Group,
    /// Its name on the page, for links.
    pub anchor: String,
    /// At least one, in the order of the files.
    pub records: Vec<&'a Record>,
}

impl<'a> Study<'a> {
    /// Of our first implementation if there is one: the whole sizes.
    pub fn typical(&self) -> &'a Record {
        let ours = self.records.iter().find(|record| record.implementation == OURS);
        ours.unwrap_or(&self.records[0])
    }

    /// How it is drawn.
    pub fn drawing(&self) -> &'a Drawing {
        &self.typical().drawing
    }

    /// Numbers of workers, ascending.
    pub fn workers(&self) -> Vec<usize> {
        let mut workers: Vec<usize> = self.records.iter().map(|record| record.workers).collect();
        workers.sort_unstable();
        workers.dedup();
        workers
    }

    /// The records on the most workers.
    pub fn on_most(&self) -> impl Iterator<Item = &'a Record> {
        let most = self.workers().last().copied();
        self.records.iter().copied().filter(move |record| Some(record.workers) == most)
    }

    /// Names of the implementations, in the order of the files.
    pub fn implementations(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for record in &self.records {
            if !names.contains(&record.implementation.as_str()) {
                names.push(&record.implementation);
            }
        }
        names
    }

    /// An implementation on a number of workers.
    pub fn case(&self, implementation: &str, workers: usize) -> Option<&'a Record> {
        let mut records = self.records.iter().copied();
        records.find(|record| record.implementation == implementation && record.workers == workers)
    }

    /// An implementation on the most workers.
    pub fn most(&self, implementation: &str) -> Option<&'a Record> {
        self.on_most().find(|record| record.implementation == implementation)
    }

    /// The fastest way of a family on the most workers, and its ratio to our first implementation.
    pub fn best_of(&self, wanted: &str) -> Option<(&'a Record, Summary)> {
        self.best(|record| family(&record.implementation) == wanted)
    }

    /// The fastest of those wanted on the most workers, and its ratio to our first implementation.
    pub fn best(&self, wanted: impl Fn(&Record) -> bool) -> Option<(&'a Record, Summary)> {
        self.on_most()
            .filter(|record| wanted(record))
            .filter_map(|record| Some((record, against_ours(record)?)))
            .min_by(|a, b| a.1.median.total_cmp(&b.1.median))
    }
}

/// A record's ratio to our first implementation, where it is known and can be reckoned with.
pub fn against_ours(record: &Record) -> Option<Summary> {
    record.ratio.filter(|ratio| [ratio.median, ratio.min, ratio.max].into_iter().all(is_usable))
}

/// Every study, in the order of the files, group by group.
pub struct Studies<'a>(Vec<Study<'a>>);

impl<'a> Studies<'a> {
    /// Sorts the records.
    pub fn of(records: &'a [Record]) -> Studies<'a> {
        let mut studies: Vec<Study<'a>> = Vec::new();
        for record in records {
            match studies.iter_mut().find(|study| study.name == record.workload) {
                Some(study) => study.records.push(record),
                None => studies.push(Study {
                    name: &record.workload,
                    group: record.group,
                    anchor: anchor(&record.workload, studies.len()),
                    records: vec![record],
                }),
            }
        }
        studies.sort_by_key(|study| study.group);
        Studies(studies)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Study<'a>> {
        self.0.iter()
    }

    /// Those of a group.
    pub fn of_group(&self, group: Group) -> Vec<&Study<'a>> {
        self.iter().filter(|study| study.group == group).collect()
    }

    /// That of a workload.
    pub fn named(&self, name: &str) -> Option<&Study<'a>> {
        self.iter().find(|study| study.name == name)
    }

    /// The families of the peers, in the order of the files.
    pub fn peers(&self) -> Vec<&'a str> {
        let mut families: Vec<&str> = Vec::new();
        for record in self.iter().flat_map(|study| &study.records) {
            let family = family(&record.implementation);
            if family != OURS && !families.contains(&family) {
                families.push(family);
            }
        }
        families
    }
}

/// A name for links, which must be free of blanks and stand only once on the page.
fn anchor(name: &str, number: usize) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !name.is_empty() && name.chars().all(is_plain) {
        format!("of-{name}")
    } else {
        format!("number-{number}")
    }
}

/// The geometric mean; `None` of nothing.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = values.into_iter().map(f64::ln).collect();
    let sum: f64 = logarithms.iter().sum();
    (!logarithms.is_empty()).then(|| (sum / logarithms.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::{Studies, family, geometric_mean, join, seconds};
    use crate::report::sample::record;

    #[test]
    fn a_later_record_of_the_same_case_replaces_an_earlier_one() {
        let first = vec![record("ring", "coact", 2, &[1.0]), record("ring", "tokio", 2, &[2.0])];
        let again = vec![record("ring", "coact", 2, &[3.0]), record("ring", "coact", 1, &[4.0])];
        let joined = join([first, again]);
        let medians: Vec<f64> = joined.iter().map(|record| record.summary.median).collect();
        assert_eq!(medians, [3.0, 2.0, 4.0]);
    }

    #[test]
    fn the_best_of_a_family_is_its_fastest_way_on_the_most_workers() {
        let records = [
            record("ring", "tokio", 1, &[0.5]),
            record("ring", "tokio", 2, &[3.0]),
            record("ring", "tokio-bounded", 2, &[2.0]),
        ];
        let studies = Studies::of(&records);
        let study = studies.named("ring").expect("there is one");
        let (best, ratio) = study.best_of("tokio").expect("there is one");
        assert_eq!((best.implementation.as_str(), ratio.median), ("tokio-bounded", 2.0));
        assert_eq!((studies.peers(), study.workers()), (vec!["tokio"], vec![1, 2]));
        assert!(study.best_of("caf").is_none());
    }

    #[test]
    fn a_share_of_the_work_counts_so_many_times() {
        let mut shared = record("ring", "caf", 2, &[10.0]);
        (shared.count, shared.share) = (1_000_000, 100);
        assert!((seconds(&shared) - 1.0).abs() < 1e-9);
        assert_eq!(family("caf-detached"), "caf");
    }

    #[test]
    fn a_geometric_mean_is_of_factors() {
        let mean = geometric_mean([2.0, 8.0]).expect("of two");
        assert!((mean - 4.0).abs() < 1e-9);
        assert_eq!(geometric_mean([]), None);
    }
}
