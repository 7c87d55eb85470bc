//! Orders: what a trader wants, and how far that is filled.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::name::Symbol;
use super::{Cents, Shares};

/// The highest price of an order and the most shares in one: their product fits into 64 bits.
pub const LIMIT: u64 = 1_000_000_000;

/// Orders are numbered in the order of their arrival. The number is their time priority.
pub type OrderId = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    Buy,
    Sell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It rests in the book.
    Open,
    Filled,
    /// By its owner, or because a later order of the same account would have traded with it.
    Cancelled,
    /// A market order that found no more to trade with.
    Lapsed,
}

/// What a trader asks for. Without a price it is a market order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewOrder {
    pub symbol: Symbol,
    pub side: Side,
    pub price: Option<Cents>,
    pub quantity: Shares,
    /// The trader's own name for it, which makes it safe to send it again.
    pub client_id: Option<Arc<str>>,
}

/// A value that no order can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    #[error("{field} must be from 1 to {limit}, not {value}")]
    OutOfRange { field: &'static str, value: u64, limit: u64 },
    #[error("a client id has 1 to 64 characters, not {0}")]
    ClientId(usize),
}

/// An order that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Order {
    pub id: OrderId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<Arc<str>>,
    pub symbol: Symbol,
    pub side: Side,
    /// The limit; None for a market order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Cents>,
    pub quantity: Shares,
    pub filled: Shares,
    pub status: Status,
}

impl Side {
    pub fn opposite(self) -> Self {
        match self {
            Self::Buy => Self::Sell,
            Self::Sell => Self::Buy,
        }
    }
}

impl NewOrder {
    /// Checks what can be checked without the account and the book.
    pub fn check(&self) -> Result<(), Invalid> {
        check_range("quantity", self.quantity)?;
        if let Some(price) = self.price {
            check_range("price", price)?;
        }
        match self.client_id.as_deref().map(|id| id.chars().count()) {
            Some(length) if !matches!(length, 1..=64) => Err(Invalid::ClientId(length)),
            _ => Ok(()),
        }
    }

    pub fn numbered(self, id: OrderId) -> Order {
        let Self { symbol, side, price, quantity, client_id } = self;
        Order { id, client_id, symbol, side, price, quantity, filled: 0, status: Status::Open }
    }
}

impl Order {
    /// The shares that are still to be traded.
    pub fn left(&self) -> Shares {
        self.quantity - self.filled
    }

    /// Whether it trades with an order at this price on the other side.
    pub fn accepts(&self, price: Cents) -> bool {
        match (self.price, self.side) {
            (None, _) => true,
            (Some(limit), Side::Buy) => price <= limit,
            (Some(limit), Side::Sell) => price >= limit,
        }
    }

    /// Counts shares as traded.
    pub fn fill(&mut self, quantity: Shares) {
        self.filled += quantity;
        if self.left() == 0 {
            self.status = Status::Filled;
        }
    }
}

/// Checks an amount that a client has chosen.
pub fn check_range(field: &'static str, value: u64) -> Result<(), Invalid> {
    match value {
        1..=LIMIT => Ok(()),
        value => Err(Invalid::OutOfRange { field, value, limit: LIMIT }),
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Filled => "filled",
            Self::Cancelled => "cancelled",
            Self::Lapsed => "lapsed",
        })
    }
}
