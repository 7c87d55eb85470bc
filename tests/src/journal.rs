//! Records of what behaviours did, and in which order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coact_sync::shim::process::{Mutex, MutexGuard};

/// A list that behaviours on whatever cowns write to. Clones write to the same list.
#[derive(Debug)]
pub struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T> Log<T> {
    /// An empty list.
    pub fn new() -> Self {
        Self(Arc::default())
    }

    /// Adds an entry.
    pub fn push(&self, entry: T) {
        self.lock().push(entry);
    }

    /// Takes all entries out.
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut self.lock())
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock()
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// When each body began and ended, by name.
#[derive(Clone, Debug, Default)]
pub struct Journal(Arc<Entries>);

#[derive(Debug, Default)]
struct Entries {
    clock: AtomicU64,
    spans: Mutex<Vec<Span>>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    name: &'static str,
    began: u64,
    ended: Option<u64>,
}

impl Journal {
    /// A journal without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs a body, and records when it began and ended.
    pub fn body<R>(&self, name: &'static str, work: impl FnOnce() -> R) -> R {
        let began = self.tick();
        let at = {
            let mut spans = self.spans();
            spans.push(Span { name, began, ended: None });
            spans.len() - 1
        };
        let result = work();
        let ended = self.tick();
        self.spans()[at].ended = Some(ended);
        result
    }

    /// A body that does nothing else.
    pub fn note(&self, name: &'static str) {
        self.body(name, || ());
    }

    /// Whether the body of that name has ended.
    pub fn has(&self, name: &str) -> bool {
        self.spans().iter().any(|span| span.name == name && span.ended.is_some())
    }

    /// The names of all bodies, in the order in which they began.
    pub fn names(&self) -> Vec<&'static str> {
        let mut spans = self.spans().clone();
        spans.sort_by_key(|span| span.began);
        spans.iter().map(|span| span.name).collect()
    }

    /// # Panics
    /// Unless the first body had ended before the second began.
    #[track_caller]
    pub fn assert_before(&self, first: &str, second: &str) {
        let (one, other) = (self.span(first), self.span(second));
        assert!(
            one.ended.is_some_and(|ended| ended < other.began),
            "{first} must end before {second} begins: {self:?}"
        );
    }

    /// # Panics
    /// Unless each body of the list had ended before the next began.
    #[track_caller]
    pub fn assert_chain(&self, names: &[&str]) {
        for pair in names.windows(2) {
            self.assert_before(pair[0], pair[1]);
        }
    }

    #[track_caller]
    fn span(&self, name: &str) -> Span {
        let found = self.spans().iter().find(|span| span.name == name).copied();
        found.unwrap_or_else(|| panic!("{name} has not run: {self:?}"))
    }

    fn tick(&self) -> u64 {
        // Acquire and release, so that a smaller number also means "happens before".
        self.0.clock.fetch_add(1, Ordering::AcqRel)
    }

    fn spans(&self) -> MutexGuard<'_, Vec<Span>> {
        self.0.spans.lock()
    }
}
