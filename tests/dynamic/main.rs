//! Dynamically typed messages: patterns and the cases that they are in.

mod interpreter;
mod patterns;
