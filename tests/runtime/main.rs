//! The runtime: building, stopping, scheduling, timers, credits, blocking jobs and futures.

mod blocking;
mod blocking_threads;
mod builder;
mod credits;
mod entering;
mod executor;
mod fairness;
mod families;
mod futures;
mod held_open;
mod lifecycle;
mod moving;
mod pump;
mod quiescence;
mod sharing;
mod timers;
mod watchdog;
