//! Tellers and accounts; an account that waits for another one puts its transfers aside.

use std::collections::VecDeque;

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::work::transactions::{Draw, draws};

#[derive(Actor)]
struct Account {
    balance: i64,
    teller: Addr<Teller>,
    waits: bool,
    queue: VecDeque<Transfer>,
}

#[handlers]
impl Account {
    #[message]
    fn transfer(&mut self, amount: i64, to: Addr<Account>, context: &mut Context<Self>) {
        if self.waits {
            return self.queue.push_back(Transfer { amount, to });
        }
        self.waits = true;
        self.balance -= amount;
        context.ask(&to, Deposit { amount }, |account, _, context| account.deposited(context));
    }

    #[message]
    fn deposit(&mut self, amount: i64) {
        self.balance += amount;
    }

    fn deposited(&mut self, context: &mut Context<Self>) {
        let _ = self.teller.send(Completed);
        self.waits = false;
        if let Some(Transfer { amount, to }) = self.queue.pop_front() {
            self.transfer(amount, to, context);
        }
    }

    #[message]
    fn balance(&self) -> i64 {
        self.balance
    }
}

#[derive(Actor)]
struct Teller {
    accounts: Vec<Addr<Account>>,
    open: usize,
    sum: i64,
    done: Finish,
}

#[handlers]
impl Teller {
    #[message]
    fn begin(&mut self, accounts: u64, transactions: u64, context: &mut Context<Self>) {
        let account = |_| {
            let teller = context.address();
            spawn(Account { balance: 0, teller, waits: false, queue: VecDeque::new() })
        };
        self.accounts = (0..accounts).map(account).collect();
        for Draw { from, to, amount } in draws(accounts, transactions) {
            let to = self.accounts[to].clone();
            let _ = self.accounts[from].send(Transfer { amount, to });
        }
        self.open = transactions as usize;
    }

    #[message]
    fn completed(&mut self, context: &mut Context<Self>) {
        self.open -= 1;
        if self.open > 0 {
            return;
        }
        self.open = self.accounts.len();
        for (account, factor) in self.accounts.iter().zip(1..) {
            context.ask(account, Balance, move |teller, balance, _| {
                teller.add(factor * balance.unwrap_or_default());
            });
        }
    }

    fn add(&mut self, weighted: i64) {
        self.sum += weighted;
        self.open -= 1;
        if self.open == 0 {
            self.done.part(self.sum as u64);
        }
    }
}

pub fn start(accounts: u64, transactions: u64, done: Finish) {
    let teller = Teller { accounts: Vec::new(), open: 0, sum: 0, done };
    let _ = spawn(teller).send(Begin { accounts, transactions });
}
