//! Matching against a matcher that is too simple to be wrong, and the cases that deserve a name.

use proptest::prelude::*;

use super::*;
use crate::rules::name::Symbol;
use crate::rules::order::NewOrder;

const OWNERS: usize = 4;
const CASH: u128 = 500;
const SHARES: u128 = 40;

fn acme() -> Symbol {
    "ACME".parse().unwrap()
}

fn account(owner: usize) -> Account {
    let mut account = Account::new(format!("owner-{owner}").parse().unwrap());
    account.deposit(&None, CASH as u64);
    account.deposit(&Some(acme()), SHARES as u64);
    account
}

/// A book, and the accounts by number.
struct Market {
    book: OrderBook<usize>,
    accounts: Vec<Account>,
    arrived: OrderId,
}

impl Market {
    fn new() -> Self {
        let accounts = (0..OWNERS).map(account).collect();
        Self { book: OrderBook::new(), accounts, arrived: 0 }
    }

    fn place(&mut self, owner: usize, new: NewOrder) -> Result<Execution, Error> {
        self.arrived += 1;
        let order = new.numbered(self.arrived);
        let planned = makers(&self.book, &order, &owner);
        let mut taker = None;
        let mut others = Vec::new();
        for (number, account) in self.accounts.iter_mut().enumerate() {
            match number == owner {
                true => taker = Some(account),
                false if planned.contains(&number) => others.push((number, account)),
                false => {}
            }
        }
        execute(&mut self.book, order, owner, taker.unwrap(), &mut others)
    }

    fn cancel(&mut self, owner: usize, id: OrderId) -> bool {
        let Ok(order) = self.accounts[owner].cancel(id) else { return false };
        self.book.remove(order.side, order.price.unwrap(), id).is_some()
    }

    /// All resting orders: those with priority first, and all buys first.
    fn resting(&self) -> Vec<(OrderId, usize, Cents, Shares)> {
        let orders = [Side::Buy, Side::Sell].into_iter().flat_map(|side| self.book.orders(side));
        orders.map(|order| (order.id, order.owner, order.price, order.quantity)).collect()
    }

    fn totals(&self) -> Vec<(u128, u128)> {
        let views = self.accounts.iter().map(Account::view);
        views.map(|view| (view.cash.total(), view.holdings[&acme()].total())).collect()
    }

    /// What is reserved is exactly what the resting orders may need.
    fn assert_reserved(&self) {
        for (owner, account) in self.accounts.iter().enumerate() {
            let own = |side| self.book.orders(side).filter(move |order| order.owner == owner);
            let cash = own(Side::Buy).map(|order| u128::from(order.price * order.quantity)).sum();
            let shares = own(Side::Sell).map(|order| u128::from(order.quantity)).sum();
            let view = account.view();
            assert_eq!((view.cash.reserved(), view.holdings[&acme()].reserved()), (cash, shares));
        }
    }
}

fn limit(side: Side, price: Cents, quantity: Shares) -> NewOrder {
    NewOrder { symbol: acme(), side, price: Some(price), quantity, client_id: None }
}

fn at_market(side: Side, quantity: Shares) -> NewOrder {
    NewOrder { symbol: acme(), side, price: None, quantity, client_id: None }
}

/// The reference: a list of orders in the order of arrival, and one share at a time.
#[derive(Default)]
struct Naive {
    orders: Vec<Open>,
    trades: Vec<(OrderId, OrderId, Cents)>,
}

struct Open {
    id: OrderId,
    owner: usize,
    side: Side,
    price: Cents,
    left: Shares,
}

impl Naive {
    /// What an account may spend: cash and shares.
    fn available(&self, totals: &[(i128, i128)], owner: usize) -> (i128, i128) {
        let own = |side| self.orders.iter().filter(move |o| o.owner == owner && o.side == side);
        let cash: i128 = own(Side::Buy).map(|o| i128::from(o.price * o.left)).sum();
        let shares: i128 = own(Side::Sell).map(|o| i128::from(o.left)).sum();
        (totals[owner].0 - cash, totals[owner].1 - shares)
    }

