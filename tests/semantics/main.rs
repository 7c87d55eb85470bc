//! The semantics contract: a test for each sentence of the design's "Core semantics", and for each
//! promise of the documentation of cowns and behaviours.
//!
//! Tests that use `everywhere` depend on nothing but the semantics, and run with one worker, with
//! two, with more than there are cores, and in deterministic mode. The others show what must be
//! able to happen at the same time, or bring threads of their own.

mod atomicity;
mod batches;
mod deadlock;
mod depth;
mod detained;
mod failure;
mod groups;
mod handles;
mod here;
mod interruptible;
mod many;
mod order;
mod overlap;
mod payloads;
mod readers;
mod results;
mod scopes;
mod sets;
