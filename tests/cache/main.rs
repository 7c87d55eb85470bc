//! Caching actors: what is kept, for how long, what is loaded and written, and what of that
//! survives failures.

mod behind;
mod bounds;
mod durable;
mod ends;
mod loads;
mod model;
mod panics;
mod policy_model;
mod refresh;
mod removal;
mod scale;
mod table;
mod through;
mod waits;
