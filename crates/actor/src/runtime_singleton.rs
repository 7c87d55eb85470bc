//! Services: values that exist once for a runtime and the runtimes grouped with it.

use std::any::Any;
use std::cell::Cell;

use coact_core::internals::are_handles_stable;
use coact_core::runtime::RuntimeHandle;

/// A service, such as the event bus. It is created on first use and never dropped, so it must not
/// keep actors alive.
pub(crate) trait RuntimeService: Default + Send + Sync + 'static {
    /// Returns the service of a runtime.
    fn of(home: RuntimeHandle) -> &'static Self {
        RECENT
            .try_with(|recent| recent.get().find(home))
            .ok()
            .flatten()
            .unwrap_or_else(|| find(home))
    }

    /// Returns the service of the caller's runtime.
    fn current() -> &'static Self {
        Self::of(RuntimeHandle::current())
    }

    /// Like [`current`](Self::current), for internal use: starts no runtime if the caller has none.
    fn here() -> &'static Self {
        Self::of(RuntimeHandle::of_any())
    }
}

/// How many services a thread remembers.
const KEPT: usize = 3;

/// The services that a thread used last: finding them otherwise takes a lock.
#[derive(Clone, Copy)]
struct RecentServices([Option<(RuntimeHandle, &'static (dyn Any + Send + Sync))>; KEPT]);

thread_local! {
    static RECENT: Cell<RecentServices> = const { Cell::new(RecentServices([None; KEPT])) };
}

impl RecentServices {
    fn find<S: RuntimeService>(self, home: RuntimeHandle) -> Option<&'static S> {
        if !are_handles_stable() {
            return None;
        }
        let of_home = self.0.into_iter().flatten().filter(|(of, _)| *of == home);
        of_home.filter_map(|(_, service)| service.downcast_ref()).next()
    }

    fn with(mut self, home: RuntimeHandle, service: &'static (dyn Any + Send + Sync)) -> Self {
        self.0.rotate_right(1);
        self.0[0] = Some((home, service));
        self
    }
}

#[cold]
fn find<S: RuntimeService>(home: RuntimeHandle) -> &'static S {
    let service: &S = home.extension();
    // A thread that is about to end no longer has thread-locals.
    let _ = RECENT.try_with(|recent| recent.set(recent.get().with(home, service)));
    service
}
