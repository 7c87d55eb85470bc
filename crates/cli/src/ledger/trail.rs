//! The decisions of one replay, line by line, for a later replay to be compared with.
//!
//! A trail takes eight bytes a line. It stays in memory while it is small and moves to an unnamed
//! temporary file when it is not, so that a file of any length is compared in bounded memory.

use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Seek, Write};

use anyhow::{Context, Result, bail};
use tempfile::SpooledTempFile;

use super::outcome::Outcome;

/// Trails of up to a million lines stay in memory.
const IN_MEMORY: usize = 8 * 1024 * 1024;

/// What a replay does with its decisions beyond counting them.
#[derive(Default)]
pub enum Trail {
    /// Nothing.
    #[default]
    Off,
    /// Writes them down.
    Written(BufWriter<SpooledTempFile>),
    /// Compares them with those written down before.
    Compared(Comparison),
}

/// A comparison under way.
pub struct Comparison {
    expected: BufReader<SpooledTempFile>,
    differences: u64,
    first: Option<Difference>,
}

/// A line on which two replays decided differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line.
    pub line: u64,
    /// The decision that was written down.
    pub expected: Outcome,
    /// The decision that was compared with it.
    pub found: Outcome,
}

impl Trail {
    /// A trail to be written.
    pub fn written() -> Self {
        Self::Written(BufWriter::new(SpooledTempFile::new(IN_MEMORY)))
    }

    /// Takes in the decision on the next line.
    pub fn note(&mut self, line: u64, outcome: Outcome) -> Result<()> {
        match self {
            Self::Off => Ok(()),
            Self::Written(file) => file
                .write_all(&outcome.encode().to_le_bytes())
                .context("cannot write the decisions to a temporary file"),
            Self::Compared(comparison) => comparison.note(line, outcome),
        }
    }

    /// Turns a written trail into one that compares.
    pub fn compare(self) -> Result<Self> {
        let Self::Written(file) = self else {
            bail!("only a written trail can be compared with");
        };
        let rewound = || -> io::Result<SpooledTempFile> {
            let mut file = file.into_inner().map_err(|error| error.into_error())?;
            file.rewind()?;
            Ok(file)
        };
        let file = rewound().context("cannot reread the decisions from a temporary file")?;
        Ok(Self::Compared(Comparison {
            expected: BufReader::new(file),
            differences: 0,
            first: None,
        }))
    }

    /// The comparison, if this trail was one.
    pub fn into_comparison(self) -> Option<Comparison> {
        match self {
            Self::Compared(comparison) => Some(comparison),
            Self::Off | Self::Written(_) => None,
        }
    }
}

impl Comparison {
    fn note(&mut self, line: u64, found: Outcome) -> Result<()> {
        let mut word = [0; 8];
        match self.expected.read_exact(&mut word) {
            // The file grew between two replays. Whoever asked for the comparison sees it in the
            // number of lines.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            read => read.context("cannot reread the decisions from a temporary file")?,
        }
        let expected = Outcome::decode(u64::from_le_bytes(word))
            .context("the temporary file of decisions is damaged")?;
        if expected != found {
            self.differences += 1;
            self.first.get_or_insert(Difference { line, expected, found });
        }
        Ok(())
    }

    /// How many lines were decided differently.
    pub fn differences(&self) -> u64 {
        self.differences
    }

    /// The first of them.
    pub fn first(&self) -> Option<Difference> {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::super::cents::Cents;
    use super::super::fault::Fault;
    use super::*;

    fn compare(expected: &[Outcome], found: &[Outcome]) -> Comparison {
        let mut trail = Trail::written();
        for (line, outcome) in expected.iter().enumerate() {
            trail.note(line as u64, *outcome).unwrap();
        }
        let mut trail = trail.compare().unwrap();
        for (line, outcome) in found.iter().enumerate() {
            trail.note(line as u64, *outcome).unwrap();
        }
        trail.into_comparison().unwrap()
    }

    #[test]
    fn equal_trails_do_not_differ() {
        let outcomes = [Outcome::Accepted, Outcome::Malformed(Fault::Blank)];
        let comparison = compare(&outcomes, &outcomes);
        assert_eq!(comparison.differences(), 0);
        assert_eq!(comparison.first(), None);
    }

    #[test]
    fn the_first_difference_is_named_and_all_are_counted() {
        let audited = |cents| Outcome::Audited(Cents::new(cents).unwrap());
        let expected = [Outcome::Accepted, audited(1), audited(2)];
        let found = [Outcome::Accepted, audited(7), audited(8)];
        let comparison = compare(&expected, &found);
        assert_eq!(comparison.differences(), 2);
        let first = Difference { line: 1, expected: audited(1), found: audited(7) };
        assert_eq!(comparison.first(), Some(first));
    }

    #[test]
    fn a_trail_that_outgrows_memory_is_still_whole() {
        let outcomes = vec![Outcome::Accepted; IN_MEMORY / 8 + 1000];
        assert_eq!(compare(&outcomes, &outcomes).differences(), 0);
    }

    #[test]
    fn lines_beyond_the_written_ones_are_not_compared() {
        let comparison = compare(&[], &[Outcome::Accepted]);
        assert_eq!(comparison.differences(), 0);
    }
}
