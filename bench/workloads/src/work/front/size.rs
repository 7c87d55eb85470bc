//! How much is requested, and which request is which.

use std::ops::Range;

use crate::program::Given;
use crate::random::mix;
use crate::work::bank::{Transfer, share};

/// Of this many requests one is for any account, the others for one of those that everybody wants.
const SKEW: u64 = 5;

/// How many accounts, tasks, and requests of all tasks.
#[derive(Clone, Copy)]
pub struct Size {
    /// Accounts.
    pub accounts: u64,
    /// The first of these, which most requests are for; all, if there are no such.
    pub wanted: u64,
    /// Tasks at the same time, each with an equal share of the requests.
    pub tasks: u64,
    /// Requests in all.
    pub requests: u64,
    /// Whether the tasks are connections of an HTTP server, and the requests come from clients.
    pub http: bool,
}

impl Size {
    /// As a program is told.
    pub fn of(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            accounts: given.number("accounts")?,
            wanted: given.number("wanted")?,
            tasks: given.number("tasks")?,
            requests: given.number("requests")?,
            http: given.number("http")? > 0,
        })
    }

    /// The numbers of the requests of a task.
    pub(super) fn share_of(self, task: u64) -> Range<u64> {
        share(self.requests, self.tasks, task)
    }

    pub(super) fn request(self, number: u64) -> Transfer {
        request(self.accounts, self.wanted, number)
    }
}

/// The same number is the same request, in every implementation.
pub fn request(accounts: u64, wanted: u64, number: u64) -> Transfer {
    Transfer::among(if mix(number).is_multiple_of(SKEW) { accounts } else { wanted }, number)
}
