//! What a supervisor tells of its children.

use std::sync::Arc;

use super::plan::ChildState;
use super::strategy::Restart;
use crate::id::ActorId;

/// One child of a supervisor, as it was when the supervisor was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildInfo {
    /// Its identity, which is that of its address.
    pub id: ActorId,
    /// The name that it was given.
    pub name: Option<Arc<str>>,
    /// Whether it is a supervisor itself.
    pub is_supervisor: bool,
    /// Whether it comes back when it goes down.
    pub restart: Restart,
    /// Where it is in its life.
    pub state: ChildState,
    /// How often it was restarted, whatever the reason.
    pub restarts: u64,
}

/// How many children a supervisor has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// All of them.
    pub children: usize,
    /// Those that run.
    pub running: usize,
    /// Those that are supervisors.
    pub supervisors: usize,
    /// How often any of them was restarted.
    pub restarts: u64,
}

impl FromIterator<ChildInfo> for Counts {
    fn from_iter<I: IntoIterator<Item = ChildInfo>>(children: I) -> Self {
        children.into_iter().fold(Self::default(), |counts, child| Self {
            children: counts.children + 1,
            running: counts.running + usize::from(child.state == ChildState::Running),
            supervisors: counts.supervisors + usize::from(child.is_supervisor),
            restarts: counts.restarts + child.restarts,
        })
    }
}
