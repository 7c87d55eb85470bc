//! `instructions`: counts, and the table that they are judged by.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;

use super::jobs::in_order;
use crate::instructions::count::Counter;
use crate::instructions::table::{self, BUILD, TOLERANCE, Verdict};
use crate::instructions::{Case, Count, Table, callgrind, cases};

pub const EXAMPLES: &str = "\
Examples:
  coact-bench instructions                          counts all, and fails if one has grown by more than 2 %
  coact-bench instructions cown-ring here-one       two workloads
  coact-bench instructions --write                  accepts: writes the counts into the committed table
  coact-bench instructions cown-ring --write        accepts those of one workload
  coact-bench instructions --table old.txt --write  before a change: a table of one's own
  coact-bench instructions --table old.txt          after it: what has it changed?
  coact-bench instructions cown-ring --keep kept    keeps callgrind's files, for
  callgrind_annotate kept/cown-ring-coact.large.callgrind
                                                    which functions they are";

/// What to count, and which table to compare with.
#[derive(Args)]
pub struct Instructions {
    /// Workloads to count, or cases of the form workload/implementation; all if none is named.
    names: Vec<String>,
    /// Names what is counted, and counts nothing.
    #[arg(long)]
    list: bool,
    /// Writes the counts into the table and judges nothing; the lines of cases that are not counted
    /// now are kept.
    #[arg(long)]
    write: bool,
    /// The table, if not the committed one.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Keeps the files that callgrind writes in this folder, for `callgrind_annotate`.
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Runs at once; as many as there are processors, if not given.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

impl Instructions {
    /// Counts what is asked for, prints a table, and writes or judges.
    pub fn count(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let cases = cases::named(cases::ALL, &self.names)?;
        if self.list {
            cases.iter().try_for_each(|case| writeln!(out, "{case}"))?;
            return Ok(());
        }
        if cfg!(debug_assertions) {
            bail!(
                "counts of a debug build say nothing: use `cargo run --release -p coact-bench -- instructions`"
            );
        }
        writeln!(out, "# {BUILD}, {}, {}", table::library(), callgrind::version()?)?;
        let path = self.table.clone().unwrap_or_else(committed);
        let known = self.known(&path)?;
        let mismatch = known.mismatch(BUILD, &table::library());
        if let Some(mismatch) = mismatch.filter(|_| !self.write) {
            writeln!(
                out,
                "skipped: {mismatch}; `--write` counts anew, and with `--table FILE` into a table of your own"
            )?;
            return Ok(());
        }
        let counts = self.count_all(&cases, &known, out)?;
        if self.write {
            return self.accept(&path, known, &counts, out);
        }
        self.judge(&path, &known, &counts, out)
    }

    /// The table; an empty one where it is to be written and is not there.
    fn known(&self, path: &Path) -> anyhow::Result<Table> {
        let shown = path.display();
        match std::fs::read_to_string(path) {
            Ok(text) => Table::parse(&text).with_context(|| shown.to_string()),
            Err(_) if self.write => Ok(Table::default()),
            Err(error) => Err(error).context(format!("cannot read {shown}; `--write` makes it")),
        }
    }

    /// Counts the cases, some at once, and prints them in their order.
    fn count_all(
        &self,
        cases: &[Case],
        known: &Table,
        out: &mut impl Write,
    ) -> anyhow::Result<Vec<(String, Count)>> {
        let scratch = tempfile::tempdir().context("cannot make a folder for callgrind's files")?;
        let folder = self.keep.as_deref().unwrap_or(scratch.path());
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let program = std::env::current_exe().context("cannot find this program")?;
        let counter = Counter::new(program, folder);
        writeln!(
            out,
            "{:<28} {:>12} {:>8}   {:>12} {:>8} {:>8}",
            "case", "instructions", "atomics", "table", "atomics", "change"
        )?;
        let mut counts = Vec::new();
        in_order(
            cases,
            self.jobs,
            |_, case| counter.count(case),
            |case, count| {
                let (case, count) = (case.to_string(), count?);
                writeln!(out, "{}", line(&case, count, known))?;
                counts.push((case, count));
                Ok(())
            },
        )?;
        Ok(counts)
    }

    fn accept(
        &self,
        path: &Path,
        known: Table,
        counts: &[(String, Count)],
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let library = table::library();
        let stays = |case: &str| cases::ALL.iter().any(|known| known.to_string() == case);
        let mut table = match known.mismatch(BUILD, &library) {
            None => known,
            // Counts of another build cannot stand beside those of this one.
            Some(_) => Table { build: BUILD.to_owned(), library, rows: Vec::new() },
        };
        table.update(counts);
        table.rows.retain(|(case, _)| stays(case));
        let shown = path.display();
        std::fs::write(path, table.to_string()).with_context(|| format!("cannot write {shown}"))?;
        writeln!(out, "written: {shown}")?;
        Ok(())
    }

    fn judge(
        &self,
        path: &Path,
        known: &Table,
        counts: &[(String, Count)],
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let mut wrong = Vec::new();
        for (case, now) in counts {
            match (known.verdict(case, *now), known.get(case)) {
                (Verdict::More, Some(before)) => {
                    wrong.push(format!("{case} has grown: {}", growth(before, *now)))
                }
                (Verdict::New, _) => wrong.push(format!("{case} has no line")),
                _ => {}
            }
        }
        let is_counted = |case: &str| cases::ALL.iter().any(|known| known.to_string() == case);
        let stale = known.rows.iter().filter(|(case, _)| !is_counted(case));
        wrong.extend(
            stale.map(|(case, _)| format!("{case} has a line, but is not counted any more")),
        );
        if !wrong.is_empty() {
            let path = path.display();
            bail!(
                "not as in {path}:\n  {}\nIf a count is meant to grow, accept it with `coact-bench instructions CASE \
                 --write`, commit the table, and say why in the commit.",
                wrong.join("\n  ")
            );
        }
        if counts.iter().any(|(case, now)| known.verdict(case, *now) == Verdict::Fewer) {
            writeln!(
                out,
                "some counts are less than in the table: keep that with `coact-bench instructions --write`"
            )?;
        }
        Ok(())
    }
}

/// Where the committed table is: beside the tool's sources.
fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.txt")
}

fn line(case: &str, now: Count, known: &Table) -> String {
    let Some(before) = known.get(case) else { return format!("{case:<28} {now}   new") };
    let word = match known.verdict(case, now) {
        Verdict::More => "  MORE",
        Verdict::Fewer => "  fewer",
        Verdict::Same | Verdict::New => "",
    };
    format!(
        "{case:<28} {now}   {before} {:>8}{word}",
        change(before.instructions, now.instructions)
    )
}

/// By how much, in parts of a hundred.
fn change(before: f64, now: f64) -> String {
    format!("{:+.1} %", (now / before - 1.0) * 100.0)
}

fn growth(before: Count, now: Count) -> String {
    let mut words = format!(
        "{:.1} to {:.1} instructions an operation ({})",
        before.instructions,
        now.instructions,
        change(before.instructions, now.instructions)
    );
    if let Some((before, now)) = before.atomics.zip(now.atomics) {
        words += &format!(", {before:.2} to {now:.2} atomic read-modify-writes");
    }
    words + &format!("; {:.0} % are allowed", TOLERANCE * 100.0)
}
