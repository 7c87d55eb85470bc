//! The committed table, and the judgement of counts by it.

use std::fmt;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use super::count::Count;

/// What this program was compiled with; counts hold for that alone.
pub const BUILD: &str = concat!(env!("COMPILER"), ", ", env!("TARGET"));

/// The version of the C library here, whose allocator and copying are counted too.
pub fn library() -> String {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").stderr(Stdio::null()).output();
    let version = output.ok().filter(|output| output.status.success());
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    version.unwrap_or_else(|| "unknown".to_owned())
}

/// By how much a count may grow.
pub const TOLERANCE: f64 = 0.02;

const HEADING: &str = "case";

/// Counts by case, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What the counted program was compiled with.
    pub build: String,
    /// The version of the C library, whose allocator and copying count.
    pub library: String,
    /// A line each.
    pub rows: Vec<(String, Count)>,
}

/// How a case ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Within the tolerance.
    Same,
    /// Fewer than the tolerance explains.
    Fewer,
    /// More than that.
    More,
    /// The table has no line for it.
    New,
}

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// The line that is none of a table.
    pub fn parse(text: &str) -> anyhow::Result<Table> {
        let mut table = Table::default();
        for (number, line) in (1..).zip(text.lines()) {
            let read = table.read(line);
            read.with_context(|| format!("line {number} of the table, {line:?}"))?;
        }
        if table.build.is_empty() || table.library.is_empty() {
            bail!(
                "the table does not say which build it counts: it has no line `build` or `library`"
            );
        }
        Ok(table)
    }

    fn read(&mut self, line: &str) -> anyhow::Result<()> {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (name, rest.trim()) {
            ("" | "#", _) | (HEADING, _) => {}
            ("build", rest) => self.build = rest.to_owned(),
            ("library", rest) => self.library = rest.to_owned(),
            (name, counts) => {
                let (instructions, atomics) =
                    counts.split_once(' ').context("a count is missing")?;
                let number =
                    |text: &str| text.trim().parse::<f64>().context("a count is no number");
                let atomics = Some(atomics.trim()).filter(|text| *text != "-").map(number);
                let count =
                    Count { instructions: number(instructions)?, atomics: atomics.transpose()? };
                if self.get(name).is_some() {
                    bail!("{name} is there twice");
                }
                self.rows.push((name.to_owned(), count));
            }
        }
        Ok(())
    }

    /// The count of a case.
    pub fn get(&self, case: &str) -> Option<Count> {
        self.rows.iter().find(|(name, _)| name == case).map(|(_, count)| *count)
    }

    /// Puts counts in the place of those of the same cases, and the others behind.
    pub fn update(&mut self, counts: &[(String, Count)]) {
        for (case, count) in counts {
            match self.rows.iter_mut().find(|(name, _)| name == case) {
                Some((_, known)) => *known = *count,
                None => self.rows.push((case.clone(), *count)),
            }
        }
    }

    /// Whether it counts the same compiler's code and the same library's as this build runs; if
    /// not, which.
    pub fn mismatch(&self, build: &str, library: &str) -> Option<String> {
        let pairs = [(&*self.build, build), (&*self.library, library)];
        let (theirs, ours) = pairs.into_iter().find(|(theirs, ours)| theirs != ours)?;
        Some(format!("the table holds for {theirs}, and this is {ours}"))
    }

    /// How a case has changed since the table was written.
    pub fn verdict(&self, case: &str, now: Count) -> Verdict {
        let (Some(before), now) = (self.get(case), now.as_written()) else { return Verdict::New };
        let exceeds = |some: Count, other: Count| {
            let atomics = some.atomics.zip(other.atomics);
            is_above(some.instructions, other.instructions, 0.1)
                || atomics.is_some_and(|(some, other)| is_above(some, other, 0.01))
        };
        match (exceeds(now, before), exceeds(before, now)) {
            (true, _) => Verdict::More,
            (false, true) => Verdict::Fewer,
            (false, false) => Verdict::Same,
        }
    }
}

/// Whether one is more than the tolerance above the other, and more than the last digit of the
/// table.
fn is_above(some: f64, other: f64, digit: f64) -> bool {
    some > other * (1.0 + TOLERANCE) + digit
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# Instructions and atomic read-modify-writes an operation, one worker; written by"
        )?;
        writeln!(
            f,
            "# `cargo run --release -p coact-bench -- instructions --write` (docs/benchmarks.md)."
        )?;
        writeln!(f, "build {}", self.build)?;
        writeln!(f, "library {}", self.library)?;
        writeln!(f)?;
        writeln!(f, "{HEADING:<28} {:>12} {:>8}", "instructions", "atomics")?;
        for (name, count) in &self.rows {
            writeln!(f, "{name:<28} {count}")?;
        }
        Ok(())
    }
}

