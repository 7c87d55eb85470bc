//! The strategies, driven by small simulated programs.

mod dfs;
mod explorer;
mod fifo;
mod pct;
mod random;
mod replay;
mod toy;
