//! Streams into actors ([`Attached`], [`Feed`]) and out of them ([`ActorStream`], [`Demand`]). In
//! both directions the consumer pulls: nothing is produced until it is requested, so what is in
//! between is bounded.

// `feed` is the way in, `offer` the way out.

mod feed;
mod source;

pub use crate::attached_streams::Attached;
pub use feed::{Feed, StreamEnd};
pub use source::{ActorStream, ConsumerGone, Demand, OfferEnd, PushError, StreamId};
