//! Spreading actors over runtimes.

use std::sync::atomic::{AtomicUsize, Ordering};

use coact_core::runtime::RuntimeHandle;

use super::Host;

/// Gives each new actor the next of several runtimes, in turn.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::Actor;
/// use coact::actor::actor;
/// use coact::system::{Spread, System};
///
/// struct Shard;
/// impl Actor for Shard {}
///
/// let system = System::builder()
///     .workers(1)
///     .dispatcher("left", |d| d.workers(1))
///     .dispatcher("right", |d| d.workers(1))
///     .build()?;
/// let both = Spread::over([system.dispatcher("left")?, system.dispatcher("right")?]);
/// let shards: Vec<_> = (0..4).map(|_| actor(Shard).on(&both).spawn()).collect();
/// let homes: Vec<_> = shards.iter().map(|shard| shard.runtime().name()).collect();
/// assert_eq!(homes, ["left", "right", "left", "right"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Spread {
    homes: Box<[RuntimeHandle]>,
    next: AtomicUsize,
}

impl Spread {
    /// Over these runtimes.
    ///
    /// # Panics
    /// If there are none.
    #[track_caller]
    pub fn over(homes: impl IntoIterator<Item = RuntimeHandle>) -> Self {
        let homes: Box<[RuntimeHandle]> = homes.into_iter().collect();
        assert!(!homes.is_empty(), "actors cannot be spread over no runtimes");
        Self { homes, next: AtomicUsize::new(0) }
    }

    /// The runtime whose turn it is.
    pub fn next(&self) -> RuntimeHandle {
        // ORDERING: Relaxed. A turn is each caller's own.
        self.homes[self.next.fetch_add(1, Ordering::Relaxed) % self.homes.len()]
    }
}

/// The next one.
impl From<&Spread> for Host {
    fn from(spread: &Spread) -> Self {
        spread.next().into()
    }
}
