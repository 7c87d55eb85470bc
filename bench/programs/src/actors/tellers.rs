//! An account is an actor, and a transfer a protocol (Fig. 4b of the paper):
//!
//! * A teller acquires both accounts, one after the other, the lower number first, so that no two
//!   tellers can wait for each other. Then it makes a manager, sends credit and debit, and goes on
//!   with its next transfer.
//! * An account is acquired by one teller at a time, until that one's credit or debit comes. It
//!   answers this with yes or no, and stashes what other credits and debits come before the commit
//!   or the abort.
//! * A manager gathers both answers, decides, and tells the teller of the completion.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::random;
use coact_bench_workloads::{Given, Measured};

use crate::tellers::{self, Audit, Size, Transfer};

#[derive(Actor)]
struct Account {
    balance: i64,
    closed: bool,
    acquired: bool,
    /// Tellers who wait to acquire it.
    acquirers: VecDeque<Addr<Teller>>,
    /// What is added to the balance if the manager commits.
    change: i64,
    stashing: bool,
    stash: VecDeque<(i64, Addr<Manager>)>,
}

#[handlers]
impl Account {
    #[message]
    fn acquire(&mut self, teller: Addr<Teller>) {
        if self.acquired {
            self.acquirers.push_back(teller);
        } else {
            self.acquired = true;
            teller.send(Acquired).expect("the teller waits");
        }
    }

    #[message]
    fn credit(&mut self, amount: i64, manager: Addr<Manager>) {
        self.operate(amount, manager);
    }

    #[message]
    fn debit(&mut self, amount: i64, manager: Addr<Manager>) {
        self.operate(-amount, manager);
    }

    #[message]
    fn commit(&mut self) {
        self.balance += self.change;
        self.unstash();
    }

    #[message]
    fn abort(&mut self) {
        self.unstash();
    }

    #[message]
    fn balance(&self) -> i64 {
        self.balance
    }

    fn operate(&mut self, change: i64, manager: Addr<Manager>) {
        if self.stashing {
            return self.stash.push_back((change, manager));
        }
        if self.closed || self.balance + change < 0 {
            manager.send(No).expect("the manager waits");
        } else {
            manager.send(Yes).expect("the manager waits");
        }
        self.change = change;
        self.stashing = true;
        self.release();
    }

    fn release(&mut self) {
        match self.acquirers.pop_front() {
            Some(teller) => teller.send(Acquired).expect("the teller waits"),
            None => self.acquired = false,
        }
    }

    fn unstash(&mut self) {
        self.stashing = false;
        if let Some((change, manager)) = self.stash.pop_front() {
            self.operate(change, manager);
        }
    }
}

#[derive(Actor)]
struct Manager {
    from: Addr<Account>,
    to: Addr<Account>,
    teller: Addr<Teller>,
    /// Answers that have not come.
    missing: u32,
    refused: bool,
    work: Duration,
}

#[handlers]
impl Manager {
    #[message]
    fn yes(&mut self) {
        self.decide();
    }

    #[message]
    fn no(&mut self) {
        self.refused = true;
        self.decide();
    }

    fn decide(&mut self) {
        self.missing -= 1;
        if self.missing > 0 {
            return;
        }
        random::busy(self.work);
        for account in [&self.from, &self.to] {
            if self.refused {
                account.send(Abort).expect("the accounts wait");
            } else {
                account.send(Commit).expect("the accounts wait");
            }
        }
        self.teller.send(Completed).expect("the teller waits");
    }
}

#[derive(Actor)]
struct Teller {
    accounts: Arc<[Addr<Account>]>,
    auditor: Addr<Auditor>,
    transfers: Box<dyn Iterator<Item = Transfer> + Send>,
    /// Its own address, to be answered.
    own: Option<Addr<Teller>>,
    /// The one whose accounts are being acquired.
    current: Option<Transfer>,
    /// The second account, until it is asked for.
    second: Option<usize>,
    /// Transfers that are not completed.
    open: u64,
    work: Duration,
}

#[handlers]
impl Teller {
    #[message]
    fn begin(&mut self, context: &mut Context<Self>) {
        self.own = Some(context.address());
        self.next();
    }

    #[message]
    fn acquired(&mut self) {
        match self.second.take() {
            Some(second) => self.acquire(second),
            None => {
                self.transfer();
                self.next();
            }
        }
    }

    #[message]
    fn completed(&mut self) {
        self.open -= 1;
        if self.open == 0 {
            self.own = None;
            self.auditor.send(Left).expect("the auditor waits");
        }
    }

    fn next(&mut self) {
        self.current = self.transfers.next();
        if let Some(Transfer { from, to, .. }) = self.current {
            self.second = Some(from.max(to));
            self.acquire(from.min(to));
        }
    }

    fn acquire(&self, account: usize) {
        self.accounts[account].send(Acquire { teller: self.own() }).expect("the accounts live");
    }

    fn transfer(&mut self) {
        let Transfer { from, to, amount } = self.current.take().expect("it is acquired for this");
        let (from, to) = (&self.accounts[from], &self.accounts[to]);
        let manager = spawn(Manager {
            from: from.clone(),
            to: to.clone(),
            teller: self.own(),
            missing: 2,
            refused: false,
            work: self.work,
        });
        to.send(Credit { amount, manager: manager.clone() }).expect("the accounts live");
        from.send(Debit { amount, manager }).expect("the accounts live");
    }

    fn own(&self) -> Addr<Teller> {
        self.own.clone().expect("it has begun")
    }
}

/// Asks for the balances when all tellers have left.
#[derive(Actor)]
struct Auditor {
    accounts: Arc<[Addr<Account>]>,
    tellers: u64,
    balances: Vec<i64>,
    audit: Option<Audit>,
}

#[handlers]
impl Auditor {
    #[message]
    fn left(&mut self, context: &mut Context<Self>) {
        self.tellers -= 1;
        if self.tellers == 0 {
            self.ask(context);
        }
    }

    /// Asks the next account.
    fn ask(&mut self, context: &mut Context<Self>) {
        let Some(account) = self.accounts.get(self.balances.len()) else {
            let audit = self.audit.take().expect("it is done once");
            return audit(std::mem::take(&mut self.balances));
        };
        context.ask(account, Balance, |this, balance, context| {
            this.balances.push(balance.expect("the accounts live"));
            this.ask(context);
        });
    }
}

/// Without work.
pub fn reasonable(given: &Given) -> anyhow::Result<Measured> {
    tellers::reasonable(given, start)
}

/// With some in each transfer.
pub fn busy(given: &Given) -> anyhow::Result<Measured> {
    tellers::busy(given, start)
}

/// Makes the accounts, and has the tellers begin.
pub fn start(size: Size, audit: Audit) {
    let account = |_| Account {
        balance: size.start,
        closed: false,
        acquired: false,
        acquirers: VecDeque::new(),
        change: 0,
        stashing: false,
        stash: VecDeque::new(),
    };
    let accounts: Arc<[_]> = (0..size.accounts).map(account).map(spawn).collect();
    let auditor = spawn(Auditor {
        accounts: Arc::clone(&accounts),
        tellers: size.tellers,
        balances: Vec::new(),
        audit: Some(audit),
    });
    for teller in 0..size.tellers {
        let teller = Teller {
            accounts: Arc::clone(&accounts),
            auditor: auditor.clone(),
            transfers: Box::new(size.transfers_of(teller)),
            own: None,
            current: None,
            second: None,
            open: size.transfers,
            work: size.work,
        };
        spawn(teller).send(Begin).expect("it has just been spawned");
    }
}
