//! The queues of requests on cowns: appending, granting, leaving. The protocol is in README.md. It
//! never runs user code.

pub(crate) mod append;
pub(crate) mod backlog;
pub(crate) mod claim;
pub(crate) mod dequeue;
pub(crate) mod end_mark;
mod enqueue_state;
mod flags;
pub(crate) mod grant;
pub(crate) mod group_header;
pub(crate) mod group_interrupt;
pub(crate) mod handle_counts;
pub(crate) mod header;
pub(crate) mod interrupt_notice;
pub(crate) mod interruptible_guard;
pub(crate) mod multi;
pub(crate) mod readers;
pub(crate) mod release;
pub(crate) mod requested_cown;
pub(crate) mod ring;
pub(crate) mod single;
pub(crate) mod slot;
pub(crate) mod spawn;
pub(crate) mod tail;
#[cfg_attr(loom, allow(dead_code))]
pub(crate) mod turnstile;
