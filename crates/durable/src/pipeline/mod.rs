//! The commits of an entity, from a decision to what follows from it.
//!
//! Two state machines without I/O decide what happens: [`commit_pipeline`] for the commits of one
//! entity, and [`pipelined_commit`] for one commit that several entities take part in. Events go in
//! (decided, stored, refused, unknown, settled, recovered, cancelled), and commands come out.
//! [`driver`] keeps them under their locks, carries their commands out without, and asks the store;
//! [`driver_recovery`] does the same for recoveries.
//!
//! **Lock order.** The join lock of [`driver`], then the pipeline of one entity, then the outages
//! of the store. The state of a pipelined commit is locked by itself. No code of the program runs
//! under any of them.

pub(crate) mod commit_outcome;
mod commit_pipeline;
mod driver;
mod driver_recovery;
#[cfg(test)]
mod exploration;
mod pipelined_commit;

pub(crate) use commit_pipeline::OwnerStanding;
pub(crate) use driver::{
    BYTES_PER_PART, CommitMember, OwningActor, PipelineDriver, WaitingBehaviour, store_pipelined,
    wait_behind,
};
pub use driver_recovery::AlreadyOwned;
pub(crate) use driver_recovery::RecoveryGuard;
