//! Mailboxes that are more than a queue: bounded mailboxes, lanes, and the stash.
//!
//! Most actors need none of this. [`Mailbox`] configures a mailbox, [`MailboxView`] shows how full
//! it is.

// Messages to actors without such a mailbox are plain behaviours. The cown of an actor with one is
// [marked](coact_core::Cown::mark), which directs its senders to `address/configured_send`. A
// bounded mailbox of one lane only counts: each message carries a credit. Where messages may
// overtake or displace one another they are kept in `lanes`, and the cown's queue contains
// *tickets*; the README describes the protocol.
//
// Reading order: `settings`, `mailbox_shared`, `lanes` with the README; `stash`; `view`.

mod envelope;
mod lanes;
mod mailbox_shared;
mod moments;
mod settings;
mod stash;
mod unhandled_counter;
mod view;

pub use settings::{Lane, Mailbox};
pub use stash::StashFull;
pub use view::{BehavioursView, LaneView, MailboxView};

pub(crate) use envelope::{Envelope, Envelopes, drop_for_room};
pub(crate) use lanes::{AddOutcome, TicketNumber};
pub(crate) use mailbox_shared::{
    Admission, AdmissionControl, QueuedMessage, SharedMailbox, SortedMessages,
};
pub(crate) use stash::Stash;
pub(crate) use unhandled_counter::DropCounter;
