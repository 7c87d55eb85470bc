//! Streams into actors ([`Attached`], [`Feed`]) and out of them ([`ActorStream`], [`Demand`]). In
//! both directions the consumer pulls: nothing is produced until it is requested, so what is in
//! between is bounded.

// `feed` is the way in, `source` the way out.

mod buffer;
mod consumer_gone;
mod demand;
mod feed;
mod source;

pub use crate::attached_streams::Attached;
pub use buffer::{OfferEnd, StreamId};
pub use consumer_gone::ConsumerGone;
pub use demand::{Demand, PushError};
pub use feed::{Feed, StreamEnd};
pub use source::ActorStream;
