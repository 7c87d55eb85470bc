//! How an order meets a book: the one place where cash and shares change hands.

use serde::Serialize;

use super::account::Account;
use super::error::Error;
use super::order::{Order, OrderId, Side, Status};
use super::order_book::{OrderBook, Resting};
use super::{Cents, Shares};

/// Shares that have changed hands, at the price of the order that was in the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Trade {
    pub price: Cents,
    pub quantity: Shares,
    /// The side of the order that arrived.
    pub side: Side,
    /// The order that arrived.
    pub taker: OrderId,
    /// The order that was in the book.
    pub maker: OrderId,
}

/// The outcome of an order that arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Execution {
    pub order: Order,
    pub trades: Vec<Trade>,
}

/// The accounts that an order may trade with, by the names that the book has for them.
pub type Makers<'a, A> = Vec<(A, &'a mut Account)>;

/// The accounts that an order may trade with, each once. Its own is not among them.
pub fn makers<A: Clone + PartialEq>(book: &OrderBook<A>, order: &Order, owner: &A) -> Vec<A> {
    let (mut left, mut makers) = (order.left(), Vec::new());
    for resting in book.orders(order.side.opposite()) {
        if left == 0 || !order.accepts(resting.price) {
            break;
        }
        if resting.owner == *owner {
            continue;
        }
        left = left.saturating_sub(resting.quantity);
        if !makers.contains(&resting.owner) {
            makers.push(resting.owner.clone());
        }
    }
    makers
}

/// Trades an order that has arrived with what rests in the book, best price first and earliest
/// order first. What is left of a limit order rests in the book; what is left of a market order
/// lapses.
///
/// An order does not trade with one of its own account: the one in the book is cancelled.
///
/// # Errors
/// The account cannot pay for the order, or has one by its client id. Nothing is changed then.
///
/// # Panics
/// If an account is missing that [`makers`] names.
pub fn execute<A: PartialEq>(
    book: &mut OrderBook<A>,
    mut order: Order,
    owner: A,
    account: &mut Account,
    makers: &mut Makers<'_, A>,
) -> Result<Execution, Error> {
    account.check(&order, book.next_for(&order).map(|best| best.price))?;
    let mut trades = Vec::new();
    while order.left() > 0
        && let Some(best) = book.next_for(&order)
    {
        if best.owner == owner {
            account.cancel(best.id).expect("what rests in the book is open");
            book.take_best(order.side.opposite());
            continue;
        }
        let (price, maker_id) = (best.price, best.id);
        let quantity = account.affordable(&order, price).min(best.quantity);
        if quantity == 0 {
            break;
        }
        let maker = makers.iter_mut().find(|(maker, _)| *maker == best.owner);
        let (_, maker) = maker.expect("each account that the order meets is planned");
        maker.trade_open(maker_id, quantity, price);
        account.trade(&mut order, quantity, price);
        book.fill_best(order.side.opposite(), quantity);
        let Order { side, id: taker, .. } = order;
        trades.push(Trade { price, quantity, side, taker, maker: maker_id });
    }
    finish(book, &mut order, owner, account);
    Ok(Execution { order, trades })
}

/// Decides what becomes of the rest of an order.
fn finish<A>(book: &mut OrderBook<A>, order: &mut Order, owner: A, account: &mut Account) {
    match (order.left(), order.price) {
        (0, _) => account.keep(order.clone()),
        (quantity, Some(price)) => {
            book.insert(order.side, Resting { id: order.id, owner, price, quantity });
            account.open(order.clone());
        }
        (_, None) => {
            order.status = Status::Lapsed;
            account.keep(order.clone());
        }
    }
}

#[cfg(test)]
mod tests;
