//! Streams into actors ([`feed`]) and out of them ([`offer`]). In both directions the consumer
//! pulls: nothing is made before it is asked for, so what lies between is bounded.

mod feed;
mod offer;

pub(crate) use feed::Feeds;
pub use feed::{Attached, Feed, StreamEnd};
pub use offer::{ActorStream, ConsumerGone, Demand, OfferEnd, PushError, StreamId};
