//! The queues of requests on cowns: appending, granting, leaving. The protocol is in README.md. It
//! never runs user code.

pub(crate) mod append;
pub(crate) mod claim;
pub(crate) mod dequeue;
pub(crate) mod enqueue_request;
pub(crate) mod grant;
pub(crate) mod group_header;
pub(crate) mod group_ring;
pub(crate) mod handle_counts;
pub(crate) mod header;
pub(crate) mod interrupt_header;
pub(crate) mod live_cown;
pub(crate) mod live_slot;
pub(crate) mod member_interrupt;
pub(crate) mod member_interrupt_listed;
pub(crate) mod multi_block;
pub(crate) mod overload;
pub(crate) mod readers;
pub(crate) mod release;
pub(crate) mod requested_cown;
pub(crate) mod single_block;
pub(crate) mod slot;
mod slot_placement;
pub(crate) mod state_dropper;
mod state_word;
pub(crate) mod tail;
#[cfg_attr(loom, allow(dead_code))]
pub(crate) mod turnstile;
