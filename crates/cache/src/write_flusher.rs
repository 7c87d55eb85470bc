//! The flusher of a write queue: a future that writes one batch after the other while any wait.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use coact_core::Broken;
use coact_core::internals::drop_quietly;
use coact_core::runtime::{RuntimeHandle, spawn_future};
use coact_core::time::sleep;

use crate::backing::Write;
use crate::catch_panic::{CatchPanic, within};
use crate::errors::{BackingError, WriteError};
use crate::key_value::{Key, Value};
use crate::write_queue::{BatchDue, WriteQueue};

/// Starts the flusher of a queue that has a first write.
pub(crate) fn start<K: Key, V: Value>(queue: &Arc<WriteQueue<K, V>>) {
    let flusher = WriteFlusher { queue: Arc::clone(queue), is_done: false };
    drop(spawn_future(async move { flusher.run().await }));
}

/// Why a batch was not stored.
enum BatchFailure {
    Refused(WriteError),
    /// It may be stored later, or be stored already.
    Passing,
}

/// Writes batches until the queue is empty.
struct WriteFlusher<K: Key, V: Value> {
    queue: Arc<WriteQueue<K, V>>,
    /// Whether nothing was left to be written. If it is dropped before, the runtime has ended.
    is_done: bool,
}

impl<K: Key, V: Value> WriteFlusher<K, V> {
    async fn run(mut self) {
        // How many times in a row it has failed, and how many are to be written one by one.
        let (mut failures, mut singly) = (0, 0_usize);
        while self.is_due().await {
            let most = if singly > 0 { 1 } else { self.queue.settings.max_batch };
            let (batch, writes) = self.queue.take_batch(most);
            if writes.is_empty() {
                continue;
            }
            match self.write(writes).await {
                Ok(()) => {
                    (failures, singly) = (0, singly.saturating_sub(1));
                    self.queue.stored(&batch);
                }
                Err(BatchFailure::Refused(why)) if batch.len() == 1 => {
                    (failures, singly) = (0, singly.saturating_sub(1));
                    self.queue.refused(batch[0], why);
                }
                Err(BatchFailure::Refused(_)) => {
                    // Which of them is to blame?
                    singly = batch.len();
                    self.queue.put_back(&batch);
                }
                Err(BatchFailure::Passing) => {
                    self.queue.put_back(&batch);
                    let (first, most) = self.queue.settings.backoff;
                    let wait = first.saturating_mul(1 << failures.min(20)).min(most);
                    if self.back_off(wait).await.is_err() {
                        // The runtime ends, and this with it, before its work is done.
                        RuntimeHandle::current().count_abandoned();
                        return;
                    }
                    failures += 1;
                }
            }
        }
    }

    /// Waits until there is a batch to be written. Returns false if nothing is left.
    async fn is_due(&mut self) -> bool {
        let queue = &self.queue;
        loop {
            match queue.next(RuntimeHandle::current().elapsed()) {
                BatchDue::Nothing => {
                    self.is_done = true;
                    return false;
                }
                BatchDue::In(Duration::ZERO) => return true,
                BatchDue::In(wait) => {
                    let mut timer = sleep(wait);
                    let waited = poll_fn(|context| {
                        if queue.is_due(context.waker()) {
                            return Poll::Ready(Ok(()));
                        }
                        Pin::new(&mut timer).poll(context)
                    });
                    if waited.await.is_err() {
                        // The runtime ends: this is the last chance.
                        return true;
                    }
                }
            }
        }
    }

    /// Waits for a store that has failed, until it is to be tried again.
    async fn back_off(&self, wait: Duration) -> Result<(), Broken> {
        let mut timer = sleep(wait);
        let is_tried_again = |context: &mut Context<'_>| {
            if self.queue.is_tried_again(context.waker()) {
                return Poll::Ready(Ok(()));
            }
            Pin::new(&mut timer).poll(context)
        };
        poll_fn(is_tried_again).await
    }

    async fn write(&self, writes: Vec<Write<K, V>>) -> Result<(), BatchFailure> {
        let store = Arc::clone(&self.queue.store);
        let mut write = CatchPanic::new(move || store.write(writes));
        match within(self.queue.settings.timeout, &mut write).await {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(Ok(Err(BackingError::Refused(why)))) => {
                Err(BatchFailure::Refused(WriteError::Failed(why.into())))
            }
            Ok(Ok(Err(BackingError::Unavailable(why)))) => {
                drop_quietly(move || {
                    tracing::warn!(%why, "a store behind a cache is not available");
                });
                Err(BatchFailure::Passing)
            }
            Ok(Err(_)) | Err(_) => Err(BatchFailure::Passing),
        }
    }
}

impl<K: Key, V: Value> Drop for WriteFlusher<K, V> {
    fn drop(&mut self) {
        if !self.is_done {
            self.queue.abandon();
        }
    }
}
