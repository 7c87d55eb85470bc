//! The children of a supervisor, with its plan for them.

use std::collections::BTreeMap;

use super::child_handle::ChildHandle;
use super::info::ChildInfo;
use super::plan::{Action, ChildSpec, Plan};
use crate::exit::ExitReason;
use crate::id::ActorId;

/// A supervisor's children and its plan; both outlive its restarts.
pub(crate) struct ChildTable {
    pub(crate) plan: Plan,
    pub(crate) handles: BTreeMap<ActorId, ChildHandle>,
}

impl ChildTable {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan, handles: BTreeMap::new() }
    }

    pub(crate) fn declare(&mut self, handle: ChildHandle, spec: ChildSpec) {
        self.plan.declare(handle.id(), spec);
        self.handles.insert(handle.id(), handle);
    }

    /// The supervisor's state is gone: its children go down as well.
    pub(super) fn reset(&mut self) {
        for action in self.plan.reset() {
            match action {
                Action::Halt { child } => self.handles[&child].halt(),
                Action::End { child, reason } => self.end(child, reason),
                _ => {}
            }
        }
    }

    pub(super) fn end(&mut self, child: ActorId, reason: ExitReason) {
        if let Some(handle) = self.handles.remove(&child) {
            handle.end(reason);
        }
    }

    pub(super) fn info(&self) -> Vec<ChildInfo> {
        let describe = |view: super::plan::ChildView| {
            let handle = &self.handles[&view.child];
            ChildInfo {
                id: view.child,
                name: handle.name.clone(),
                is_supervisor: handle.is_supervisor,
                restart: view.restart,
                state: view.state,
                restarts: view.restarts,
            }
        };
        self.plan.view().map(describe).collect()
    }
}

impl Drop for ChildTable {
    fn drop(&mut self) {
        // The last added ends first.
        let order: Vec<ActorId> = self.plan.view().map(|view| view.child).collect();
        for child in order.into_iter().rev() {
            self.end(child, ExitReason::Shutdown);
        }
    }
}
