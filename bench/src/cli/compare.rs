//! `compare`: two files of records side by side.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;

use super::run::positive;
use crate::compare::{Comparison, Pair};
use crate::measure::record::{self, Record};
use crate::report::study::{OURS, family};
use crate::report::words::{Measure, Standing, several, times};

/// What to compare, and when to fail.
#[derive(Args)]
pub struct Compare {
    /// The earlier file of `run --json`.
    #[arg(value_name = "A.json")]
    before: PathBuf,
    /// The later one.
    #[arg(value_name = "B.json")]
    after: PathBuf,
    /// Fails if a case of coact takes more than this many times as long as before, beyond the
    /// spread.
    #[arg(long, value_name = "RATIO", value_parser = positive)]
    fail_above: Option<f64>,
}

impl Compare {
    /// Prints the table, and fails if that was asked for.
    pub fn print(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let (before, after) = (record::read(&self.before)?, record::read(&self.after)?);
        let comparison = Comparison::of(&before, &after);
        writeln!(out, "A {}\nB {}", self.before.display(), self.after.display())?;
        for warning in comparison.warnings() {
            writeln!(out, "warning: {warning}")?;
        }
        writeln!(out, "{}", heading())?;
        for pair in &comparison.pairs {
            writeln!(out, "{}", line(pair))?;
        }
        for (file, alone) in [("A", &comparison.gone), ("B", &comparison.new)] {
            for record in alone {
                writeln!(out, "only in {file}: {}", case(record))?;
            }
        }
        summary(&comparison, out)?;
        self.judge(&comparison)
    }

    fn judge(&self, comparison: &Comparison<'_>) -> anyhow::Result<()> {
        let Some(limit) = self.fail_above else { return Ok(()) };
        let above = comparison.pairs.iter().filter(|pair| pair.is_above(limit));
        let named: Vec<String> = above.map(|pair| case(pair.after)).collect();
        if !named.is_empty() {
            bail!("slower than {limit} times: {}", named.join(", "));
        }
        Ok(())
    }
}

fn case(record: &Record) -> String {
    format!("{} / {} on {}", record.workload, record.implementation, record.workers)
}

fn heading() -> String {
    format!(
        "{:<22} {:<18} {:>3} {:>11} {:>11} {:>7} {:>15}  verdict",
        "workload", "implementation", "on", "A", "B", "B/A", "spread"
    )
}

fn line(pair: &Pair<'_>) -> String {
    let Pair { before, after, ratio } = pair;
    let measure = Measure::fitting(&after.unit, before.summary.median.min(after.summary.median));
    let verdict = match pair.verdict() {
        Standing::Faster => "faster",
        Standing::Slower => "slower",
        Standing::Even => "same within the spread",
    };
    format!(
        "{:<22} {:<18} {:>3} {:>11} {:>11} {:>7} {:>15}  {verdict}",
        after.workload,
        after.implementation,
        after.workers,
        measure.full(before.summary.median),
        measure.full(after.summary.median),
        times(ratio.median),
        format!("{} … {}", times(ratio.min), times(ratio.max)),
    )
}

/// The means, and the rule of the verdicts.
fn summary(comparison: &Comparison<'_>, out: &mut impl Write) -> anyhow::Result<()> {
    let is_ours = |record: &Record| family(&record.implementation) == OURS;
    let count = |of: Standing| comparison.pairs.iter().filter(|pair| pair.verdict() == of).count();
    writeln!(
        out,
        "{}: {} faster, {} slower, {} the same within the spread",
        several(comparison.pairs.len(), "case"),
        count(Standing::Faster),
        count(Standing::Slower),
        count(Standing::Even),
    )?;
    let means = [("coact", comparison.mean(is_ours)), ("peers", comparison.mean(|r| !is_ours(r)))];
    for (who, mean) in means {
        if let Some(mean) = mean {
            writeln!(out, "geometric mean of B/A, {who}: {}", times(mean))?;
        }
    }
    writeln!(
        out,
        "faster, slower: every value of the one file is below every value of the other; spread: the least and the \
         greatest quotient of a value of B and one of A"
    )?;
    Ok(())
}
