//! Caching actors: bounds and times, loads and writes, and what survives failures.

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
