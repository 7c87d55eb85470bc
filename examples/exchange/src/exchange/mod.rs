//! The exchange on Coact: accounts are cowns, and each symbol has a book, which is a supervised
//! actor.
//!
//! * An order is one atomic step over its book, its account and the accounts that it trades with:
//!   [`book`].
//! * A book that fails is made anew from the open orders in the accounts: [`cut`], [`book`].
//! * What happens in a book is told to any number of readers, which cannot slow it down: [`feed`].
//!
//! [`Exchange`] is what the server and the demonstration use.

pub mod book;
mod counter;
pub mod cut;
pub mod directory;
pub mod feed;
mod market;
#[cfg(test)]
mod simulation;
pub mod snapshot;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use coact::call_here;
use coact::prelude::*;
use coact::stream::ActorStream;
use coact::supervise::Supervisor;

use crate::rules::account::{Account, AccountView, Asset};
use crate::rules::error::Error;
use crate::rules::matching::Execution;
use crate::rules::name::{Name, Symbol};
use crate::rules::order::{NewOrder, Order, OrderId, check_range};

use book::Depth;
use book::actor::{Place, ShowDepth};
use counter::Counter;
use directory::Directory;
use feed::Update;
use market::Market;
use snapshot::Snapshot;

/// How often books may fail before the exchange gives up.
const RESTARTS: u32 = 10;
const WITHIN: Duration = Duration::from_secs(10);

/// A handle of the exchange. Clones are cheap.
#[derive(Clone)]
pub struct Exchange(Arc<Inner>);

struct Inner {
    accounts: Cown<Directory>,
    markets: BTreeMap<Symbol, Market>,
    /// Keeps the books running.
    supervisor: Supervisor,
}

impl Exchange {
    /// Opens an exchange for these symbols on the current runtime.
    pub fn open(symbols: impl IntoIterator<Item = Symbol>) -> Self {
        let accounts = Cown::new(Directory::default());
        let orders = Counter::default();
        let mut tree = Supervisor::one_for_one().intensity(RESTARTS, WITHIN);
        let open = |symbol: Symbol| {
            let market = Market::open(&mut tree, symbol.clone(), &accounts, &orders);
            (symbol, market)
        };
        let symbols = symbols.into_iter().collect::<BTreeSet<_>>();
        let markets = symbols.into_iter().map(open).collect();
        let supervisor = tree.spawn();
        Self(Arc::new(Inner { accounts, markets, supervisor }))
    }

    pub fn symbols(&self) -> impl Iterator<Item = &Symbol> {
        self.0.markets.keys()
    }

    pub async fn open_account(&self, name: Name) -> Result<(), Error> {
        let account = Account::new(name);
        let opened = call_here(&self.0.accounts, move |accounts| accounts.add(account));
        opened.await.map_err(|_| Error::Closed)?
    }

    pub async fn deposit(&self, name: &Name, asset: Asset, amount: u64) -> Result<(), Error> {
        self.check_movement(&asset, amount)?;
        self.change(name, move |account| {
            account.deposit(&asset, amount);
            Ok(())
        })
        .await
    }

    pub async fn withdraw(&self, name: &Name, asset: Asset, amount: u64) -> Result<(), Error> {
        self.check_movement(&asset, amount)?;
        self.change(name, move |account| account.withdraw(&asset, amount)).await
    }

    pub async fn account(&self, name: &Name) -> Result<AccountView, Error> {
        self.read(name, |account| Ok(account.view())).await
    }

    pub async fn order(&self, name: &Name, id: OrderId) -> Result<Order, Error> {
        self.read(name, move |account| account.order(id).cloned()).await
    }

    /// Places an order. The answer comes when it has been matched.
    pub async fn place(&self, name: &Name, order: NewOrder) -> Result<Execution, Error> {
        order.check()?;
        let market = self.market(&order.symbol)?;
        let account = self.find(name).await?;
        let placed = market.book.ask(Place { order, name: name.clone(), account }).await;
        placed.map_err(|why| market.unanswered(why))?
    }

    /// Cancels what is left of an order. It does not wait for orders that have arrived and are not
    /// matched yet.
    pub async fn cancel(&self, name: &Name, id: OrderId) -> Result<Order, Error> {
        let account = self.find(name).await?;
        let symbol = self.order(name, id).await?.symbol;
        let book = &self.market(&symbol)?.book;
        let cancelled = call((book, &account), move |(book, account)| book.cancel(account, id));
        cancelled.await.map_err(|why| frozen_or_closed(name, why))?
    }

    pub async fn depth(&self, symbol: &Symbol, levels: usize) -> Result<Depth, Error> {
        let market = self.market(symbol)?;
        market.book.ask(ShowDepth { levels }).await.map_err(|why| market.unanswered(why))
    }

    /// All accounts and all books at one moment.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let books = self.0.markets.values().map(|market| market.book.clone()).collect();
        let (resolver, snapshot) = Promise::channel();
        cut::cut(&self.0.accounts, books, move |cut| resolver.resolve(Snapshot::copy(&cut)));
        snapshot.await.map_err(|_| Error::Closed)
    }

    /// The trades and prices of a symbol. A reader that is slow misses some, and is told how many.
    pub fn updates(&self, symbol: &Symbol) -> Result<ActorStream<Update>, Error> {
        Ok(self.market(symbol)?.feed.stream_buffered(feed::BUFFER))
    }

    /// Ends all streams of updates, so that their readers can leave.
    pub fn end_updates(&self) {
        for market in self.0.markets.values() {
            // A feed that has ended has no readers.
            let _ = market.feed.stop();
        }
    }

    /// The supervisor of the books.
    pub fn supervisor(&self) -> &Supervisor {
        &self.0.supervisor
    }

    fn market(&self, symbol: &Symbol) -> Result<&Market, Error> {
        self.0.markets.get(symbol).ok_or_else(|| Error::UnknownSymbol(symbol.clone()))
    }

    async fn find(&self, name: &Name) -> Result<Cown<Account>, Error> {
        let wanted = name.clone();
        let found = call_here(self.0.accounts.read(), move |accounts| accounts.find(&wanted));
        found.await.map_err(|_| Error::Closed)?
    }

    async fn change(
        &self,
        name: &Name,
        change: impl FnOnce(&mut Account) -> Result<(), Error> + Send + 'static,
    ) -> Result<(), Error> {
        let account = self.find(name).await?;
        call_here(&account, change).await.map_err(|why| frozen_or_closed(name, why))?
    }

    async fn read<R: Send + 'static>(
        &self,
        name: &Name,
        read: impl FnOnce(&Account) -> Result<R, Error> + Send + 'static,
    ) -> Result<R, Error> {
        let account = self.find(name).await?;
        call_here(account.read(), read).await.map_err(|why| frozen_or_closed(name, why))?
    }

    fn check_movement(&self, asset: &Asset, amount: u64) -> Result<(), Error> {
        if let Some(symbol) = asset {
            self.market(symbol)?;
        }
        Ok(check_range("amount", amount)?)
    }
}

/// Why a step over an account was not taken. A panic in one poisons the account, which is frozen
/// from then on.
fn frozen_or_closed(name: &Name, why: Broken) -> Error {
    match why {
        Broken::Panicked(_) | Broken::Poisoned { .. } => Error::Frozen(name.clone()),
        _ => Error::Closed,
    }
}
