//! The children of a supervisor, with its plan for them.

use std::collections::BTreeMap;

use super::child_handle::ChildHandle;
use super::info::ChildInfo;
use super::plan::{ChildSpec, ChildState, PlanAction, SupervisionPlan};
use super::readiness::{ReadyPromise, TreeReadiness};
use crate::exit::ExitReason;
use crate::id::ActorId;

/// A supervisor's children and its plan; both outlive its restarts.
pub(crate) struct ChildTable {
    pub(crate) plan: SupervisionPlan,
    pub(crate) handles: BTreeMap<ActorId, ChildHandle>,
    /// Who waits until all are up.
    pub(super) readiness: TreeReadiness,
}

impl ChildTable {
    pub(crate) fn new(plan: SupervisionPlan) -> Self {
        Self { plan, handles: BTreeMap::new(), readiness: TreeReadiness::default() }
    }

    pub(crate) fn declare(&mut self, handle: ChildHandle, spec: ChildSpec) {
        self.plan.declare(handle.id(), spec);
        self.handles.insert(handle.id(), handle);
    }

    /// The supervisor's state is gone: its children go down as well.
    pub(super) fn reset(&mut self) {
        for action in self.plan.reset() {
            match action {
                PlanAction::Halt { child } => self.handles[&child].halt(),
                PlanAction::End { child, reason } => self.end(child, reason),
                _ => {}
            }
        }
    }

    pub(super) fn end(&mut self, child: ActorId, reason: ExitReason) {
        if let Some(handle) = self.handles.remove(&child) {
            handle.end(reason);
        }
    }

    /// Asks the children that are up and supervisors themselves whether all below them are up.
    pub(super) fn ask_below(&self) -> Vec<ReadyPromise> {
        let up = self.plan.view().filter(|view| view.state == ChildState::Running);
        up.filter_map(|view| self.handles[&view.child].ask_ready()).collect()
    }

    pub(super) fn info(&self) -> Vec<ChildInfo> {
        let describe = |view: super::plan::ChildView| {
            let handle = &self.handles[&view.child];
            ChildInfo {
                id: view.child,
                name: handle.name.clone(),
                is_supervisor: handle.is_supervisor,
                restart: view.restart,
                is_significant: view.is_significant,
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
        let order: Vec<_> = self.plan.end_reasons().rev().collect();
        for (child, reason) in order {
            self.end(child, reason);
        }
    }
}
