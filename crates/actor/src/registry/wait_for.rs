//! Waiting for a name.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use coact_core::Promise;
use coact_core::internals::{owed_by, wait_as};

use crate::lookup_error::LookupError;

use super::table::{NameTable, OnRegistered};
use crate::any_addr::AnyAddr;
use crate::block_on::AWAIT;
use crate::parts::{Actor, Addr};

type LookupResult<A> = Result<Addr<A>, LookupError>;

/// A wait for an actor of some name: what [`wait_for`](crate::registry::wait_for) returns.
///
/// Awaited, or [waited](Self::wait) for on a plain thread, it returns the address, or
/// [`LookupError::OtherType`] if an actor of another type takes the name. Dropping it ends the
/// wait. The actor may have ended by the time the address is used.
///
/// The wait has no limit, and continues even if the runtime is shut down: for a limit, use
/// [`wait_timeout`](Self::wait_timeout).
#[must_use = "it does nothing unless it is awaited or waited for"]
pub struct WaitFor<A: Actor> {
    found: Promise<LookupResult<A>>,
    /// Dropped with the wait.
    ticket: Option<WaitTicket>,
}

/// A position among those that wait for a name.
struct WaitTicket {
    table: &'static NameTable,
    name: Box<str>,
    number: u64,
}

impl Drop for WaitTicket {
    fn drop(&mut self) {
        self.table.give_up(&self.name, self.number);
    }
}

impl<A: Actor> WaitFor<A> {
    pub(super) fn new(table: &'static NameTable, name: &str) -> Self {
        let (resolver, promise) = Promise::channel();
        owed_by(&promise, |f| f.write_str("an actor with a name"));
        let wanted: Box<str> = name.into();
        let tell = move |address: &dyn Any, any: &AnyAddr| {
            let address = address.downcast_ref::<Addr<A>>().cloned();
            let found =
                address.ok_or_else(|| LookupError::other_type::<A>(wanted, any.type_name()));
            resolver.resolve(found);
        };
        match table.find_or_wait(name, || Box::new(tell) as OnRegistered) {
            Ok(found) => Self { found: Promise::ready(found), ticket: None },
            Err(number) => Self {
                found: promise,
                ticket: Some(WaitTicket { table, name: name.into(), number }),
            },
        }
    }

    /// Blocks the calling thread until an actor has the name.
    ///
    /// # Errors
    /// Fails if it is one of another type.
    ///
    /// # Panics
    /// Panics inside a behaviour, a handler or a future: see [`Promise::wait`].
    #[track_caller]
    pub fn wait(self) -> Result<Addr<A>, LookupError> {
        let Self { found, ticket: _ticket } = self;
        let found = wait_as(found, "`WaitFor::wait`", AWAIT);
        found.unwrap_or(Err(LookupError::Unknown))
    }

    /// Waits like [`wait`](Self::wait), for at most `timeout`.
    ///
    /// # Errors
    /// Returns [`LookupError::Unknown`] if the time is over; otherwise see [`wait`](Self::wait).
    ///
    /// # Panics
    /// See [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout(self, timeout: Duration) -> Result<Addr<A>, LookupError> {
        let Self { found, ticket: _ticket } = self;
        let found = found.wait_timeout(timeout);
        found.map_or(Err(LookupError::Unknown), |found| found.unwrap_or(Err(LookupError::Unknown)))
    }
}

impl<A: Actor> Future for WaitFor<A> {
    type Output = Result<Addr<A>, LookupError>;

    /// # Panics
    /// Panics if polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let found = Pin::new(&mut self.found).poll(context);
        found.map(|found| found.unwrap_or(Err(LookupError::Unknown)))
    }
}

impl<A: Actor> fmt::Debug for WaitFor<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.ticket.as_ref().map(|ticket| &ticket.name);
        f.debug_struct("WaitFor").field("waits_for", &name).finish_non_exhaustive()
    }
}
