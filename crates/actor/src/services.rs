//! The services of a runtime and the others of its group: the registry of names, topics, the event bus.

use std::cell::Cell;

use coact_core::runtime::RuntimeHandle;

use crate::events::Bus;
use crate::registry::Table;
use crate::topic::Named;

/// One per runtime and the others of its group. It is never dropped, so nothing in it may keep actors alive.
#[derive(Default)]
pub(crate) struct Services {
    pub(crate) table: Table,
    pub(crate) topics: Named,
    pub(crate) bus: Bus,
}

thread_local! {
    /// The services that this thread used last: finding them takes a lock.
    static LAST: Cell<Option<(RuntimeHandle, &'static Services)>> = const { Cell::new(None) };
}

impl Services {
    pub(crate) fn of(home: RuntimeHandle) -> &'static Self {
        match LAST.try_with(Cell::get) {
            Ok(Some((of, services))) if of == home && home.is_stable() => services,
            _ => Self::find(home),
        }
    }

    /// The services of the caller's runtime.
    pub(crate) fn current() -> &'static Self {
        Self::of(RuntimeHandle::current())
    }

    /// The same for internal use: starts no runtime if the caller has none.
    pub(crate) fn here() -> &'static Self {
        Self::of(RuntimeHandle::of_any())
    }

    #[cold]
    fn find(home: RuntimeHandle) -> &'static Self {
        let services = home.extension();
        // A thread that is about to end has no thread-locals any more.
        let _ = LAST.try_with(|last| last.set(Some((home, services))));
        services
    }
}
