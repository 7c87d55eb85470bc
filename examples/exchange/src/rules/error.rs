//! Why the exchange refuses a request. Each reason names what is at fault.

use std::sync::Arc;

use super::name::{Name, Symbol};
use super::order::{Invalid, OrderId, Status};

/// A request that changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("there is an account `{0}` already")]
    AccountExists(Name),
    #[error("there is no account `{0}`")]
    UnknownAccount(Name),
    #[error("`{0}` is not traded here")]
    UnknownSymbol(Symbol),
    #[error("account `{account}` has no order {id}")]
    UnknownOrder { account: Name, id: OrderId },
    #[error("order {id} is {status} and can no longer be cancelled")]
    NotOpen { id: OrderId, status: Status },
    #[error("account `{account}` has an order with the client id `{client_id}` already")]
    DuplicateClientId { account: Name, client_id: Arc<str> },
    #[error("account `{account}` has {available} cents available, and {needed} are needed")]
    InsufficientFunds { account: Name, available: u128, needed: u128 },
    #[error("account `{account}` has {available} {symbol} available, and {needed} are needed")]
    InsufficientShares { account: Name, symbol: Symbol, available: u128, needed: u128 },
    #[error("account `{0}` is frozen: an internal error may have left it half changed")]
    Frozen(Name),
    #[error("the book of {0} has too many orders waiting: try again")]
    Busy(Symbol),
    #[error("the book of {0} was restarted, and the order was not placed: try again")]
    Restarted(Symbol),
    #[error("the exchange is closed")]
    Closed,
}

impl Error {
    /// The reason as one word, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid(Invalid::OutOfRange { .. }) => "out_of_range",
            Self::Invalid(Invalid::ClientId(_)) => "bad_client_id",
            Self::AccountExists(_) => "account_exists",
            Self::UnknownAccount(_) => "unknown_account",
            Self::UnknownSymbol(_) => "unknown_symbol",
            Self::UnknownOrder { .. } => "unknown_order",
            Self::NotOpen { .. } => "not_open",
            Self::DuplicateClientId { .. } => "duplicate_client_id",
            Self::InsufficientFunds { .. } => "insufficient_funds",
            Self::InsufficientShares { .. } => "insufficient_shares",
            Self::Frozen(_) => "account_frozen",
            Self::Busy(_) => "busy",
            Self::Restarted(_) => "book_restarted",
            Self::Closed => "closed",
        }
    }
}
