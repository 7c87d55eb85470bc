//! The mutexes under one name, so that a program is written once for all whose users are plain
//! threads.

use std::ops::DerefMut;
use std::sync::PoisonError;

/// A mutex, whosever it is.
pub trait Lock<T>: Send + Sync {
    /// Around a value.
    fn new(value: T) -> Self;

    /// Waits until it is free, and has it.
    fn hold(&self) -> impl DerefMut<Target = T>;
}

impl<T: Send> Lock<T> for std::sync::Mutex<T> {
    fn new(value: T) -> Self {
        Self::new(value)
    }

    fn hold(&self) -> impl DerefMut<Target = T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send> Lock<T> for parking_lot::Mutex<T> {
    fn new(value: T) -> Self {
        Self::new(value)
    }

    fn hold(&self) -> impl DerefMut<Target = T> {
        self.lock()
    }
}

impl<T: Send> Lock<T> for tokio::sync::Mutex<T> {
    fn new(value: T) -> Self {
        Self::new(value)
    }

    fn hold(&self) -> impl DerefMut<Target = T> {
        self.blocking_lock()
    }
}
