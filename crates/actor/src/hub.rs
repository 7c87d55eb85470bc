//! What the actors of a runtime, and of its siblings, share: names, topics, events.

use std::cell::Cell;

use coact_core::Home;

use crate::events::Bus;
use crate::registry::Table;
use crate::topic::Named;

/// One for each runtime and its siblings. It is never dropped, so whatever is in it must not keep
/// actors alive.
#[derive(Default)]
pub(crate) struct Hub {
    pub(crate) table: Table,
    pub(crate) topics: Named,
    pub(crate) bus: Bus,
}

thread_local! {
    /// The one that this thread has asked for last: finding it takes a lock.
    static LAST: Cell<Option<(Home, &'static Hub)>> = const { Cell::new(None) };
}

impl Hub {
    pub(crate) fn of(home: Home) -> &'static Self {
        match LAST.try_with(Cell::get) {
            Ok(Some((of, hub))) if of == home && home.is_stable() => hub,
            _ => Self::find(home),
        }
    }

    /// That of the caller's runtime.
    pub(crate) fn current() -> &'static Self {
        Self::of(Home::current())
    }

    /// That of the caller's runtime, for what the caller does not know of: no runtime is started for it.
    pub(crate) fn here() -> &'static Self {
        Self::of(Home::of_any())
    }

    #[cold]
    fn find(home: Home) -> &'static Self {
        let hub = home.companion();
        // A thread that is about to end has no room for it any more.
        let _ = LAST.try_with(|last| last.set(Some((home, hub))));
        hub
    }
}
