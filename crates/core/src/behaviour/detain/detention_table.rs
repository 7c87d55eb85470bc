//! The detained behaviours of a runtime, for its end.

use std::sync::Arc;

use coact_sync::shim::sync::Mutex;
use slab::Slab;

use crate::sched::runtime_shared::RuntimeShared;
use crate::sched::services::SharedService;

/// A detained behaviour that can be ended without its guard.
pub(super) trait CutOff: Send + Sync {
    fn cut_off(&self);
}

/// Those that have begun and not ended.
#[derive(Default)]
pub(crate) struct DetentionTable(Mutex<Slab<Arc<dyn CutOff>>>);

impl DetentionTable {
    #[cfg_attr(loom, expect(dead_code, reason = "models have no runtime"))]
    pub(super) fn insert(&self, detention: Arc<dyn CutOff>) -> usize {
        self.0.lock().insert(detention)
    }

    #[cfg_attr(loom, expect(dead_code, reason = "models have no runtime"))]
    pub(super) fn remove(&self, number: usize) -> Arc<dyn CutOff> {
        self.0.lock().remove(number)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

impl SharedService for DetentionTable {
    fn new(_: &RuntimeShared) -> Self {
        Self::default()
    }

    fn stop(&self, _: &RuntimeShared) {
        let all: Vec<_> =
            self.0.lock().iter().map(|(_, detention)| Arc::clone(detention)).collect();
        all.iter().for_each(|detention| detention.cut_off());
    }
}
