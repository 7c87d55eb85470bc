//! The information that a supervisor gives about its children.

use std::sync::Arc;

use super::plan::ChildState;
use super::strategy::Restart;
use crate::id::ActorId;

/// One child of a supervisor, as it was when the supervisor was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildInfo {
    /// Its identity, the same as that of its address.
    pub id: ActorId,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// Whether it is a supervisor itself.
    pub is_supervisor: bool,
    /// Whether it is restarted when it goes down.
    pub restart: Restart,
    /// Whether its end may [end its supervisor](crate::supervise::AutoShutdown).
    pub is_significant: bool,
    /// Its state.
    pub state: ChildState,
    /// How often it was restarted, for whatever reason.
    pub restarts: u64,
}

/// How many children a supervisor has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildCounts {
    /// All of them.
    pub children: usize,
    /// Those that are running.
    pub running: usize,
    /// Those that are supervisors.
    pub supervisors: usize,
    /// The total number of their restarts.
    pub restarts: u64,
}

impl FromIterator<ChildInfo> for ChildCounts {
    fn from_iter<I: IntoIterator<Item = ChildInfo>>(children: I) -> Self {
        children.into_iter().fold(Self::default(), |counts, child| Self {
            children: counts.children + 1,
            running: counts.running + usize::from(child.state == ChildState::Running),
            supervisors: counts.supervisors + usize::from(child.is_supervisor),
            restarts: counts.restarts + child.restarts,
        })
    }
}
