//! Queues of requests on headers: appending, granting, leaving. A protocol that never runs code of the user; README.md has it.

pub(crate) mod alert;
pub(crate) mod append;
pub(crate) mod claim;
pub(crate) mod counts;
mod flags;
pub(crate) mod grant;
pub(crate) mod guard;
pub(crate) mod header;
pub(crate) mod last;
pub(crate) mod leader;
pub(crate) mod multi;
pub(crate) mod overload;
pub(crate) mod release;
pub(crate) mod ring;
pub(crate) mod single;
pub(crate) mod slot;
mod standing;
