//! A trader: knows what it wants by chance, and waits for each answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::exchange::Exchange;
use crate::rules::error::Error;
use crate::rules::name::{Name, Symbol};
use crate::rules::order::{NewOrder, OrderId, Side, Status};

use super::random::Random;
use super::tally::Tally;

/// What a trader begins with: cash, and shares of each symbol.
pub const CASH: u64 = 100_000;
pub const SHARES: u64 = 100;

/// What a share is worth, in cents, and how far from that traders go at most.
const WORTH: u64 = 1_000;
const SPREAD: u64 = 20;

pub struct Trader {
    exchange: Exchange,
    symbols: Vec<Symbol>,
    number: u64,
    random: Random,
    /// Orders that were open when they were placed.
    open: Vec<OrderId>,
}

impl Trader {
    pub fn new(exchange: Exchange, symbols: Vec<Symbol>, number: u64, random: Random) -> Self {
        Self { exchange, symbols, number, random, open: Vec::new() }
    }

    /// Opens an account, and places orders.
    pub async fn trade(mut self, orders: u64, placed: Arc<AtomicU64>) -> Result<Tally, Error> {
        let name = self.open_account().await?;
        let mut tally = Tally::default();
        for _ in 0..orders {
            let is_accepted = self.place(&name, &mut tally).await?;
            placed.fetch_add(1, Ordering::Relaxed);
            // What an open order has reserved is missing elsewhere.
            if !is_accepted || self.random.percent(15) {
                self.cancel(&name, &mut tally).await?;
            }
        }
        Ok(tally)
    }

    async fn open_account(&self) -> Result<Name, Error> {
        let name = format!("trader-{}", self.number);
        let name: Name = name.parse().expect("letters and digits");
        self.exchange.open_account(name.clone()).await?;
        self.exchange.deposit(&name, None, CASH).await?;
        for symbol in &self.symbols {
            self.exchange.deposit(&name, Some(symbol.clone()), SHARES).await?;
        }
        Ok(name)
    }

    /// Returns whether the account could pay for the order.
    async fn place(&mut self, name: &Name, tally: &mut Tally) -> Result<bool, Error> {
        let order = self.wish();
        let start = Instant::now();
        let placed = self.exchange.place(name, order).await;
        tally.latencies.push(start.elapsed());
        match placed {
            Ok(execution) => {
                if execution.order.status == Status::Open {
                    self.open.push(execution.order.id);
                }
                tally.accepted(&execution);
                Ok(true)
            }
            Err(Error::InsufficientFunds { .. } | Error::InsufficientShares { .. }) => {
                tally.refused += 1;
                Ok(false)
            }
            Err(other) => Err(other),
        }
    }

    fn wish(&mut self) -> NewOrder {
        let symbol = self.symbols[self.random.below(self.symbols.len() as u64) as usize].clone();
        let side = if self.random.percent(50) { Side::Buy } else { Side::Sell };
        let price = WORTH - SPREAD + self.random.below(2 * SPREAD + 1);
        let price = (!self.random.percent(10)).then_some(price);
        NewOrder { symbol, side, price, quantity: 1 + self.random.below(10), client_id: None }
    }

    /// Cancels one of the orders that were open. It may be filled by now.
    async fn cancel(&mut self, name: &Name, tally: &mut Tally) -> Result<(), Error> {
        if self.open.is_empty() {
            return Ok(());
        }
        let chosen = self.random.below(self.open.len() as u64) as usize;
        match self.exchange.cancel(name, self.open.swap_remove(chosen)).await {
            Ok(_) => tally.cancelled += 1,
            // One that was filled long ago is forgotten.
            Err(Error::NotOpen { .. } | Error::UnknownOrder { .. }) => {}
            Err(other) => return Err(other),
        }
        Ok(())
    }
}
