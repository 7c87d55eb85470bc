//! The book of one symbol: an actor that queues the orders that arrive, and shows what rests.

pub mod actor;
mod settlement;

use std::collections::VecDeque;

use coact::prelude::*;
use serde::Serialize;

use crate::rules::account::Account;
use crate::rules::error::Error;
use crate::rules::matching::{Execution, Trade};
use crate::rules::name::{Name, Symbol};
use crate::rules::order::{Order, OrderId, Side};
use crate::rules::order_book::{Level, OrderBook, Resting};

use super::counter::Counter;
use super::directory::Directory;
use super::feed::Publisher;

/// The book of one symbol.
///
/// What rests in it is derived from the open orders in the accounts. A restart loses it, and it is
/// rebuilt; messages that come earlier are set aside.
pub struct Book {
    symbol: Symbol,
    accounts: Cown<Directory>,
    orders: Counter,
    publisher: Publisher,
    /// None until it is rebuilt.
    resting: Option<OrderBook<Cown<Account>>>,
    /// Whether messages that were set aside have come again, so that later ones may follow.
    is_ready: bool,
    /// Orders that have arrived. The first is being settled, the others wait for their turn.
    incoming: VecDeque<Incoming>,
}

/// An order that has arrived.
struct Incoming {
    order: Order,
    name: Name,
    account: Cown<Account>,
    reply: Reply<Result<Execution, Error>>,
}

/// What rests in a book, by price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Depth {
    pub symbol: Symbol,
    pub bids: Vec<Level>,
    pub asks: Vec<Level>,
}

impl Book {
    pub fn new(
        symbol: Symbol,
        accounts: Cown<Directory>,
        orders: Counter,
        publisher: Publisher,
    ) -> Self {
        let incoming = VecDeque::new();
        Self { symbol, accounts, orders, publisher, resting: None, is_ready: false, incoming }
    }

    /// Rebuilds what rests from the open orders in the accounts, unless it is there.
    pub fn rebuild_if_lost(&mut self, accounts: &[(&Cown<Account>, &Account)]) {
        if self.resting.is_some() {
            return;
        }
        let mut resting = OrderBook::new();
        for (owner, account) in accounts {
            for order in account.open_orders().filter(|order| order.symbol == self.symbol) {
                let price = order.price.expect("a market order does not rest");
                let (id, quantity) = (order.id, order.left());
                let owner = (*owner).clone();
                resting.insert(order.side, Resting { id, owner, price, quantity });
            }
        }
        self.resting = Some(resting);
        self.publish(&[]);
    }

    /// Cancels an order in its account, and takes it out of the book.
    pub fn cancel(&mut self, account: &mut Account, id: OrderId) -> Result<Order, Error> {
        let order = account.cancel(id)?;
        // If what rests is lost, it is rebuilt without this order.
        if let (Some(resting), Some(price)) = (&mut self.resting, order.price) {
            resting.remove(order.side, price, id);
            self.publish(&[]);
        }
        Ok(order)
    }

    pub fn depth(&self, levels: usize) -> Depth {
        let depth = |resting: &OrderBook<_>, side| resting.depth(side, levels);
        let side = |side| self.resting.as_ref().map_or(Vec::new(), |resting| depth(resting, side));
        Depth { symbol: self.symbol.clone(), bids: side(Side::Buy), asks: side(Side::Sell) }
    }

    /// Tells the readers of the feed what has changed.
    fn publish(&mut self, trades: &[Trade]) {
        if let Some(resting) = &self.resting {
            self.publisher.publish(trades, resting.top());
        }
    }
}
