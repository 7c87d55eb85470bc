//! Mailboxes that are more than a queue: bounded ones, lanes, and messages that are set aside.
//!
//! Most actors need none of that. [`Mailbox`] says what an actor wants, [`MailboxView`] shows how full it is.

// Messages to actors without such a mailbox are plain behaviours. The cown of an actor that has one
// is [marked](coact_core::Cown::mark), which sends its senders to `address/post`. A bounded mailbox
// of one lane only counts: each message takes a credit along. Where messages may overtake or
// displace one another they lie in `lanes`, and what stands in the cown's queue is *tickets*; the
// README has the protocol.
//
// Reading order: `settings`, `queue`, `lanes` with the README; `stash`; `view`.

mod count;
mod envelope;
mod lanes;
mod moment;
mod queue;
mod settings;
mod stash;
mod view;

pub use settings::{Lane, Mailbox};
pub use stash::StashFull;
pub use view::{BehavioursView, LaneView, MailboxView};

pub(crate) use count::Count;
pub(crate) use envelope::{Envelope, Envelopes, drop_for_room};
pub(crate) use lanes::{Added, Number};
pub(crate) use queue::{Admission, AdmissionControl, Queue, QueuedMessage, Sorted};
pub(crate) use stash::Stash;
