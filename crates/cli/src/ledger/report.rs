//! What a replay reports: the one structure behind both the text and the JSON.

use std::time::Duration;

use serde::Serialize;

use super::account::{Account, Status};
use super::decisions::{Decisions, Digest};
use super::replay::{Books, Replay};
use super::verification::{AccountDifference, Verification};

/// A finished replay, ready to be shown. The field names are the JSON's.
#[derive(Debug, Serialize)]
pub struct Report {
    pub input: String,
    pub bytes: u64,
    pub lines: u64,
    pub replay: Timing,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verified>,
    pub decisions: Counts,
    pub order: Order,
    pub accounts: Balances,
    pub first_rejected: Vec<RejectedLine>,
    pub first_malformed: Vec<MalformedLine>,
}

/// How a replay was done and how long it took.
#[derive(Clone, Debug, Serialize)]
pub struct Timing {
    /// None for the sequential replay.
    pub workers: Option<usize>,
    pub work_us: u64,
    pub seconds: f64,
    pub lines_per_second: f64,
}

/// The result of `--verify`.
#[derive(Debug, Serialize)]
pub struct Verified {
    pub same: bool,
    pub sequential: Timing,
    pub speedup: f64,
    pub differing_lines: u64,
    pub differing_accounts: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_differing_line: Option<Differing<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_differing_account: Option<Differing<String>>,
}

/// One thing that came out in two ways.
#[derive(Debug, Serialize)]
pub struct Differing<T> {
    pub at: T,
    pub sequential: String,
    pub parallel: String,
}

/// How many lines were decided in which way.
#[derive(Debug, Serialize)]
pub struct Counts {
    pub accepted: u64,
    pub rejected: u64,
    pub malformed: u64,
    pub rejected_by_reason: Vec<Count>,
    pub malformed_by_reason: Vec<Count>,
    pub digest: String,
}

/// One reason and how often it was given.
#[derive(Debug, Serialize)]
pub struct Count {
    pub reason: &'static str,
    pub count: u64,
}

/// What order cost; see [`super::contention`].
#[derive(Debug, Serialize)]
pub struct Order {
    pub operations: u64,
    pub critical_path: u64,
    pub parallelism: f64,
    pub most_serialising: Vec<Serialiser>,
}

/// An account that others waited for.
#[derive(Debug, Serialize)]
pub struct Serialiser {
    pub account: String,
    pub operations: u64,
    pub changes: u64,
    pub audits: u64,
    pub held_back: u64,
}

/// The accounts at the end.
#[derive(Debug, Default, Serialize)]
pub struct Balances {
    pub named: usize,
    pub open: usize,
    pub frozen: usize,
    pub closed: usize,
    pub never_opened: usize,
    /// The sum of all balances. It may pass the limit of a single one.
    pub total_cents: u128,
    pub digest: String,
}

/// A sample of the rejected lines.
#[derive(Debug, Serialize)]
pub struct RejectedLine {
    pub line: u64,
    pub reason: &'static str,
    pub account: String,
}

/// A sample of the malformed lines.
#[derive(Debug, Serialize)]
pub struct MalformedLine {
    pub line: u64,
    pub reason: &'static str,
    pub text: String,
}

impl Report {
    /// The report on a replay, with at most `shown` entries in each list.
    pub fn new(input: String, replay: &Replay, timing: Timing, shown: usize) -> Self {
        let Replay { books, accounts, bytes, .. } = replay;
        Self {
            input,
            bytes: *bytes,
            lines: books.decisions.lines(),
            replay: timing,
            verification: None,
            decisions: Counts::of(&books.decisions),
            order: Order::of(books, shown),
            accounts: Balances::of(accounts),
            first_rejected: rejected_lines(books),
            first_malformed: malformed_lines(books),
        }
    }

    /// Adds what the comparison with a sequential replay found.
    pub fn add_verification(&mut self, found: &Verification, books: &Books) {
        let sequential = Timing::new(None, self.replay.work_us, self.lines, found.sequential);
        self.verification = Some(Verified {
            same: found.holds(),
            speedup: sequential.seconds / self.replay.seconds,
            sequential,
            differing_lines: found.differing_lines,
            differing_accounts: found.differing_accounts,
            first_differing_line: found.first_line.map(|difference| Differing {
                at: difference.line,
                sequential: difference.expected.describe(&books.register),
                parallel: difference.found.describe(&books.register),
            }),
            first_differing_account: found.first_account.map(|difference| {
                let AccountDifference { id, sequential, parallel } = difference;
                Differing {
                    at: books.register.name(id).into(),
                    sequential: sequential.to_string(),
                    parallel: parallel.to_string(),
                }
            }),
        });
    }
}

impl Timing {
    /// The timing of a replay of `lines` lines.
    pub fn new(workers: Option<usize>, work_us: u64, lines: u64, elapsed: Duration) -> Self {
        // A clock may be too coarse for a file of one line.
        let seconds = elapsed.as_secs_f64().max(1e-9);
        Self { workers, work_us, seconds, lines_per_second: lines as f64 / seconds }
    }
}

impl Counts {
    fn of(decisions: &Decisions) -> Self {
        let rejected = decisions.rejected().into_iter();
        let rejected = counts(rejected.map(|(reason, count)| (reason.text(), count)));
        let malformed = decisions.malformed().into_iter();
        let malformed = counts(malformed.map(|(fault, count)| (fault.text(), count)));
        Self {
            accepted: decisions.accepted(),
            rejected: rejected.iter().map(|entry| entry.count).sum(),
            malformed: malformed.iter().map(|entry| entry.count).sum(),
            rejected_by_reason: rejected,
            malformed_by_reason: malformed,
            digest: decisions.digest().to_string(),
        }
    }
}

fn counts(entries: impl Iterator<Item = (&'static str, u64)>) -> Vec<Count> {
    entries.map(|(reason, count)| Count { reason, count }).collect()
}

impl Order {
    fn of(books: &Books, shown: usize) -> Self {
        let contention = &books.contention;
        let worst = contention.worst(shown).into_iter();
        Self {
            operations: contention.operations(),
            critical_path: contention.critical_path(),
            parallelism: contention.parallelism(),
            most_serialising: worst
                .map(|(id, load)| Serialiser {
                    account: books.register.name(id).into(),
                    operations: load.operations(),
                    changes: load.exclusive,
                    audits: load.shared,
                    held_back: load.held_back,
                })
                .collect(),
        }
    }
}

impl Balances {
    fn of(accounts: &[Account]) -> Self {
        let mut balances = Self { named: accounts.len(), ..Self::default() };
        let mut digest = Digest::default();
        for account in accounts {
            let status = account.status();
            match status {
                Status::Open => balances.open += 1,
                Status::Frozen => balances.frozen += 1,
                Status::Closed => balances.closed += 1,
                Status::Unopened => balances.never_opened += 1,
            }
            balances.total_cents += u128::from(account.balance().get());
            digest.add(status as u64);
            digest.add(account.balance().get());
        }
        balances.digest = digest.to_string();
        balances
    }
}

fn rejected_lines(books: &Books) -> Vec<RejectedLine> {
    let samples = books.decisions.rejected_samples().iter();
    samples
        .map(|(line, rejection)| RejectedLine {
            line: *line,
            reason: rejection.reason.text(),
            account: books.register.name(rejection.account).into(),
        })
        .collect()
}

fn malformed_lines(books: &Books) -> Vec<MalformedLine> {
    let samples = books.malformed_samples.iter();
    samples
        .map(|sample| MalformedLine {
            line: sample.line,
            reason: sample.fault.text(),
            text: sample.excerpt.clone(),
        })
        .collect()
}
