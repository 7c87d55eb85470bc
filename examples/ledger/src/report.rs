//! What a replay gives, as text for people, and as CSV the lines that were not carried out.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};

use crate::account::{Decision, Rejection, Status};
use crate::critical_path::critical_path;
use crate::ledger::{Ledger, Malformed};
use crate::replay::{Differences, Replay};

/// Entries in each list of examples.
const SHOWN: usize = 5;

/// The report on a parallel replay and, with `--verify`, on the sequential one beside it.
pub struct Report<'a> {
    ledger: &'a Ledger,
    parallel: &'a Replay,
    verification: Option<Verification<'a>>,
    workers: usize,
    work_us: u64,
}

struct Verification<'a> {
    sequential: &'a Replay,
    differences: Differences,
}

impl<'a> Report<'a> {
    pub fn new(
        ledger: &'a Ledger,
        parallel: &'a Replay,
        sequential: Option<&'a Replay>,
        workers: usize,
        work_us: u64,
    ) -> Self {
        let verification = sequential.map(|sequential| Verification {
            sequential,
            differences: Differences::between(sequential, parallel),
        });
        Self { ledger, parallel, verification, workers, work_us }
    }

    /// What `--verify` found.
    pub fn differences(&self) -> Option<&Differences> {
        self.verification.as_ref().map(|verification| &verification.differences)
    }

    /// Writes the text.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let (lines, accounts) = (self.ledger.lines(), self.parallel.accounts.len());
        let source = &self.ledger.source;
        writeln!(out, "{source}: {}, {}", counted(lines, "line"), counted(accounts, "account"))?;
        self.write_timings(out)?;
        self.write_decisions(out)?;
        self.write_examples(out)?;
        self.write_critical_path(out)?;
        self.write_balances(out)
    }

    fn write_timings(&self, out: &mut dyn Write) -> io::Result<()> {
        let work = match self.work_us {
            0 => String::new(),
            work => format!(", {} µs of work per operation", grouped(work)),
        };
        let workers = counted(self.workers, "worker");
        write_timing("parallel", self.parallel, &format!("{workers}{work}"), out)?;
        let Some(Verification { sequential, differences }) = &self.verification else {
            return Ok(());
        };
        write_timing("sequential", sequential, work.trim_start_matches(", "), out)?;
        match differences.is_empty() {
            true => self.write_verified(seconds(sequential) / seconds(self.parallel), out),
            false => self.write_different(sequential, differences, out),
        }
    }

    fn write_verified(&self, speedup: f64, out: &mut dyn Write) -> io::Result<()> {
        let agree = "every decision and every balance agree";
        writeln!(out, "  verified   {agree}; {speedup:.2} times as fast")?;
        if speedup < 1.0 && self.work_us == 0 {
            let why = "without work, an operation costs less than spawning it";
            writeln!(out, "             {why}")?;
        }
        Ok(())
    }

    fn write_different(
        &self,
        sequential: &Replay,
        Differences { decisions, accounts }: &Differences,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let lines = counted(decisions.len(), "line");
        let count = counted(accounts.len(), "account");
        writeln!(out, "  DIFFERENT  {lines} and {count} came out differently")?;
        if let Some(index) = decisions.first() {
            writeln!(out, "    first line: {}", self.ledger.operations[*index].0)?;
            let told = |replay: &Replay| self.told(&replay.decisions[*index]);
            write_pair(told(sequential), told(self.parallel), out)?;
        }
        if let Some(number) = accounts.first() {
            let account = &self.parallel.accounts[*number];
            writeln!(out, "    first account: {}", self.ledger.names.name(account.id()))?;
            write_pair(sequential.accounts[*number], account, out)?;
        }
        Ok(())
    }

    /// A decision in words.
    fn told(&self, decision: &Decision) -> String {
        match decision {
            Ok(balance) => format!("accepted, {balance}"),
            Err(rejection) => format!("rejected, {}: {}", rejection.reason, self.name(rejection)),
        }
    }

    fn write_decisions(&self, out: &mut dyn Write) -> io::Result<()> {
        let (rejected, malformed) = (self.rejected().count(), self.ledger.malformed.len());
        let lines = self.ledger.lines();
        writeln!(out, "\ndecisions")?;
        write_count("accepted", lines - rejected - malformed, lines, out)?;
        write_count("rejected", rejected, lines, out)?;
        write_reasons(self.rejected().map(|(_, rejection)| rejection.reason), out)?;
        write_count("malformed", malformed, lines, out)?;
        write_reasons(self.ledger.malformed.iter().map(|line| line.fault), out)
    }

    fn write_examples(&self, out: &mut dyn Write) -> io::Result<()> {
        write_title("rejected", self.rejected().count(), out)?;
        for (line, rejection) in self.rejected().take(SHOWN) {
            let line = format!("line {line}");
            writeln!(out, "  {line:<14}{}: {}", rejection.reason, self.name(rejection))?;
        }
        write_title("malformed", self.ledger.malformed.len(), out)?;
        for Malformed { line, fault, excerpt } in self.ledger.malformed.iter().take(SHOWN) {
            let line = format!("line {line}");
            writeln!(out, "  {line:<14}{fault}  {excerpt}")?;
        }
        Ok(())
    }

    fn write_critical_path(&self, out: &mut dyn Write) -> io::Result<()> {
        let (operations, chain) = (self.ledger.operations.len(), critical_path(self.ledger));
        let parallelism = operations as f64 / chain.max(1) as f64;
        writeln!(out, "\ncritical path")?;
        writeln!(
            out,
            "  {} of {}: on average, at most {parallelism:.1} can run in parallel",
            grouped(chain),
            counted(operations, "operation"),
        )
    }

    fn write_balances(&self, out: &mut dyn Write) -> io::Result<()> {
        let accounts = &self.parallel.accounts;
        let count = |status| {
            let count = accounts.iter().filter(|account| account.status() == status).count();
            grouped(count as u64)
        };
        // Wider than one balance, which may be the largest there is.
        let total: u128 = accounts.iter().map(|account| u128::from(account.balance().0)).sum();
        writeln!(out, "\nbalances")?;
        writeln!(
            out,
            "  {}.{:02} in {} open and {} frozen; {} closed, {} never opened",
            total / 100,
            total % 100,
            count(Status::Open),
            count(Status::Frozen),
            count(Status::Closed),
            count(Status::Unopened),
        )
    }

    /// Writes every rejected or malformed line as CSV.
    pub fn write_rejected(&self, out: &mut dyn Write) -> io::Result<()> {
        let rejected = self.rejected().map(|(line, rejection)| {
            (line, format!("rejected,{},{}", rejection.reason, self.name(rejection)))
        });
        let malformed = self.ledger.malformed.iter();
        let malformed = malformed.map(|bad| (bad.line, format!("malformed,{},", bad.fault)));
        let rows: BTreeMap<u64, String> = rejected.chain(malformed).collect();
        writeln!(out, "line,decision,reason,account")?;
        rows.iter().try_for_each(|(line, row)| writeln!(out, "{line},{row}"))
    }

    /// The rejected operations, each with its line.
    fn rejected(&self) -> impl Iterator<Item = (u64, &Rejection)> {
        let decided = self.ledger.operations.iter().zip(&self.parallel.decisions);
        decided.filter_map(|((line, _), decision)| Some((*line, decision.as_ref().err()?)))
    }

    fn name(&self, rejection: &Rejection) -> &str {
        self.ledger.names.name(rejection.account)
    }
}

