//! One replay of a ledger: the loop over its lines, and what is known when it is over.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::account::Account;
use super::contention::Contention;
use super::decisions::Decisions;
use super::fault::Fault;
use super::operation::{Action, Update};
use super::outcome::Outcome;
use super::progress::Progress;
use super::reader::{Line, Lines};
use super::register::{AccountId, Register};
use super::source::Input;

/// What the reading thread keeps.
pub struct Books {
    /// The names of the accounts.
    pub register: Register,
    /// Who waited for whom.
    pub contention: Contention,
    /// What was decided.
    pub decisions: Decisions,
    /// The first malformed lines.
    pub malformed_samples: Vec<MalformedLine>,
    sample_limit: usize,
}

/// A malformed line, to be shown.
pub struct MalformedLine {
    /// Its number.
    pub line: u64,
    /// What is wrong.
    pub fault: Fault,
    /// How it starts.
    pub excerpt: String,
}

/// One line as an engine sees it.
#[derive(Clone, Copy, Debug)]
pub enum Step<'ids> {
    /// Changes these accounts.
    Update(Update, &'ids [AccountId]),
    /// Reads these accounts.
    Audit(&'ids [AccountId]),
    /// Does nothing, but has its place in the order of decisions.
    Malformed(Fault),
}

/// A way of carrying operations out.
pub trait Engine {
    /// Takes the next line. The engine records its decision in `books` now or later, but always in
    /// the order of the lines.
    fn submit(&mut self, step: Step<'_>, books: &mut Books) -> Result<()>;

    /// Waits for all decisions and gives the accounts back, in the order of their numbers.
    fn finish(self, books: &mut Books) -> Result<Vec<Account>>;
}

/// A finished replay.
pub struct Replay {
    /// What the reading thread kept.
    pub books: Books,
    /// All accounts, in the order of their numbers.
    pub accounts: Vec<Account>,
    /// The size of the input.
    pub bytes: u64,
    /// From the first byte read to the last decision.
    pub elapsed: Duration,
}

impl Books {
    /// Empty books that keep the first `sample_limit` malformed lines.
    pub fn new(decisions: Decisions, sample_limit: usize) -> Self {
        Self {
            register: Register::default(),
            contention: Contention::default(),
            decisions,
            malformed_samples: Vec::new(),
            sample_limit,
        }
    }

    /// Records the decision on the next line.
    pub fn record(&mut self, outcome: Outcome) -> Result<()> {
        self.decisions.record(outcome, &self.register)
    }

    /// Turns a line into a step, with the numbers of its accounts in `ids`.
    fn enter<'ids>(&mut self, line: &Line<'_>, ids: &'ids mut Vec<AccountId>) -> Step<'ids> {
        match self.enter_operation(line, ids) {
            Ok(Action::Update(update)) => {
                self.contention.note_update(ids);
                Step::Update(update, ids)
            }
            Ok(Action::Audit) => {
                self.contention.note_audit(ids);
                Step::Audit(ids)
            }
            Err(fault) => {
                self.keep_sample(line, fault);
                Step::Malformed(fault)
            }
        }
    }

    fn enter_operation(
        &mut self,
        line: &Line<'_>,
        ids: &mut Vec<AccountId>,
    ) -> Result<Action, Fault> {
        let operation = line.operation()?;
        self.register.enter(line.number, operation.names(), ids)?;
        Ok(operation.action)
    }

    fn keep_sample(&mut self, line: &Line<'_>, fault: Fault) {
        if self.malformed_samples.len() < self.sample_limit {
            self.malformed_samples.push(MalformedLine {
                line: line.number,
                fault,
                excerpt: line.excerpt(),
            });
        }
    }
}

/// Replays the input on an engine.
pub fn replay(
    input: Input<'_>,
    mut engine: impl Engine,
    mut books: Books,
    progress: &Progress,
) -> Result<Replay> {
    let start = Instant::now();
    let mut lines = Lines::new(input.name, input.bytes)?;
    let mut ids = Vec::new();
    while let Some(line) = lines.next_line()? {
        let number = line.number;
        let step = books.enter(&line, &mut ids);
        engine.submit(step, &mut books)?;
        progress.at(number, lines.bytes());
    }
    let accounts = engine.finish(&mut books)?;
    Ok(Replay { books, accounts, bytes: lines.bytes(), elapsed: start.elapsed() })
}
