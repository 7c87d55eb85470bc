//! Waits that are cut off.

use std::future::{Future, pending};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use coact_core::Runtime;

use super::{CatchPanic, WaitError, within};

/// Its timers are cancelled: that is no time that has passed.
#[test]
fn what_is_cut_off_with_its_runtime_has_not_timed_out() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    runtime.cancel();
    let _entered = runtime.enter();
    let mut never = CatchPanic::<()>::new(|| Box::pin(pending()));
    let waiting = pin!(within(Some(Duration::from_secs(3600)), &mut never));
    let polled = waiting.poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(polled, Poll::Ready(Err(WaitError::Cancelled))));
}