    /// The order that comes first for one that arrives: the best price, and the earliest of these.
    fn first(&self, side: Side, limit: Option<Cents>) -> Option<usize> {
        let accepts = |price| match (limit, side) {
            (None, _) => true,
            (Some(limit), Side::Buy) => price <= limit,
            (Some(limit), Side::Sell) => price >= limit,
        };
        let rank = |o: &Open| if side == Side::Buy { o.price } else { u64::MAX - o.price };
        let others = self.orders.iter().enumerate();
        let met = others.filter(|(_, o)| o.side != side && accepts(o.price));
        met.min_by_key(|(_, o)| rank(o)).map(|(index, _)| index)
    }

    /// Returns whether the order was accepted.
    fn place(
        &mut self,
        totals: &mut [(i128, i128)],
        id: OrderId,
        owner: usize,
        new: &NewOrder,
    ) -> bool {
        let (cash, shares) = self.available(totals, owner);
        let best = self.first(new.side, new.price).map_or(0, |best| self.orders[best].price);
        let is_good = match (new.side, new.price) {
            (Side::Sell, _) => shares >= i128::from(new.quantity),
            (Side::Buy, Some(limit)) => cash >= i128::from(limit * new.quantity),
            (Side::Buy, None) => cash >= i128::from(best),
        };
        if !is_good {
            return false;
        }
        let mut left = new.quantity;
        while left > 0
            && let Some(best) = self.first(new.side, new.price)
        {
            if self.orders[best].owner == owner {
                self.orders.remove(best);
                continue;
            }
            let price = self.orders[best].price;
            if new.side == Side::Buy && self.available(totals, owner).0 < i128::from(price) {
                break;
            }
            let maker = self.orders[best].owner;
            let (buyer, seller) =
                if new.side == Side::Buy { (owner, maker) } else { (maker, owner) };
            totals[buyer] = (totals[buyer].0 - i128::from(price), totals[buyer].1 + 1);
            totals[seller] = (totals[seller].0 + i128::from(price), totals[seller].1 - 1);
            self.trades.push((id, self.orders[best].id, price));
            left -= 1;
            self.orders[best].left -= 1;
            if self.orders[best].left == 0 {
                self.orders.remove(best);
            }
        }
        if let (Some(price), 1..) = (new.price, left) {
            self.orders.push(Open { id, owner, side: new.side, price, left });
        }
        true
    }

