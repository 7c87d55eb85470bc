//! The actor form: actors that send messages.

pub mod banking;
pub mod big;
pub mod bounded_buffer;
pub mod chameneos;
pub mod cigarette_smokers;
pub mod concurrent_dictionary;
pub mod concurrent_sorted_list;
pub mod count;
pub mod dining_philosophers;
pub mod fibonacci;
pub mod filter_bank;
pub mod fork_join_create;
pub mod fork_join_throughput;
pub mod logistic_map;
pub mod ping_pong;
pub mod quicksort;
pub mod radix_sort;
pub mod recursive_matrix;
pub mod sieve;
pub mod sleeping_barber;
pub mod thread_ring;
pub mod trapezoid;
