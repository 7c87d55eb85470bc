//! What belongs to one symbol: its book and its feed.

use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::pubsub::Topic;
use coact::supervise::{Tree, permanent, transient};

use crate::rules::error::Error;
use crate::rules::name::Symbol;

use super::book::Book;
use super::counter::Counter;
use super::directory::Directory;
use super::feed::{Feed, Publisher};

/// Updates that wait for a feed. Beyond that, its readers miss the oldest.
const UPDATES: usize = 10_000;

pub struct Market {
    pub symbol: Symbol,
    pub book: Addr<Book>,
    pub feed: Addr<Feed>,
}

impl Market {
    /// Adds a book and a feed to the supervisor's children.
    pub fn open(
        tree: &mut Tree,
        symbol: Symbol,
        accounts: &Cown<Directory>,
        orders: &Counter,
    ) -> Self {
        // A feed that is told to stop stays down: that is how its readers are sent home.
        let feed = transient(Feed::default).name(format!("feed of {symbol}"));
        let feed = tree.child(feed.mailbox(Mailbox::bounded(UPDATES).drop_oldest()));
        let updates = Topic::new();
        updates.subscribe(feed.clone()).keep();

        let (accounts, orders, numbers) = (accounts.clone(), orders.clone(), Counter::default());
        let name = symbol.clone();
        let make = move || {
            let publisher = Publisher::new(name.clone(), numbers.clone(), updates.clone());
            Book::new(name.clone(), accounts.clone(), orders.clone(), publisher)
        };
        let book = tree.child(permanent(make).name(format!("book of {symbol}")));
        Self { symbol, book, feed }
    }

    /// Why the book did not answer.
    pub fn unanswered(&self, why: AskError) -> Error {
        match why {
            AskError::Stopped(_) | AskError::Cancelled => Error::Closed,
            _ => Error::Restarted(self.symbol.clone()),
        }
    }
}
