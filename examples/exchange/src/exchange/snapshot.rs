//! A picture of the whole exchange at one moment, and what must be true of it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::rules::account::{Account, AccountView};
use crate::rules::name::{Name, Symbol};
use crate::rules::order::Side;

use super::book::Depth;
use super::cut::Cut;

#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    pub accounts: Vec<AccountView>,
    /// Accounts that an internal error may have left half changed.
    pub frozen: Vec<AccountView>,
    pub books: Vec<Depth>,
}

/// What there is in all accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    pub cash: u128,
    pub shares: BTreeMap<Symbol, u128>,
    pub open_orders: usize,
}

impl Snapshot {
    /// Copies what a cut shows. Writers wait meanwhile: so it is copied only, and added up later.
    pub fn copy(cut: &Cut<'_>) -> Self {
        Self {
            accounts: cut.accounts.iter().map(|(_, account)| account.view()).collect(),
            frozen: cut.frozen.iter().copied().map(Account::view).collect(),
            books: cut.books.iter().map(|book| book.depth(usize::MAX)).collect(),
        }
    }

    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for account in self.accounts.iter().chain(&self.frozen) {
            totals.cash += account.cash.total();
            totals.open_orders += account.open_orders.len();
            for (symbol, shares) in &account.holdings {
                *totals.shares.entry(symbol.clone()).or_default() += shares.total();
            }
        }
        totals
    }

    /// Checks what holds at every moment, whatever is traded.
    ///
    /// # Errors
    /// Says what is wrong, and where.
    pub fn check(&self) -> Result<(), String> {
        self.accounts.iter().try_for_each(check_reserved)?;
        self.books.iter().try_for_each(|book| self.check_book(book))
    }

    /// The book is not crossed, and has exactly the orders that are open in the accounts.
    fn check_book(&self, book: &Depth) -> Result<(), String> {
        let Depth { symbol, bids, asks } = book;
        if let (Some(bid), Some(ask)) = (bids.first(), asks.first())
            && bid.price >= ask.price
        {
            return Err(format!("the book of {symbol} is crossed: {bid:?}, {ask:?}"));
        }
        let orders = self.accounts.iter().flat_map(|account| &account.open_orders);
        let orders = orders.filter(|order| order.symbol == *symbol);
        let (count, shares) =
            orders.fold((0, 0), |(count, shares), order| (count + 1, shares + order.left()));
        let levels = || bids.iter().chain(asks);
        let rests = (
            levels().map(|level| level.orders).sum::<usize>(),
            levels().map(|level| level.quantity).sum::<u64>(),
        );
        // The orders of a frozen account stay in the book until one of them is met.
        if self.frozen.is_empty() && rests != (count, shares) {
            let open = (count, shares);
            return Err(format!("{symbol}: {rests:?} rest in the book, {open:?} are open"));
        }
        Ok(())
    }
}

/// What is reserved in an account is what its open orders may need, and no more than there is.
fn check_reserved(account: &AccountView) -> Result<(), String> {
    let mut cash = 0;
    let mut shares = BTreeMap::<&Symbol, u128>::new();
    for order in &account.open_orders {
        let left = u128::from(order.left());
        match order.side {
            Side::Buy => cash += left * u128::from(order.price.unwrap_or(0)),
            Side::Sell => *shares.entry(&order.symbol).or_default() += left,
        }
    }
    let name: &Name = &account.name;
    if account.cash.reserved() != cash || cash > account.cash.total() {
        return Err(format!("{name} needs {cash} cents for its orders: {:?}", account.cash));
    }
    for (symbol, balance) in &account.holdings {
        let needed = shares.remove(symbol).unwrap_or(0);
        if balance.reserved() != needed || needed > balance.total() {
            return Err(format!("{name} needs {needed} {symbol} for its orders: {balance:?}"));
        }
    }
    match shares.is_empty() {
        true => Ok(()),
        false => Err(format!("{name} sells what it does not have: {shares:?}")),
    }
}
