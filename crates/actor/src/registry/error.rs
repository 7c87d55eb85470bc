//! Errors of names.

use std::fmt;
use std::sync::Arc;

use crate::id::ActorId;

/// Another actor has the name. The error returns what claimed it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameTaken<T = ()> {
    /// The name.
    pub name: Arc<str>,
    /// The actor that has it.
    pub holder: ActorId,
    /// What claimed it: for [`Spawn::try_spawn`](crate::actor::Spawn::try_spawn) the actor with its
    /// settings, for [`Tree::try_child`](crate::supervise::Tree::try_child) the child.
    pub unused: T,
}

impl<T> NameTaken<T> {
    /// Returns the same for what is made of the unused one.
    pub fn map<U>(self, give_back: impl FnOnce(T) -> U) -> NameTaken<U> {
        NameTaken { name: self.name, holder: self.holder, unused: give_back(self.unused) }
    }
}

impl<T> fmt::Display for NameTaken<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "actor {} already has the name {:?}", self.holder, self.name)
    }
}

impl<T> fmt::Debug for NameTaken<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("NameTaken");
        debug.field("name", &self.name).field("holder", &self.holder).finish_non_exhaustive()
    }
}

impl<T> std::error::Error for NameTaken<T> {}

/// Why an actor could not be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// Another actor has the name.
    Taken(NameTaken),
    /// The actor has ended.
    Stopped,
}

impl From<NameTaken> for RegisterError {
    fn from(taken: NameTaken) -> Self {
        RegisterError::Taken(taken)
    }
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegisterError::Taken(taken) => taken.fmt(f),
            RegisterError::Stopped => f.write_str("the actor has ended"),
        }
    }
}

impl std::error::Error for RegisterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RegisterError::Taken(taken) => Some(taken),
            RegisterError::Stopped => None,
        }
    }
}
