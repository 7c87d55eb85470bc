//! Streams into actors ([`AttachedStream`], [`Feed`]) and out of them ([`ActorStream`],
//! [`Demand`]). In both directions the consumer pulls: nothing is produced until it is requested,
//! so what is in between is bounded.

// `feed` is the way in, `actor_stream` the way out.

mod actor_stream;
mod buffer;
mod feed;
mod producer_end;
mod watch_consumer;

pub use crate::attached_streams::AttachedStream;
pub use actor_stream::ActorStream;
pub use buffer::{OfferEnd, StreamId};
pub use feed::{Feed, StreamEnd};
pub use producer_end::{Demand, PushError};
pub use watch_consumer::ConsumerGone;
