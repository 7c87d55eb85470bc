//! Futures that are waited for until something else happens.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Returns the output of a future that is ready.
pub(crate) async fn poll_once<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
    poll_fn(|context| {
        Poll::Ready(match Pin::new(&mut *future).poll(context) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}

/// Waits for a future, or until `end` is ready: then it returns `None`.
pub(crate) async fn until<T>(
    end: &mut (impl Future + Unpin),
    mut future: impl Future<Output = T> + Unpin,
) -> Option<T> {
    poll_fn(|context| {
        if Pin::new(&mut *end).poll(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut future).poll(context).map(Some)
    })
    .await
}
