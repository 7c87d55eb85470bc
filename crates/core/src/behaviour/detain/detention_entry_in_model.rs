//! The same in models, which have no runtime.

use std::sync::Arc;

use super::cut_off::CutOff;
use crate::runtime_ids::RuntimeId;

pub(super) struct DetentionEntry;

pub(super) fn count_cut_off(_: RuntimeId) {}

impl DetentionEntry {
    pub(super) fn new(_: RuntimeId, _: &Arc<impl CutOff + 'static>) -> Self {
        Self
    }
}
