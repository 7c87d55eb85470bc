//! Dynamically typed messages: patterns, the cases that they are in, and actors that take them.

mod become_model;
mod becoming;
mod fibers;
mod interpreter;
mod patterns;
mod receive_model;
mod requests;
mod samples;
mod senders;
mod skipping;
mod tasks;
mod threads;
