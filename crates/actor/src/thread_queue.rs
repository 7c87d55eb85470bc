//! Messages for one thread, which blocks until there is one.

use std::collections::VecDeque;

use coact_core::promise::Resolver;
use coact_core::runtime::{Busy, RuntimeHandle};
use coact_sync::shim::process::Mutex;

/// A queue of which one thread takes, and to which any thread adds.
///
/// No user code runs while it is locked, so messages are handed back to be dropped.
pub struct ThreadQueue<T>(Mutex<QueueState<T>>);

struct QueueState<T> {
    messages: VecDeque<T>,
    /// Wakes the thread if it waits.
    waiting: Option<Resolver<()>>,
    is_closed: bool,
    /// The runtime that the thread is work of, unless it waits without a time limit.
    home: Option<RuntimeHandle>,
    busy: Option<Busy>,
}

impl<T> Default for ThreadQueue<T> {
    fn default() -> Self {
        Self(Mutex::new(QueueState {
            messages: VecDeque::new(),
            waiting: None,
            is_closed: false,
            home: None,
            busy: None,
        }))
    }
}

impl<T> QueueState<T> {
    /// Returns what wakes the thread, if it waits. From now on its runtime has work.
    fn wake(&mut self) -> Option<Resolver<()>> {
        let waiting = self.waiting.take()?;
        if self.busy.is_none() {
            self.busy = self.home.map(RuntimeHandle::hold_open);
        }
        Some(waiting)
    }
}

impl<T> ThreadQueue<T> {
    /// Creates the queue of a thread that is work of a runtime, unless it waits without a time
    /// limit.
    pub fn of_runtime(home: RuntimeHandle) -> Self {
        let this = Self::default();
        {
            let mut state = this.0.lock();
            state.home = Some(home);
            state.busy = Some(home.hold_open());
        }
        this
    }

    /// Adds a message, and wakes the thread.
    ///
    /// # Errors
    /// Returns the message if the queue is closed.
    pub fn add(&self, message: T) -> Result<(), T> {
        let mut state = self.0.lock();
        if state.is_closed {
            return Err(message);
        }
        state.messages.push_back(message);
        let waiting = state.wake();
        drop(state);
        if let Some(thread) = waiting {
            thread.resolve(());
        }
        Ok(())
    }

    /// Wakes the thread without a message.
    pub fn wake(&self) {
        let waiting = self.0.lock().wake();
        if let Some(thread) = waiting {
            thread.resolve(());
        }
    }

    /// Takes the oldest message.
    pub fn take(&self) -> Option<T> {
        self.0.lock().messages.pop_front()
    }

    /// Takes the oldest message, or registers what the next one is to wake. `has_limit`: whether
    /// the thread waits for a limited time.
    pub fn take_or_wait(&self, waiting: Resolver<()>, has_limit: bool) -> Option<T> {
        let mut state = self.0.lock();
        let message = state.messages.pop_front();
        if message.is_none() {
            let before = state.waiting.replace(waiting);
            let idle = if has_limit { None } else { state.busy.take() };
            drop(state);
            drop((before, idle));
        }
        message
    }

    /// Takes no more messages; returns those that wait.
    pub fn close(&self) -> VecDeque<T> {
        let mut state = self.0.lock();
        state.is_closed = true;
        std::mem::take(&mut state.messages)
    }

    /// Returns whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.0.lock().is_closed
    }

    /// Returns whether no message waits.
    pub fn is_empty(&self) -> bool {
        self.0.lock().messages.is_empty()
    }
}