    fn resting(&self) -> Vec<(OrderId, usize, Cents, Shares)> {
        let mut orders: Vec<_> = self.orders.iter().collect();
        orders.sort_by_key(|o| match o.side {
            Side::Buy => (0, u64::MAX - o.price, o.id),
            Side::Sell => (1, o.price, o.id),
        });
        orders.into_iter().map(|o| (o.id, o.owner, o.price, o.left)).collect()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Place(usize, NewOrder),
    Cancel(usize, OrderId),
}

fn step() -> impl Strategy<Value = Step> {
    let side = prop_oneof![Just(Side::Buy), Just(Side::Sell)];
    let price = prop::option::weighted(0.8, 8u64..14);
    let place = (0..OWNERS, side, price, 1u64..12).prop_map(|(owner, side, price, quantity)| {
        let order = NewOrder { symbol: acme(), side, price, quantity, client_id: None };
        Step::Place(owner, order)
    });
    prop_oneof![5 => place, 1 => (0..OWNERS, 1u64..60).prop_map(|(owner, id)| Step::Cancel(owner, id))]
}

/// Carries out the same steps on both, and compares all that can be seen after each.
fn assert_matches_reference(steps: Vec<Step>) {
    let (mut market, mut naive) = (Market::new(), Naive::default());
    let mut totals = vec![(CASH as i128, SHARES as i128); OWNERS];
    for step in steps {
        match step {
            Step::Place(owner, new) => {
                let placed = market.place(owner, new.clone());
                let is_accepted = naive.place(&mut totals, market.arrived, owner, &new);
                assert_eq!(placed.is_ok(), is_accepted, "{placed:?}");
                let trades = placed.into_iter().flat_map(|execution| execution.trades);
                let shares = trades.flat_map(|trade| {
                    let share = (trade.taker, trade.maker, trade.price);
                    std::iter::repeat_n(share, trade.quantity as usize)
                });
                assert_eq!(shares.collect::<Vec<_>>(), std::mem::take(&mut naive.trades));
            }
            Step::Cancel(owner, id) => {
                let open = naive.orders.len();
                naive.orders.retain(|order| (order.id, order.owner) != (id, owner));
                assert_eq!(market.cancel(owner, id), naive.orders.len() < open);
            }
        }
        assert_eq!(market.resting(), naive.resting());
        let found =
            market.totals().into_iter().map(|(cash, shares)| (cash as i128, shares as i128));
        assert!(found.eq(totals.iter().copied()));
        market.assert_reserved();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_market_does_what_the_reference_does(steps in prop::collection::vec(step(), 0..60)) {
        assert_matches_reference(steps);
    }
}

#[test]
fn a_trade_is_at_the_price_in_the_book_and_the_difference_is_not_kept() {
    let mut market = Market::new();
    market.place(0, limit(Side::Sell, 10, 5)).unwrap();
    let Execution { order, trades } = market.place(1, limit(Side::Buy, 12, 8)).unwrap();
    assert_eq!((order.filled, order.status), (5, Status::Open));
    assert_eq!(trades.len(), 1);
    assert_eq!((trades[0].price, trades[0].quantity, trades[0].maker), (10, 5, 1));
    let buyer = market.accounts[1].view();
    assert_eq!((buyer.cash.total(), buyer.cash.reserved()), (CASH - 50, 36));
    assert_eq!(market.accounts[0].order(1).unwrap().status, Status::Filled);
}

#[test]
fn an_order_never_trades_with_its_own_account() {
    let mut market = Market::new();
    market.place(0, limit(Side::Sell, 10, 5)).unwrap();
    market.place(1, limit(Side::Sell, 11, 5)).unwrap();
    let trades = market.place(0, limit(Side::Buy, 11, 3)).unwrap().trades;
    assert_eq!(trades.iter().map(|trade| trade.maker).collect::<Vec<_>>(), [2]);
    assert_eq!(market.accounts[0].order(1).unwrap().status, Status::Cancelled);
    assert_eq!(market.accounts[0].view().holdings[&acme()].reserved(), 0);
}

#[test]
fn a_market_order_buys_what_the_cash_is_good_for_and_the_rest_lapses() {
    let mut market = Market::new();
    market.place(0, limit(Side::Sell, 90, 4)).unwrap();
    market.place(2, limit(Side::Sell, 200, 4)).unwrap();
    let Execution { order, .. } = market.place(1, at_market(Side::Buy, 10)).unwrap();
    // 4 at 90 leave 140, too little for one at 200.
    assert_eq!((order.filled, order.status), (4, Status::Lapsed));
    assert_eq!(market.accounts[1].view().cash.available(), CASH - 360);
    let refused = market.place(1, at_market(Side::Buy, 1)).unwrap_err();
    assert_eq!(refused.code(), "insufficient_funds");
}

#[test]
fn a_market_order_in_an_empty_book_lapses() {
    let Execution { order, trades } = Market::new().place(0, at_market(Side::Sell, 1)).unwrap();
    assert_eq!((order.status, trades.len()), (Status::Lapsed, 0));
}

#[test]
fn an_order_that_cannot_be_paid_changes_nothing() {
    let mut market = Market::new();
    market.place(0, limit(Side::Sell, 10, 5)).unwrap();
    let before = (market.resting(), market.totals());
    let (available, needed) = (CASH, 510);
    let account = "owner-1".parse().unwrap();
    let refused = market.place(1, limit(Side::Buy, 10, 51)).unwrap_err();
    assert_eq!(refused, Error::InsufficientFunds { account, available, needed });
    let refused = market.place(0, limit(Side::Sell, 10, 36)).unwrap_err();
    assert_eq!(refused.code(), "insufficient_shares", "five are reserved");
    assert_eq!((market.resting(), market.totals()), before);
}

#[test]
fn a_client_id_is_accepted_once() {
    let mut market = Market::new();
    let order = NewOrder { client_id: Some("mine".into()), ..limit(Side::Sell, 10, 1) };
    market.place(0, order.clone()).unwrap();
    assert_eq!(market.place(0, order.clone()).unwrap_err().code(), "duplicate_client_id");
    assert!(market.cancel(0, 1));
    assert_eq!(market.place(0, order.clone()).unwrap_err().code(), "duplicate_client_id");
    market.place(1, order).expect("another account has ids of its own");
}
