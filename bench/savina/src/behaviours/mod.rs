//! The full form: behaviours over several cowns.

pub mod banking;
pub mod chameneos;
pub mod count;
pub mod dining_philosophers;
pub mod fibonacci;
pub mod fork_join_create;
pub mod fork_join_throughput;
pub mod logistic_map;
pub mod quicksort;
pub mod sleeping_barber;
pub mod trapezoid;
