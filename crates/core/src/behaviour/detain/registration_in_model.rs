//! The same in models, which have no runtime.

use std::sync::Arc;

use super::detention_table::CutOff;
use crate::runtime_ids::RuntimeId;

pub(super) struct DetentionRegistration;

pub(super) fn count_cut_off(_: RuntimeId) {}

impl DetentionRegistration {
    pub(super) fn new(_: RuntimeId, _: &Arc<impl CutOff + 'static>) -> Self {
        Self
    }
}
