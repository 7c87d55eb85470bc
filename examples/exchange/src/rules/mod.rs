//! The rules of the exchange: accounts, orders, books, and how they meet. Nothing here knows Coact.

pub mod account;
pub mod balance;
pub mod error;
pub mod matching;
pub mod name;
pub mod order;
pub mod order_book;

/// Whole cents.
pub type Cents = u64;

/// Whole shares.
pub type Shares = u64;
