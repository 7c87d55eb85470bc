//! The services of a runtime and its siblings: the registry of names, topics, the event bus.

use std::cell::Cell;

use coact_core::Home;

use crate::events::Bus;
use crate::registry::Table;
use crate::topic::Named;

/// One per runtime and its siblings. It is never dropped, so nothing in it may keep actors alive.
#[derive(Default)]
pub(crate) struct Services {
    pub(crate) table: Table,
    pub(crate) topics: Named,
    pub(crate) bus: Bus,
}

thread_local! {
    /// The services that this thread used last: finding them takes a lock.
    static LAST: Cell<Option<(Home, &'static Services)>> = const { Cell::new(None) };
}

impl Services {
    pub(crate) fn of(home: Home) -> &'static Self {
        match LAST.try_with(Cell::get) {
            Ok(Some((of, services))) if of == home && home.is_stable() => services,
            _ => Self::find(home),
        }
    }

    /// The services of the caller's runtime.
    pub(crate) fn current() -> &'static Self {
        Self::of(Home::current())
    }

    /// The same for internal use: starts no runtime if the caller has none.
    pub(crate) fn here() -> &'static Self {
        Self::of(Home::of_any())
    }

    #[cold]
    fn find(home: Home) -> &'static Self {
        let services = home.companion();
        // A thread that is about to end has no thread-locals any more.
        let _ = LAST.try_with(|last| last.set(Some((home, services))));
        services
    }
}
