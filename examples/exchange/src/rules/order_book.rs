//! The open orders of one symbol, by price and time.

use std::collections::BTreeMap;

use serde::Serialize;

use super::order::{Order, OrderId, Side};
use super::{Cents, Shares};

/// Two ladders of resting orders. `A` is how the book names the accounts that own them.
pub struct OrderBook<A> {
    bids: Ladder<A>,
    asks: Ladder<A>,
}

/// An order that waits in the book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resting<A> {
    pub id: OrderId,
    pub owner: A,
    pub price: Cents,
    pub quantity: Shares,
}

/// What the orders of one price add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Level {
    pub price: Cents,
    pub quantity: Shares,
    pub orders: usize,
}

/// The best price of each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Top {
    pub bid: Option<Level>,
    pub ask: Option<Level>,
}

/// The orders of one side. The key is their priority: the better price comes first, and of two
/// orders at one price the earlier one.
type Ladder<A> = BTreeMap<(u64, OrderId), Resting<A>>;

/// A low rank is a good price.
fn rank(side: Side, price: Cents) -> u64 {
    match side {
        Side::Buy => u64::MAX - price,
        Side::Sell => price,
    }
}

impl<A> OrderBook<A> {
    pub fn new() -> Self {
        Self { bids: Ladder::new(), asks: Ladder::new() }
    }

    pub fn insert(&mut self, side: Side, order: Resting<A>) {
        let key = (rank(side, order.price), order.id);
        self.ladder_mut(side).insert(key, order);
    }

    pub fn remove(&mut self, side: Side, price: Cents, id: OrderId) -> Option<Resting<A>> {
        self.ladder_mut(side).remove(&(rank(side, price), id))
    }

    /// Removes all orders of an account.
    pub fn remove_all(&mut self, owner: &A)
    where
        A: PartialEq,
    {
        for ladder in [&mut self.bids, &mut self.asks] {
            ladder.retain(|_, order| order.owner != *owner);
        }
    }

    /// The orders of one side, those with priority first.
    pub fn orders(&self, side: Side) -> impl Iterator<Item = &Resting<A>> {
        self.ladder(side).values()
    }

    pub fn best(&self, side: Side) -> Option<&Resting<A>> {
        self.ladder(side).values().next()
    }

    /// The best resting order, if this one trades with it.
    pub fn next_for(&self, order: &Order) -> Option<&Resting<A>> {
        self.best(order.side.opposite()).filter(|best| order.accepts(best.price))
    }

    pub fn take_best(&mut self, side: Side) -> Option<Resting<A>> {
        self.ladder_mut(side).pop_first().map(|(_, order)| order)
    }

    /// Takes shares from the best order of a side. One that has none left leaves the book.
    pub fn fill_best(&mut self, side: Side, quantity: Shares) {
        let Some(mut best) = self.ladder_mut(side).first_entry() else { return };
        best.get_mut().quantity -= quantity;
        if best.get().quantity == 0 {
            best.remove();
        }
    }

    /// The best price levels of one side.
    pub fn depth(&self, side: Side, levels: usize) -> Vec<Level> {
        let mut depth: Vec<Level> = Vec::new();
        for Resting { price, quantity, .. } in self.orders(side) {
            if let Some(last) = depth.last_mut()
                && last.price == *price
            {
                last.quantity += quantity;
                last.orders += 1;
                continue;
            }
            if depth.len() == levels {
                break;
            }
            depth.push(Level { price: *price, quantity: *quantity, orders: 1 });
        }
        depth
    }

    pub fn top(&self) -> Top {
        let best = |side| self.depth(side, 1).pop();
        Top { bid: best(Side::Buy), ask: best(Side::Sell) }
    }

    fn ladder(&self, side: Side) -> &Ladder<A> {
        match side {
            Side::Buy => &self.bids,
            Side::Sell => &self.asks,
        }
    }

    fn ladder_mut(&mut self, side: Side) -> &mut Ladder<A> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(bids: &[(OrderId, Cents, Shares)]) -> OrderBook<()> {
        let mut book = OrderBook::new();
        for &(id, price, quantity) in bids {
            book.insert(Side::Buy, Resting { id, owner: (), price, quantity });
        }
        book
    }

    fn ids(book: &OrderBook<()>, side: Side) -> Vec<OrderId> {
        book.orders(side).map(|order| order.id).collect()
    }

    #[test]
    fn the_best_price_comes_first_and_then_the_earliest() {
        let mut book = book(&[(1, 10, 5), (2, 12, 5), (3, 12, 5), (4, 9, 5)]);
        assert_eq!(ids(&book, Side::Buy), [2, 3, 1, 4]);
        for (id, price) in [(5, 20), (6, 18), (7, 18)] {
            book.insert(Side::Sell, Resting { id, owner: (), price, quantity: 1 });
        }
        assert_eq!(ids(&book, Side::Sell), [6, 7, 5]);
    }

    #[test]
    fn an_order_that_is_partly_filled_keeps_its_place() {
        let mut book = book(&[(1, 10, 5), (2, 10, 5)]);
        book.fill_best(Side::Buy, 4);
        assert_eq!(book.best(Side::Buy).map(|best| (best.id, best.quantity)), Some((1, 1)));
        book.fill_best(Side::Buy, 1);
        assert_eq!(ids(&book, Side::Buy), [2]);
    }

    #[test]
    fn depth_adds_up_the_orders_of_a_price() {
        let book = book(&[(1, 10, 5), (2, 12, 1), (3, 12, 2), (4, 9, 7)]);
        let level = |price, quantity, orders| Level { price, quantity, orders };
        assert_eq!(book.depth(Side::Buy, 2), [level(12, 3, 2), level(10, 5, 1)]);
        assert_eq!(book.top(), Top { bid: Some(level(12, 3, 2)), ask: None });
        assert_eq!(book.depth(Side::Buy, 0), []);
    }

    #[test]
    fn an_order_is_removed_once() {
        let mut book = book(&[(1, 10, 5)]);
        assert!(book.remove(Side::Buy, 10, 2).is_none());
        assert!(book.remove(Side::Buy, 10, 1).is_some());
        assert!(book.remove(Side::Buy, 10, 1).is_none());
    }
}
