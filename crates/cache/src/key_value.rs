//! The traits that keys and values of a cache have.

use std::hash::Hash;

/// A key of a cache. Implemented for every type that has these traits.
pub trait Key: Hash + Eq + Clone + Send + 'static {}

impl<K: Hash + Eq + Clone + Send + 'static> Key for K {}

/// A value of a cache. Implemented for every type that has these traits. Each answer is a clone:
/// put large values into an [`Arc`](std::sync::Arc).
pub trait Value: Clone + Send + 'static {}

impl<V: Clone + Send + 'static> Value for V {}
