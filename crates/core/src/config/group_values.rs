//! Values that the layers above store per group of runtimes.

use std::any::{Any, TypeId};
use std::sync::Arc;

use coact_sync::shim::process::Mutex;

use crate::runtime_ids::RuntimeId;

/// The values that the layers above store for a group of runtimes, by type.
#[derive(Clone, Default)]
pub(crate) struct RuntimeGroupValues(Arc<GroupValueTable>);

#[derive(Default)]
struct GroupValueTable {
    /// The runtime that is the root of the group; `None` while no runtime of the group exists.
    root: Option<RuntimeId>,
    kept: Mutex<Vec<(TypeId, &'static GroupValue)>>,
}

type GroupValue = dyn Any + Send + Sync;

impl RuntimeGroupValues {
    /// Creates the values of the group of `root`.
    pub(crate) fn of(root: RuntimeId) -> Self {
        Self(Arc::new(GroupValueTable { root: Some(root), kept: Mutex::default() }))
    }

    pub(crate) fn root(&self) -> Option<RuntimeId> {
        self.0.root
    }

    /// Drops everything, for the next run of a simulation.
    #[cfg(feature = "sim")]
    pub(crate) fn forget(&self) {
        self.0.kept.lock().clear();
    }

    /// Returns the value of a type, which is created on first use and never freed.
    pub(crate) fn get_or_default<T: Default + Send + Sync + 'static>(&self) -> &'static T {
        if let Some(found) = self.find() {
            return found;
        }
        // Created, and dropped if another thread was faster, without holding the lock: both run
        // foreign code.
        let made = Box::<T>::default();
        let mut all = self.0.kept.lock();
        if let Some((_, first)) = all.iter().find(|(of, _)| *of == TypeId::of::<T>()) {
            let first = *first;
            drop(all);
            drop(made);
            return first.downcast_ref().expect("kept by its type");
        }
        let made: &'static T = Box::leak(made);
        all.push((TypeId::of::<T>(), made));
        made
    }

    fn find<T: 'static>(&self) -> Option<&'static T> {
        let all = self.0.kept.lock();
        let found = all.iter().find(|(of, _)| *of == TypeId::of::<T>());
        found.and_then(|(_, entry)| entry.downcast_ref())
    }
}
