//! The settings of writes behind.

use std::fmt;
use std::time::Duration;

use crate::errors::WriteError;

/// The settings of writes behind.
///
/// ```
/// use coact::cache::WriteBehind;
/// use std::time::Duration;
///
/// let settings = WriteBehind::new()
///     .delay(Duration::from_millis(50))
///     .max_batch(200)
///     .max_waiting(50_000)
///     .on_lost(|lost| eprintln!("{}: {}", lost.key, lost.why));
/// # let _: WriteBehind<u64, String> = settings;
/// ```
pub struct WriteBehind<K, V> {
    pub(crate) delay: Duration,
    pub(crate) max_batch: usize,
    pub(crate) max_waiting: usize,
    pub(crate) backoff: (Duration, Duration),
    pub(crate) timeout: Option<Duration>,
    pub(crate) on_lost: Option<OnLost<K, V>>,
}

pub(crate) type OnLost<K, V> = Box<dyn Fn(LostWrite<K, V>) + Send + Sync>;

/// A write behind that will not be stored, though it was answered.
#[derive(Debug)]
#[non_exhaustive]
pub struct LostWrite<K, V> {
    /// The key.
    pub key: K,
    /// The value, or `None` if the key was removed.
    pub value: Option<V>,
    /// Why. If the runtime has ended in the middle of the write, it may be stored.
    pub why: WriteError,
}

impl<K, V> WriteBehind<K, V> {
    /// Writes when 100 keys wait, or the first has waited for 100 ms. Up to 10,000 may wait. After
    /// a failure it waits for 10 ms, and twice as long each time, up to a second.
    #[must_use]
    pub fn new() -> Self {
        Self {
            delay: Duration::from_millis(100),
            max_batch: 100,
            max_waiting: 10_000,
            backoff: (Duration::from_millis(10), Duration::from_secs(1)),
            timeout: None,
            on_lost: None,
        }
    }

    /// Sets how long a write may wait for others, to be written with them.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sets how many keys are written at once.
    #[must_use]
    pub fn max_batch(mut self, keys: usize) -> Self {
        self.max_batch = keys;
        self
    }

    /// Sets how many keys may wait. Writes of further keys wait for room, unanswered; once as many
    /// of these wait, more are refused with [`WriteError::Full`].
    #[must_use]
    pub fn max_waiting(mut self, keys: usize) -> Self {
        self.max_waiting = keys;
        self
    }

    /// Sets how long to wait after a failure, at first and at most. It doubles each time.
    #[must_use]
    pub fn backoff(mut self, first: Duration, most: Duration) -> Self {
        self.backoff = (first, most);
        self
    }

    /// Sets the time after which a batch without an answer fails. It is written again then.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets a function that is called with each lost write: one that the store
    /// [refused](crate::BackingError::Refused), one that was sent, not asked, while there was no
    /// room, or one that was not stored when the runtime ended. Without it, each is a `tracing`
    /// event.
    #[must_use]
    pub fn on_lost(mut self, tell: impl Fn(LostWrite<K, V>) + Send + Sync + 'static) -> Self {
        self.on_lost = Some(Box::new(tell));
        self
    }
}

impl<K, V> Default for WriteBehind<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> fmt::Debug for WriteBehind<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteBehind")
            .field("delay", &self.delay)
            .field("max_batch", &self.max_batch)
            .field("max_waiting", &self.max_waiting)
            .finish_non_exhaustive()
    }
}
