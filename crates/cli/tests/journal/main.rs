//! The tool over files that a store has written, and over what can become of them.

mod backing_up;
mod exporting;
mod listing;
mod opening;
mod scale;
mod showing;
mod verifying;
mod world;
