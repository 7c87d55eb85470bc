//! A message that is called as a method of the address, which needs `api`.

use coact::prelude::*;

#[derive(Actor)]
struct Account(i64);

#[handlers]
impl Account {
    #[message]
    fn deposit(&mut self, amount: i64) -> i64 {
        self.0 += amount;
        self.0
    }

    #[message]
    fn balance(&self) -> i64 {
        self.0
    }
}

fn main() {
    let account = spawn(Account(0));
    let _ = account.deposit(5);
    account.balance();
}
