//! Lets the writer checkpoint between two queries of the store's own reader.
//!
//! A WAL restarts only when all of it is in the file and no one reads in it. With queries one after
//! the other it never would: so when it is long, the reader lets the writer go first. The writer
//! never waits for the reader.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Coordinates the writing and the reading thread.
pub(crate) struct ReaderGate {
    state: Mutex<GateState>,
    changed: Condvar,
}

struct GateState {
    is_reading: bool,
    /// Whether the writer wants to be alone, and is to be called.
    is_wanted: bool,
    /// Calls the writer. `None` when it is gone.
    call: Option<Box<dyn Fn() + Send>>,
}

/// Held during a query.
pub(crate) struct ReadingGuard<'g>(&'g ReaderGate);

impl ReaderGate {
    /// Creates a gate for a writer that `call` wakes.
    pub(crate) fn new(call: impl Fn() + Send + 'static) -> Self {
        let state = GateState { is_reading: false, is_wanted: false, call: Some(Box::new(call)) };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        // Each change is a single assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a query, after the writer if it wants to be alone.
    pub(crate) fn enter(&self) -> ReadingGuard<'_> {
        let state = self.state();
        if state.is_wanted
            && let Some(call) = &state.call
        {
            // (It sends to a channel, which does not block.)
            call();
        }
        let is_closed = |state: &mut GateState| state.is_wanted && state.call.is_some();
        let mut state =
            self.changed.wait_while(state, is_closed).unwrap_or_else(PoisonError::into_inner);
        state.is_reading = true;
        ReadingGuard(self)
    }

    /// Closes the gate. Returns whether the writer is alone now; if not, it is called before the
    /// next query.
    pub(crate) fn close(&self) -> bool {
        let mut state = self.state();
        state.is_wanted = true;
        !state.is_reading
    }

    /// Opens the gate again.
    pub(crate) fn open(&self) {
        let mut state = self.state();
        if std::mem::take(&mut state.is_wanted) {
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Opens the gate for good, when the writer ends.
    pub(crate) fn remove(&self) {
        let call = self.state().call.take();
        self.changed.notify_all();
        // (It may be the last sender of the channel.)
        drop(call);
    }
}

impl Drop for ReadingGuard<'_> {
    fn drop(&mut self) {
        self.0.state().is_reading = false;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    #[test]
    fn the_writer_is_called_between_two_questions_and_waits_for_none() {
        let (call, called) = channel();
        let gate = Arc::new(ReaderGate::new(move || call.send(()).unwrap()));
        let first = gate.enter();
        assert!(!gate.close());
        drop(first);
        let reader = Arc::clone(&gate);
        let (tell, told) = channel();
        let reads = thread::spawn(move || {
            let second = reader.enter();
            tell.send(()).unwrap();
            drop(second);
        });
        called.recv().unwrap();
        assert!(gate.close(), "it is alone");
        assert!(told.try_recv().is_err(), "the second question waits");
        gate.open();
        told.recv().unwrap();
        reads.join().unwrap();
        drop(gate.enter());
        assert!(called.try_recv().is_err(), "it is called only if it wants to be");
    }

    #[test]
    fn questions_go_on_when_the_writer_has_ended() {
        let gate = Arc::new(ReaderGate::new(|| {}));
        assert!(gate.close());
        let reader = Arc::clone(&gate);
        let reads = thread::spawn(move || drop(reader.enter()));
        gate.remove();
        reads.join().unwrap();
        drop(gate.enter());
    }
}
