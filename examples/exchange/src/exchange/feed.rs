//! Market data: what happens in a book, as a stream for any number of readers.
//!
//! The book publishes to a topic, and the feed passes on to each reader as much as that has room
//! for. So a slow reader costs the book nothing, and the memory for it is bounded: it misses
//! updates, and the next one says how many.

use std::collections::BTreeMap;

use coact::Context;
use coact::prelude::*;
use coact::pubsub::Topic;
use coact::stream::{ConsumerGone, Demand, StreamId};
use serde::Serialize;

use crate::rules::matching::Trade;
use crate::rules::name::Symbol;
use crate::rules::order_book::Top;

use super::counter::Counter;

/// How many updates are kept for a reader.
pub const BUFFER: usize = 64;

/// Something that has happened in a book.
#[derive(Clone, Debug, PartialEq, Eq, Message, Serialize)]
pub struct Update {
    pub symbol: Symbol,
    /// Counts the updates of the symbol.
    pub number: u64,
    /// The updates before this one that the reader was too slow for.
    #[serde(skip_serializing_if = "is_zero")]
    pub missed: u64,
    #[serde(flatten)]
    pub event: Event,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    Trade(Trade),
    /// The best prices have changed.
    Top(Top),
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What a book publishes with.
pub struct Publisher {
    symbol: Symbol,
    numbers: Counter,
    topic: Topic<Update>,
    /// None before the first: what an earlier publisher has told last is not known.
    top: Option<Top>,
}

impl Publisher {
    /// The numbers go on where an earlier publisher has stopped.
    pub fn new(symbol: Symbol, numbers: Counter, topic: Topic<Update>) -> Self {
        Self { symbol, numbers, topic, top: None }
    }

    /// Publishes trades, and the best prices if they have changed.
    pub fn publish(&mut self, trades: &[Trade], top: Top) {
        for trade in trades {
            self.send(Event::Trade(*trade));
        }
        if self.top != Some(top) {
            self.top = Some(top);
            self.send(Event::Top(top));
        }
    }

    fn send(&self, event: Event) {
        let (symbol, number) = (self.symbol.clone(), self.numbers.next());
        self.topic.publish(Update { symbol, number, missed: 0, event });
    }
}

/// Passes the updates of one symbol on to their readers.
#[derive(Default)]
pub struct Feed {
    /// The latest update of the best prices, with the number of the latest update of all.
    latest: Option<Update>,
    readers: BTreeMap<StreamId, Reader>,
}

struct Reader {
    /// The right to push some updates.
    demand: Demand<Update>,
    /// The number of the last update that it got.
    seen: u64,
}

impl Reader {
    /// Pushes an update, if there is room.
    fn push(&mut self, mut update: Update) {
        let number = update.number;
        update.missed = number.saturating_sub(self.seen + 1);
        if self.demand.push(update).is_ok() {
            self.seen = number;
        }
    }
}

impl Feed {
    #[cfg(test)]
    pub fn readers(&self) -> usize {
        self.readers.len()
    }
}

impl Actor for Feed {}

impl Handler<Update> for Feed {
    fn handle(&mut self, update: Update, _: &mut Context<Self>) {
        for reader in self.readers.values_mut() {
            reader.push(update.clone());
        }
        match (&mut self.latest, update.event) {
            (Some(latest), Event::Trade(_)) => latest.number = update.number,
            _ => self.latest = Some(update),
        }
    }
}

/// A reader has room: it begins, or goes on after a pause.
impl Handler<Demand<Update>> for Feed {
    fn handle(&mut self, demand: Demand<Update>, context: &mut Context<Self>) {
        context.watch_consumer(&demand);
        let known = self.readers.get(&demand.stream()).map(|reader| reader.seen);
        let latest = self.latest.as_ref().map_or(0, |latest| latest.number);
        let is_behind = known.is_none_or(|seen| seen < latest);
        let mut reader = Reader { demand, seen: known.unwrap_or(latest) };
        if let Some(latest) = self.latest.clone().filter(|_| is_behind) {
            reader.push(latest);
        }
        self.readers.insert(reader.demand.stream(), reader);
    }
}

impl Handler<ConsumerGone> for Feed {
    fn handle(&mut self, gone: ConsumerGone, _: &mut Context<Self>) {
        self.readers.remove(&gone.stream);
    }
}
