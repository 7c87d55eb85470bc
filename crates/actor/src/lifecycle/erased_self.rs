//! An actor's address of itself, independent of its type.

use coact_core::runtime::RuntimeHandle;

use crate::any_addr::AnyAddr;
use crate::id::ActorId;
use crate::shared_state::SharedState;

/// An actor's address of itself.
pub(crate) trait AnyWeak {
    fn id(&self) -> ActorId;
    fn shared(&self) -> &SharedState;
    fn to_any(&self) -> AnyAddr;
    /// Interrupts the actor. Returns whether there is still an address.
    fn interrupt(&self) -> bool;
    fn close(&self);
    fn upgrade(&self) -> Option<Box<dyn AnyStrong>>;
}

/// An address that keeps its actor alive.
pub(crate) trait AnyStrong {
    fn shared(&self) -> &SharedState;
    fn home(&self) -> RuntimeHandle;
    /// Runs `work` behind all that waits in the actor's queue, even if the actor has ended.
    fn defer(&self, work: Box<dyn FnOnce() + Send>);
}
