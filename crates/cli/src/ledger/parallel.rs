//! The replay on Coact: every operation is one behaviour over exactly the accounts it names.
//!
//! Each account is a cown. The reading thread spawns the behaviours in the order of the file, and
//! that is all the synchronisation there is: two operations that share an account run in the order
//! of their lines, two that share none run in parallel, and audits only read. Whether an account
//! exists, is frozen or can pay is decided inside the behaviour, where all earlier operations on
//! it are over and no later one has begun.
//!
//! Memory is bounded twice. *Credits* limit the chunks of behaviours that are in flight; a chunk
//! returns its credit when its last behaviour is over. The *window* limits the decided chunks that
//! wait for an earlier, undecided one.

use anyhow::{Result, bail};
use coact::prelude::*;

use super::account::{Account, Holdings, audit};
use super::operation::Update;
use super::outcome::Outcome;
use super::register::AccountId;
use super::replay::{Books, Engine, Step};
use super::window::{Decided, Window};
use super::work::Work;

/// Chunks whose behaviours may be in flight at once.
const CHUNKS_IN_FLIGHT: usize = 8;
/// Chunks that may wait for their turn in the order of decisions.
const CHUNKS_WAITING: usize = 4 * CHUNKS_IN_FLIGHT;
/// A chunk ends early when its operations name this many accounts, so that a file of long audits
/// needs no more memory than one of short transfers.
const CHUNK_ACCOUNTS: usize = 32 * 1024;

type Slot = super::window::Slot<Permit>;

/// Spawns a behaviour for every operation. To be used while a runtime is entered.
pub struct Parallel {
    accounts: Vec<Cown<Account>>,
    /// The handles of one operation; kept to be filled again.
    named: Vec<Cown<Account>>,
    credits: Credits,
    window: Window<Permit>,
    accounts_in_chunk: usize,
    work: Work,
}

/// The accounts of a behaviour over a slice of cowns.
struct Held<'a, 'm>(&'m mut Members<'a, Account>);

impl Parallel {
    /// An engine without accounts, whose operations each do `work` on the side.
    pub fn new(work: Work) -> Self {
        Self {
            accounts: Vec::new(),
            named: Vec::new(),
            credits: Credits::new(CHUNKS_IN_FLIGHT),
            window: Window::new(),
            accounts_in_chunk: 0,
            work,
        }
    }

    fn update(&mut self, update: Update, ids: &[AccountId], slot: Slot) {
        let work = self.work;
        match *ids {
            [id] => when(self.account(id), move |account| {
                work.perform();
                slot.decide(update.apply(&mut [account]).into());
            }),
            [first, second] => {
                let set = (self.account(first), self.account(second));
                when(set, move |(first, second)| {
                    work.perform();
                    slot.decide(update.apply(&mut [first, second]).into());
                });
            }
            _ => {
                self.gather(ids);
                when(&self.named[..], move |mut accounts| {
                    work.perform();
                    slot.decide(update.apply(&mut Held(&mut accounts)).into());
                });
            }
        }
    }

    fn audit(&mut self, ids: &[AccountId], slot: Slot) {
        let work = self.work;
        self.gather(ids);
        when(read_all(&self.named), move |accounts| {
            work.perform();
            slot.decide(audit(accounts.iter()).into());
        });
    }

    fn account(&self, id: AccountId) -> &Cown<Account> {
        &self.accounts[id.index()]
    }

    fn gather(&mut self, ids: &[AccountId]) {
        self.named.clear();
        let accounts = &self.accounts;
        self.named.extend(ids.iter().map(|id| accounts[id.index()].clone()));
    }

    /// The place for the decision on the next line. Waits here while too much is in flight.
    fn next_slot(&mut self, books: &mut Books) -> Result<Slot> {
        if self.window.needs_chunk() {
            self.collect(books)?;
            self.accounts_in_chunk = 0;
            self.window.start_chunk(self.credits.acquire_blocking(1));
        }
        Ok(self.window.next_slot())
    }

    /// Takes in the decisions that are there, and waits for more only if the window is full.
    fn collect(&mut self, books: &mut Books) -> Result<()> {
        while let Some(decided) = self.window.poll() {
            self.take_in(decided, books)?;
        }
        while self.window.waiting() >= CHUNKS_WAITING
            && let Some(decided) = self.window.wait()
        {
            self.take_in(decided, books)?;
        }
        Ok(())
    }

    fn take_in(&mut self, decided: Decided, books: &mut Books) -> Result<()> {
        for outcome in decided.outcomes() {
            let Some(outcome) = outcome else {
                bail!(Undecided { line: books.decisions.next_line() });
            };
            books.record(outcome)?;
        }
        self.window.recycle(decided);
        Ok(())
    }
}

/// A behaviour ended without deciding its line. That is a defect of this program, never of a file.
#[derive(Debug, thiserror::Error)]
#[error("the operation on line {line} was lost: its behaviour ended without a decision")]
pub struct Undecided {
    line: u64,
}

impl Engine for Parallel {
    fn submit(&mut self, step: Step<'_>, books: &mut Books) -> Result<()> {
        for number in self.accounts.len()..books.register.len() {
            let id = AccountId::new(number as u32);
            self.accounts.push(Cown::new(Account::unopened(id)));
        }
        let slot = self.next_slot(books)?;
        match step {
            Step::Update(update, ids) => self.update(update, ids, slot),
            Step::Audit(ids) => self.audit(ids, slot),
            Step::Malformed(fault) => slot.decide(Outcome::Malformed(fault)),
        }
        if let Step::Update(_, ids) | Step::Audit(ids) = step {
            self.accounts_in_chunk += ids.len();
        }
        if self.accounts_in_chunk >= CHUNK_ACCOUNTS {
            self.window.close_chunk();
        }
        Ok(())
    }

    fn finish(mut self, books: &mut Books) -> Result<Vec<Account>> {
        self.window.close_chunk();
        while let Some(decided) = self.window.wait() {
            self.take_in(decided, books)?;
        }
        self.named.clear();
        self.accounts.into_iter().map(take_out).collect()
    }
}

/// The state of an account after its last operation.
fn take_out(account: Cown<Account>) -> Result<Account> {
    match account.into_inner() {
        Ok(account) => Ok(account),
        // Its last behaviour has decided but not quite let go.
        Err(shared) => Ok(ask(&shared, |account| *account).wait()?),
    }
}

impl Holdings for Held<'_, '_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn at(&self, position: usize) -> &Account {
        &self.0[position]
    }

    fn at_mut(&mut self, position: usize) -> &mut Account {
        &mut self.0[position]
    }
}
