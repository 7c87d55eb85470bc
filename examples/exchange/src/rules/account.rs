//! An account: what it has, what is reserved, and its orders.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use super::balance::{Balance, Short};
use super::error::Error;
use super::name::{Name, Symbol};
use super::order::{Order, OrderId, Side, Status};
use super::{Cents, Shares};

/// Orders that are done and can still be looked up.
const KEPT: usize = 1_000;

/// An account. Its open orders are the truth: a book can be rebuilt from them.
#[derive(Clone, Debug)]
pub struct Account {
    name: Name,
    cash: Balance,
    holdings: BTreeMap<Symbol, Balance>,
    open: BTreeMap<OrderId, Order>,
    /// The latest orders that are done, oldest first.
    done: VecDeque<Order>,
}

/// What can be paid in and out: shares of a symbol, or cash.
pub type Asset = Option<Symbol>;

/// What others may see of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccountView {
    pub name: Name,
    pub cash: Balance,
    pub holdings: BTreeMap<Symbol, Balance>,
    pub open_orders: Vec<Order>,
}

impl Account {
    pub fn new(name: Name) -> Self {
        Self {
            name,
            cash: Balance::default(),
            holdings: BTreeMap::new(),
            open: BTreeMap::new(),
            done: VecDeque::new(),
        }
    }

    pub fn name(&self) -> &Name {
        &self.name
    }

    pub fn view(&self) -> AccountView {
        AccountView {
            name: self.name.clone(),
            cash: self.cash,
            holdings: self.holdings.clone(),
            open_orders: self.open.values().cloned().collect(),
        }
    }

    pub fn order(&self, id: OrderId) -> Result<&Order, Error> {
        let done = || self.done.iter().rfind(|order| order.id == id);
        let order = self.open.get(&id).or_else(done);
        order.ok_or_else(|| Error::UnknownOrder { account: self.name.clone(), id })
    }

    pub fn open_orders(&self) -> impl Iterator<Item = &Order> {
        self.open.values()
    }

    pub fn deposit(&mut self, asset: &Asset, amount: u64) {
        self.balance_mut(asset).add(amount.into());
    }

    pub fn withdraw(&mut self, asset: &Asset, amount: u64) -> Result<(), Error> {
        let taken = self.balance_mut(asset).take(amount.into());
        taken.map_err(|short| self.short(asset, short))
    }

    /// Checks that the account can pay for an order, and has none by its client id. A market order
    /// must be good for one share at the best price, if there is one.
    pub fn check(&self, order: &Order, best: Option<Cents>) -> Result<(), Error> {
        if let Some(client_id) = &order.client_id
            && self
                .open
                .values()
                .chain(&self.done)
                .any(|other| other.client_id.as_ref() == Some(client_id))
        {
            let (account, client_id) = (self.name.clone(), client_id.clone());
            return Err(Error::DuplicateClientId { account, client_id });
        }
        let (asset, needed) = match (order.side, order.price) {
            (Side::Sell, _) => (Some(order.symbol.clone()), order.quantity.into()),
            (Side::Buy, Some(limit)) => (None, cost(order.quantity, limit)),
            (Side::Buy, None) => (None, best.unwrap_or(0).into()),
        };
        self.balance(&asset).check(needed).map_err(|short| self.short(&asset, short))
    }

    /// The shares of an order that the account can trade now at this price.
    pub fn affordable(&self, order: &Order, price: Cents) -> Shares {
        match (order.side, order.price) {
            (Side::Buy, None) => {
                let affordable = self.cash.available() / u128::from(price);
                affordable.min(order.left().into()) as Shares
            }
            // Checked when it arrived.
            _ => order.left(),
        }
    }

    /// Trades a part of an order that has just arrived, for which nothing is reserved.
    pub fn trade(&mut self, order: &mut Order, quantity: Shares, price: Cents) {
        order.fill(quantity);
        let (gives, gets) = exchanged(order, quantity, price);
        self.balance_mut(&gives.0).take(gives.1).expect("checked when the order arrived");
        self.balance_mut(&gets.0).add(gets.1);
    }

    /// Trades a part of an order that rests in the book. It pays out of what is reserved.
    pub fn trade_open(&mut self, id: OrderId, quantity: Shares, price: Cents) {
        let order = self.open.get_mut(&id).expect("what rests in the book is open");
        order.fill(quantity);
        let (gives, gets) = exchanged(order, quantity, price);
        let is_filled = order.status == Status::Filled;
        self.balance_mut(&gives.0).take_reserved(gives.1);
        self.balance_mut(&gets.0).add(gets.1);
        if is_filled {
            let order = self.open.remove(&id).expect("it was there");
            self.keep(order);
        }
    }

    /// Reserves what is left of an order, and keeps it open.
    pub fn open(&mut self, order: Order) {
        let (asset, amount) = reserved(&order);
        self.balance_mut(&asset).reserve(amount).expect("checked when the order arrived");
        self.open.insert(order.id, order);
    }

    /// Cancels an open order. What it had reserved is available again.
    pub fn cancel(&mut self, id: OrderId) -> Result<Order, Error> {
        let Some(mut order) = self.open.remove(&id) else {
            let status = self.order(id)?.status;
            return Err(Error::NotOpen { id, status });
        };
        let (asset, amount) = reserved(&order);
        self.balance_mut(&asset).release(amount);
        order.status = Status::Cancelled;
        self.keep(order.clone());
        Ok(order)
    }

    /// Keeps an order that is done, so that it can be looked up.
    pub fn keep(&mut self, order: Order) {
        if self.done.len() == KEPT {
            self.done.pop_front();
        }
        self.done.push_back(order);
    }

    fn balance(&self, asset: &Asset) -> Balance {
        match asset {
            None => self.cash,
            Some(symbol) => self.holdings.get(symbol).copied().unwrap_or_default(),
        }
    }

    fn balance_mut(&mut self, asset: &Asset) -> &mut Balance {
        match asset {
            None => &mut self.cash,
            Some(symbol) => self.holdings.entry(symbol.clone()).or_default(),
        }
    }

    fn short(&self, asset: &Asset, Short { available, needed }: Short) -> Error {
        let account = self.name.clone();
        match asset.clone() {
            None => Error::InsufficientFunds { account, available, needed },
            Some(symbol) => Error::InsufficientShares { account, symbol, available, needed },
        }
    }
}

/// The price of all these shares.
fn cost(quantity: Shares, price: Cents) -> u128 {
    u128::from(quantity) * u128::from(price)
}

/// What the owner of an order gives and gets in a trade.
fn exchanged(order: &Order, quantity: Shares, price: Cents) -> ((Asset, u128), (Asset, u128)) {
    let cash = (None, cost(quantity, price));
    let shares = (Some(order.symbol.clone()), quantity.into());
    match order.side {
        Side::Buy => (cash, shares),
        Side::Sell => (shares, cash),
    }
}

/// What is reserved for an open order.
fn reserved(order: &Order) -> (Asset, u128) {
    let limit = order.price.expect("a market order does not rest");
    exchanged(order, order.left(), limit).0
}
