//! Blocking waits of plain threads for something that is polled.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Wake, Waker};

use coact_core::Promise;
use coact_core::internals::{WaitDescription, wait_as, woken_by};
use coact_core::promise::Resolver;
use coact_core::runtime::may_block;
use coact_sync::shim::process::Mutex;

/// What to do instead of waiting where that is refused.
pub(crate) const AWAIT: &str = "await it in an async handler, or in `spawn_future`";

/// Polls until ready, and blocks the calling thread in between. `what` names the wait in the
/// deterministic mode.
///
/// # Panics
/// Panics inside a behaviour, a handler or a future, unless it is ready at once: see
/// [`Promise::wait`]. The panic names the call, and what to use instead.
#[track_caller]
pub(crate) fn block_on<T>(
    (call, instead): (&str, &str),
    what: WaitDescription,
    mut poll: impl FnMut(&mut TaskContext<'_>) -> Poll<T>,
) -> T {
    loop {
        let (resolver, woken) = Promise::channel();
        let waker = Waker::from(Arc::new(ResolveOnWake(Mutex::new(Some(resolver)))));
        let polled = woken_by(&woken, what);
        let poll = || poll(&mut TaskContext::from_waker(&waker));
        if let Poll::Ready(value) = polled.polls(poll) {
            return value;
        }
        // Either it was woken or the waker is gone: the next poll decides.
        let _ = wait_as(woken, call, instead);
    }
}

/// Blocks the calling thread until a send is done. `call` and `instead` are the call, and what to
/// use instead.
///
/// # Panics
/// Panics if it would have to wait in a behaviour, a handler or a future.
#[track_caller]
pub(crate) fn block_on_room<T>(
    (call, instead): (&str, &str),
    future: impl Future<Output = T>,
) -> T {
    let mut future = std::pin::pin!(future);
    if let Poll::Ready(done) = future.as_mut().poll(&mut TaskContext::from_waker(Waker::noop())) {
        return done;
    }
    assert!(
        may_block(),
        "{call} would wait for room inside a behaviour, a handler or a future, which may hold what takes up \
         the room: {instead}"
    );
    block_on((call, instead), |f| f.write_str("its send"), |context| future.as_mut().poll(context))
}

/// Wakes a thread that waits for a promise.
struct ResolveOnWake(Mutex<Option<Resolver<()>>>);

impl Wake for ResolveOnWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let resolver = self.0.lock().take();
        if let Some(resolver) = resolver {
            resolver.resolve(());
        }
    }
}
