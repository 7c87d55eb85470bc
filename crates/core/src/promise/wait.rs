//! Blocking waits for a promise on a plain thread.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use coact_sync::adaptive_poll::AdaptivePoll;

thread_local! {
    static POLL: AdaptivePoll = const { AdaptivePoll::new() };
}

/// Polls briefly for a value that may arrive at any moment.
pub(super) fn look_for<R>(take: impl FnMut() -> Option<R>) -> Option<R> {
    POLL.with(|poll| poll.look_for(take))
}

struct UnparkOnWake(Thread);

impl Wake for UnparkOnWake {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    /// One waker serves all waits of a thread: a spurious wake-up costs one more poll.
    static WAKER: Waker = Arc::new(UnparkOnWake(thread::current())).into();
}

fn waker() -> Waker {
    WAKER
        .try_with(Waker::clone)
        .unwrap_or_else(|_| Arc::new(UnparkOnWake(thread::current())).into())
}

/// Blocks until the future is ready.
pub(crate) fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    let waker = waker();
    loop {
        if let Poll::Ready(output) = Pin::new(&mut future).poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

/// Blocks until the future is ready or the time has passed.
pub(super) fn block_on_timeout<F: Future + Unpin>(
    future: &mut F,
    timeout: Duration,
) -> Option<F::Output> {
    let waker = waker();
    let until = Instant::now().checked_add(timeout);
    loop {
        if let Poll::Ready(output) = Pin::new(&mut *future).poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        match until {
            None => thread::park(),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return None;
                }
                thread::park_timeout(left);
            }
        }
    }
}
