//! The cell that a promise and its resolver share: one value, one waiter, two owners. The protocol
//! is in `cell/state.rs`.

mod callback;
mod consumer;
mod producer;
mod shared;
mod state;

use crate::simulated;
use callback::ClosureCallback;
use shared::{CellValue, PromiseCell};

pub(crate) use callback::PromiseCallback;
pub(super) use consumer::Consumer;
pub(super) use producer::Producer;

/// Creates a cell.
#[cfg_attr(feature = "sim", track_caller)]
pub(super) fn pair<R>() -> (Producer<R>, Consumer<R>) {
    let shared = PromiseCell::allocate();
    simulated::made(shared.addr().get());
    // SAFETY: the cell is new, and has one end of each kind.
    unsafe { (Producer::of_shared(shared), Consumer::of_shared(shared)) }
}

/// Creates a producer that calls a closure with the value.
pub(super) fn calling<R, F>(closure: F) -> Producer<R>
where
    F: FnOnce(CellValue<R>) + Send + 'static,
{
    // SAFETY: the block is new, owns its closure, which is `Send`, and frees itself when called.
    unsafe { Producer::of_callback(ClosureCallback::allocate(closure)) }
}

#[cfg(all(test, loom))]
mod loom;