impl Count {
    /// With no more digits than the table has: so a count is compared with one that was rounded as
    /// it is.
    fn as_written(self) -> Count {
        // What is a little below zero is zero, without a sign.
        let round = |number: f64, parts: f64| (number * parts).round() / parts + 0.0;
        Count {
            instructions: round(self.instructions, 10.0),
            atomics: self.atomics.map(|atomics| round(atomics, 100.0)),
        }
    }
}

/// As in the table.
impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count { instructions, atomics } = self.as_written();
        write!(f, "{instructions:>12.1} ")?;
        match atomics {
            Some(atomics) => write!(f, "{atomics:>8.2}"),
            None => write!(f, "{:>8}", "-"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Table, Verdict};
    use crate::instructions::Count;

    const TEXT: &str = "# about\nbuild rustc 1, x86\nlibrary glibc 2\n\ncase    instructions  atomics\nring/coact  200.0  2.00\nhere/coact 70.5 -\n";

    fn count(instructions: f64, atomics: f64) -> Count {
        Count { instructions, atomics: Some(atomics) }
    }

    fn table() -> Table {
        Table::parse(TEXT).expect("it is a table")
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let mut table = table();
        assert_eq!(table.get("ring/coact"), Some(count(200.0, 2.0)));
        assert_eq!(table.get("here/coact"), Some(Count { instructions: 70.5, atomics: None }));
        assert_eq!(Table::parse(&table.to_string()).expect("it is a table"), table);
        table.update(&[
            ("here/coact".to_owned(), count(60.0, 1.0)),
            ("new/coact".to_owned(), count(5.0, 0.0)),
        ]);
        let cases: Vec<_> = table.rows.iter().map(|(case, _)| case.as_str()).collect();
        assert_eq!(cases, ["ring/coact", "here/coact", "new/coact"]);
        assert_eq!(table.get("here/coact"), Some(count(60.0, 1.0)));
        assert_eq!(Table::parse(&table.to_string()).expect("it is a table"), table);
    }

    #[test]
    fn nothing_is_written_without_a_sign() {
        assert_eq!(count(123.45, -0.001).to_string(), "       123.5     0.00");
    }

    #[test]
    fn what_is_no_table_is_refused_by_its_line() {
        for (line, reason) in [
            ("ring/coact 1 2", "twice"),
            ("pairs/coact 1", "missing"),
            ("pairs/coact one 2", "no number"),
            ("pairs/coact 1 two", "no number"),
        ] {
            let error = Table::parse(&format!("{TEXT}{line}\n")).expect_err("it is none");
            let error = format!("{error:#}");
            assert!(
                error.contains("line 8") && error.contains(line) && error.contains(reason),
                "{error}"
            );
        }
        assert!(
            Table::parse("ring/coact 1 2\n")
                .expect_err("it is for no build")
                .to_string()
                .contains("build")
        );
    }

    #[test]
    fn a_count_may_grow_by_two_parts_in_a_hundred() {
        let table = table();
        for (now, verdict) in [
            (count(200.0, 2.0), Verdict::Same),
            (count(204.0, 2.04), Verdict::Same),
            (count(204.2, 2.0), Verdict::More),
            (count(200.0, 2.06), Verdict::More),
            (count(150.0, 3.0), Verdict::More),
            (count(196.0, 2.0), Verdict::Same),
            (count(195.0, 2.0), Verdict::Fewer),
            (count(200.0, 1.0), Verdict::Fewer),
        ] {
            assert_eq!(table.verdict("ring/coact", now), verdict, "{now:?}");
        }
        assert_eq!(table.verdict("here/coact", count(70.0, 9.0)), Verdict::Same);
        assert_eq!(table.verdict("new/coact", count(1.0, 1.0)), Verdict::New);
    }

    #[test]
    fn a_count_is_compared_as_it_would_be_written() {
        let table = Table::parse(&TEXT.replace("2.00", "0.00")).expect("it is a table");
        assert_eq!(table.verdict("ring/coact", count(200.0, 0.0149)), Verdict::Same);
        assert_eq!(table.verdict("ring/coact", count(200.0, 0.0151)), Verdict::More);
    }

    #[test]
    fn another_compiler_or_library_is_no_comparison() {
        let table = table();
        assert_eq!(table.mismatch("rustc 1, x86", "glibc 2"), None);
        assert!(
            table.mismatch("rustc 2, x86", "glibc 2").is_some_and(|why| why.contains("rustc 2"))
        );
        assert!(
            table.mismatch("rustc 1, x86", "glibc 3").is_some_and(|why| why.contains("glibc 3"))
        );
    }
}
