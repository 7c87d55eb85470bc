//! Streams into actors ([`Attached`], [`Feed`]) and out of them ([`ActorStream`], [`Demand`]). In both directions the
//! consumer pulls: nothing is made before it is asked for, so what lies between is bounded.

// `feed` is the way in, `offer` the way out.

mod feed;
mod offer;

pub use crate::attached::Attached;
pub use feed::{Feed, StreamEnd};
pub use offer::{ActorStream, ConsumerGone, Demand, OfferEnd, PushError, StreamId};
