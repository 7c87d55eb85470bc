//! The decisions of a replay, taken in line by line and kept as counts, a digest and a few samples.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result};

use super::account::{Reason, Rejection};
use super::fault::Fault;
use super::outcome::Outcome;
use super::register::Register;
use super::trail::Trail;

/// Everything that is remembered of the decisions. Its size does not depend on the file's.
pub struct Decisions {
    lines: u64,
    accepted: u64,
    rejected: [u64; Reason::ALL.len()],
    malformed: [u64; Fault::ALL.len()],
    digest: Digest,
    samples: Samples,
    listing: Option<Listing>,
    trail: Trail,
}

/// The first rejected lines, to be shown.
struct Samples {
    limit: usize,
    rejected: Vec<(u64, Rejection)>,
}

/// A file that receives every line that was not carried out.
pub struct Listing {
    path: String,
    file: BufWriter<File>,
}

/// The 64-bit FNV-1a hash over a sequence of words, least significant byte first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Decisions {
    /// Nothing decided yet; keeps the first `limit` rejected lines as samples.
    pub fn new(limit: usize, listing: Option<Listing>, trail: Trail) -> Self {
        Self {
            lines: 0,
            accepted: 0,
            rejected: [0; Reason::ALL.len()],
            malformed: [0; Fault::ALL.len()],
            digest: Digest::default(),
            samples: Samples { limit, rejected: Vec::new() },
            listing,
            trail,
        }
    }

    /// Takes in the decision on the next line.
    pub fn record(&mut self, outcome: Outcome, register: &Register) -> Result<()> {
        self.lines += 1;
        let line = self.next_line() - 1;
        self.digest.add(outcome.encode());
        self.trail.note(line, outcome)?;
        match outcome {
            Outcome::Accepted | Outcome::Audited(_) => self.accepted += 1,
            Outcome::Rejected(rejection) => {
                self.rejected[rejection.reason as usize] += 1;
                if self.samples.rejected.len() < self.samples.limit {
                    self.samples.rejected.push((line, rejection));
                }
                let account = register.name(rejection.account);
                self.list(line, "rejected", rejection.reason.text(), account)?;
            }
            Outcome::Malformed(fault) => {
                self.malformed[fault as usize] += 1;
                self.list(line, "malformed", fault.text(), "")?;
            }
        }
        Ok(())
    }

    fn list(&mut self, line: u64, kind: &str, reason: &str, account: &str) -> Result<()> {
        match &mut self.listing {
            Some(listing) => listing.add(line, kind, reason, account),
            None => Ok(()),
        }
    }

    /// Writes out what is buffered and gives the trail back.
    pub fn finish(&mut self) -> Result<Trail> {
        if let Some(mut listing) = self.listing.take() {
            let flushed = listing.file.flush();
            flushed.with_context(|| format!("cannot write {}", listing.path))?;
        }
        Ok(std::mem::take(&mut self.trail))
    }

    /// The number of the line whose decision comes next. Line 1 is the header.
    pub fn next_line(&self) -> u64 {
        self.lines + 2
    }

    /// Lines after the header.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Operations that were carried out.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Rejected operations by reason, the most frequent first, without the reasons that never came.
    pub fn rejected(&self) -> Vec<(Reason, u64)> {
        ranked(Reason::ALL, self.rejected)
    }

    /// Malformed lines by fault, in the same order.
    pub fn malformed(&self) -> Vec<(Fault, u64)> {
        ranked(Fault::ALL, self.malformed)
    }

    /// The first rejected lines.
    pub fn rejected_samples(&self) -> &[(u64, Rejection)] {
        &self.samples.rejected
    }

    /// The hash of all decisions in line order: equal for equal replays.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

fn ranked<T, const N: usize>(all: [T; N], counts: [u64; N]) -> Vec<(T, u64)> {
    let mut ranked: Vec<_> = all.into_iter().zip(counts).filter(|(_, n)| *n > 0).collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    ranked
}

impl Listing {
    /// Creates the file and writes its header.
    pub fn create(path: &std::path::Path) -> Result<Self> {
        let name = path.display().to_string();
        let create = || -> io::Result<BufWriter<File>> {
            let mut file = BufWriter::new(File::create(path)?);
            writeln!(file, "line,decision,reason,account")?;
            Ok(file)
        };
        let file = create().with_context(|| format!("cannot write {name}"))?;
        Ok(Self { path: name, file })
    }

    fn add(&mut self, line: u64, kind: &str, reason: &str, account: &str) -> Result<()> {
        writeln!(self.file, "{line},{kind},{reason},{account}")
            .with_context(|| format!("cannot write {}", self.path))
    }
}

impl Digest {
    /// Takes in one word.
    pub fn add(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
}

impl Default for Digest {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::register::AccountId;
    use super::*;

    fn rejected(reason: Reason) -> Outcome {
        Outcome::Rejected(Rejection { reason, account: AccountId::new(0) })
    }

    fn take_in(outcomes: &[Outcome]) -> Decisions {
        let mut register = Register::default();
        register.enter(1, ["alice"].into_iter(), &mut Vec::new()).unwrap();
        let mut decisions = Decisions::new(2, None, Trail::Off);
        for outcome in outcomes {
            decisions.record(*outcome, &register).unwrap();
        }
        decisions
    }

    #[test]
    fn counts_and_samples_follow_the_lines() {
        let decisions = take_in(&[
            Outcome::Accepted,
            rejected(Reason::Frozen),
            Outcome::Malformed(Fault::Blank),
            rejected(Reason::Closed),
            rejected(Reason::Frozen),
        ]);
        assert_eq!(decisions.lines(), 5);
        assert_eq!(decisions.accepted(), 1);
        assert_eq!(decisions.rejected(), [(Reason::Frozen, 2), (Reason::Closed, 1)]);
        assert_eq!(decisions.malformed(), [(Fault::Blank, 1)]);
        let lines: Vec<_> = decisions.rejected_samples().iter().map(|s| s.0).collect();
        assert_eq!(lines, [3, 5], "the header is line 1, and two samples are kept");
    }

    #[test]
    fn the_digest_depends_on_the_order() {
        let (a, b) = (Outcome::Accepted, rejected(Reason::Closed));
        assert_eq!(take_in(&[a, b]).digest(), take_in(&[a, b]).digest());
        assert_ne!(take_in(&[a, b]).digest(), take_in(&[b, a]).digest());
    }

    #[test]
    fn the_digest_is_fnv_1a() {
        let mut digest = Digest::default();
        digest.add(u64::from_le_bytes(*b"deadbeef"));
        assert_eq!(digest.to_string(), "cd4f3b6f56d93515");
    }
}
