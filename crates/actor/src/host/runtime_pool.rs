//! The runtimes that actors need, created on demand, per family of runtimes.

use std::collections::HashMap;
use std::sync::Arc;

use coact_core::Runtime;
use coact_core::runtime::{Builder, RuntimeHandle};
use coact_sync::shim::process::Mutex;

/// How many threads resource actors have by default.
const BLOCKING_THREADS: usize = 512;

/// The hosts of one family: its threads for detached actors, those that may block, its dispatchers.
#[derive(Default)]
pub(crate) struct FamilyHosts(Mutex<FamilyRuntimes>);

#[derive(Default)]
struct FamilyRuntimes {
    made: Vec<Runtime>,
    /// Unused one-worker runtimes, by the type of actors that they are named after.
    free: HashMap<&'static str, Vec<RuntimeHandle>>,
    blocking: Option<RuntimeHandle>,
    blocking_threads: Option<usize>,
    dispatchers: Vec<(Arc<str>, RuntimeHandle)>,
    /// Whether the family is shut down, so that nothing is created any more.
    closed: bool,
}

impl FamilyHosts {
    /// Returns those of the family to which a runtime belongs.
    pub(crate) fn of(home: RuntimeHandle) -> &'static Self {
        home.extension()
    }

    pub(crate) fn set_blocking_threads(&self, threads: usize) {
        self.0.lock().blocking_threads = Some(threads);
    }

    pub(crate) fn add_dispatcher(&self, name: Arc<str>, home: RuntimeHandle) {
        self.0.lock().dispatchers.push((name, home));
    }

    /// Returns a dispatcher.
    ///
    /// # Errors
    /// Returns the names of the existing ones if there is none with this name.
    pub(crate) fn dispatcher(&self, name: &str) -> Result<RuntimeHandle, Vec<Arc<str>>> {
        let state = self.0.lock();
        let found = state.dispatchers.iter().find(|(known, _)| **known == *name);
        found
            .map(|(_, home)| *home)
            .ok_or_else(|| state.dispatchers.iter().map(|(known, _)| Arc::clone(known)).collect())
    }

    /// Returns the runtime on blocking threads.
    #[track_caller]
    pub(crate) fn blocking(&self, of: RuntimeHandle) -> RuntimeHandle {
        let mut state = self.0.lock();
        if state.closed {
            return of.group_root();
        }
        let FamilyRuntimes { blocking, made, blocking_threads, .. } = &mut *state;
        *blocking.get_or_insert_with(|| {
            let threads = blocking_threads.unwrap_or(BLOCKING_THREADS);
            // No thread is started until there is work.
            let runtime = build(sibling(of, "resources").on_blocking_threads(threads));
            let home = runtime.handle();
            made.push(runtime);
            home
        })
    }

    /// Leases a thread for an actor of this type; `None` once the family is shut down.
    #[track_caller]
    pub(crate) fn lease(
        &'static self,
        of: RuntimeHandle,
        kind: &'static str,
    ) -> Option<ThreadLease> {
        let lease = |home| Some(ThreadLease { hosts: self, kind, home });
        if let Some(home) = self.take_free(kind)? {
            return lease(home);
        }
        let runtime = build(sibling(of, short(kind)).workers(1));
        let mut state = self.0.lock();
        if state.closed {
            drop(state);
            drop(runtime);
            return None;
        }
        let home = runtime.handle();
        state.made.push(runtime);
        lease(home)
    }

    /// Takes an unused runtime, if there is one; `None` once the family is shut down.
    fn take_free(&self, kind: &'static str) -> Option<Option<RuntimeHandle>> {
        let mut state = self.0.lock();
        (!state.closed).then(|| state.free.get_mut(kind).and_then(Vec::pop))
    }

    /// Returns all runtimes that were created.
    pub(crate) fn homes(&self) -> Vec<RuntimeHandle> {
        self.0.lock().made.iter().map(Runtime::handle).collect()
    }

    /// Stops creating runtimes, and returns the existing ones.
    pub(crate) fn close(&self) -> Vec<Runtime> {
        let mut state = self.0.lock();
        state.closed = true;
        state.free.clear();
        std::mem::take(&mut state.made)
    }
}

/// The right to a dedicated thread, returned when dropped.
pub(crate) struct ThreadLease {
    hosts: &'static FamilyHosts,
    kind: &'static str,
    home: RuntimeHandle,
}

impl ThreadLease {
    pub(crate) fn home(&self) -> RuntimeHandle {
        self.home
    }
}

impl Drop for ThreadLease {
    fn drop(&mut self) {
        let mut state = self.hosts.0.lock();
        if !state.closed {
            state.free.entry(self.kind).or_default().push(self.home);
        }
    }
}

fn sibling(of: RuntimeHandle, name: &str) -> Builder {
    Runtime::builder().name(name).grouped_with(of)
}

#[track_caller]
fn build(builder: Builder) -> Runtime {
    builder
        .build()
        .unwrap_or_else(|error| panic!("a host for an actor could not be created: {error}"))
}

/// Returns the last part of a type's path, without parameters.
fn short(type_name: &'static str) -> &'static str {
    let path = type_name.split_once('<').map_or(type_name, |(path, _)| path);
    path.rsplit_once("::").map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn threads_are_named_by_the_last_part_of_the_type() {
        assert_eq!(short("bank::accounts::Account"), "Account");
        assert_eq!(short("bank::Cache<alloc::string::String>"), "Cache");
        assert_eq!(short("Plain"), "Plain");
    }
}