fn write_timing(name: &str, replay: &Replay, how: &str, out: &mut dyn Write) -> io::Result<()> {
    let seconds = seconds(replay);
    let rate = grouped((replay.decisions.len() as f64 / seconds) as u64);
    let row = format!("  {name:<10}{seconds:>9.3} s {rate:>11} operations/s  {how}");
    writeln!(out, "{}", row.trim_end())
}

fn seconds(replay: &Replay) -> f64 {
    // A clock may be too coarse for a ledger of one line.
    replay.elapsed.as_secs_f64().max(1e-9)
}

fn write_pair(one: impl Display, other: impl Display, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "      sequential  {one}")?;
    writeln!(out, "      parallel    {other}")
}

fn write_count(name: &str, count: usize, lines: usize, out: &mut dyn Write) -> io::Result<()> {
    let share = 100.0 * count as f64 / lines.max(1) as f64;
    writeln!(out, "  {name:<10}{:>12}  {share:>5.1} %", grouped(count as u64))
}

/// Each reason with how often it is given, the most frequent first.
fn write_reasons<R: Ord + Display>(
    reasons: impl Iterator<Item = R>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut counts = BTreeMap::new();
    reasons.for_each(|reason| *counts.entry(reason).or_insert(0) += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.iter().try_for_each(|(reason, count)| {
        let count = grouped(*count);
        writeln!(out, "  {count:>22}  {reason}")
    })
}

fn write_title(title: &str, count: usize, out: &mut dyn Write) -> io::Result<()> {
    match count {
        0 => Ok(()),
        1..=SHOWN => writeln!(out, "\n{title}"),
        _ => writeln!(out, "\n{title}: the first {SHOWN} of {}", grouped(count as u64)),
    }
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count as u64))
}

/// The number with a comma before each group of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::HEADER;
    use crate::sequential;
    use crate::work::Work;

    fn replayed(body: &str) -> (Ledger, Replay) {
        let file = format!("{HEADER}\n{body}");
        let ledger = Ledger::read("test".into(), file.as_bytes()).unwrap();
        let replay = sequential::replay(&ledger, Work::default());
        (ledger, replay)
    }

    #[test]
    fn a_difference_is_named_with_its_line_and_its_account() {
        let (ledger, parallel) = replayed("blank\nopen,a,2\nwithdraw,a,2\n");
        let (_, sequential) = replayed("open,a,1\nwithdraw,a,2\n");
        let report = Report::new(&ledger, &parallel, Some(&sequential), 1, 0);
        assert!(!report.differences().unwrap().is_empty());
        let mut text = Vec::new();
        report.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let told = "  DIFFERENT  2 lines and 1 account came out differently
    first line: 3
      sequential  accepted, 0.01
      parallel    accepted, 0.02
    first account: a
      sequential  open, balance 0.01
      parallel    open, balance 0.00
";
        assert!(text.contains(told), "{text}");
    }

    #[test]
    fn reasons_are_ranked_by_their_count() {
        let mut text = Vec::new();
        write_reasons(["a", "b", "b"].into_iter(), &mut text).unwrap();
        let words: Vec<_> = str::from_utf8(&text).unwrap().split_whitespace().collect();
        assert_eq!(words, ["2", "b", "1", "a"]);
    }

    #[test]
    fn numbers_are_grouped_by_three_digits() {
        let numbers = [0, 999, 1_000, 99_999, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "99,999", "1,234,567"]);
    }
}
