//! Connections that transfers share, and the transfers that use them.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::JoinSet;

use crate::Setup;
use crate::measured::Begun;
use crate::transfer::choose;

/// As many connections as permits.
pub struct Pool<C> {
    free: Mutex<Vec<C>>,
    permits: Semaphore,
}

impl<C> Pool<C> {
    /// With these connections, all of which are free.
    pub fn new(connections: Vec<C>) -> Arc<Pool<C>> {
        let permits = Semaphore::new(connections.len());
        Arc::new(Pool { free: Mutex::new(connections), permits })
    }

    /// Waits for a free connection. It is given back with its permit.
    pub async fn take(&self) -> anyhow::Result<(C, SemaphorePermit<'_>)> {
        let permit = self.permits.acquire().await?;
        let connection = self.free().pop().context("as many connections as permits")?;
        Ok((connection, permit))
    }

    /// Gives a connection back.
    pub fn put(&self, connection: C, permit: SemaphorePermit<'_>) {
        self.free().push(connection);
        drop(permit);
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<C>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes all transfers, each a task. Returns what they took, as a line of JSON.
pub async fn transfer_all<F>(
    setup: &Setup,
    transfer: impl Fn((i64, i64, i64)) -> F,
) -> anyhow::Result<serde_json::Value>
where
    F: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let count = setup.count();
    let begun = Begun::now()?;
    let mut tasks = JoinSet::new();
    for number in 0..count {
        if tasks.len() >= setup.at_once
            && let Some(done) = tasks.join_next().await
        {
            done??;
        }
        tasks.spawn(transfer(choose(number, setup.accounts)));
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    begun.end(count)
}
