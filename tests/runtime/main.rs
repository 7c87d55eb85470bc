//! The runtime: building, stopping, scheduling, timers, credits, blocking jobs and futures.

mod blocking;
mod builder;
mod credits;
mod fairness;
mod futures;
mod lifecycle;
mod sharing;
mod timers;
