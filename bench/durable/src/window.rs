//! Many at a time, but not more than a number of them.

use std::collections::VecDeque;

/// Begins `count` of them, each when fewer than `most` are under way, and waits for all, in their
/// order.
pub fn run<P>(
    count: u64,
    most: u64,
    mut begin: impl FnMut(u64) -> P,
    mut wait: impl FnMut(P) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut under_way = VecDeque::new();
    for number in 0..count {
        if under_way.len() as u64 >= most
            && let Some(first) = under_way.pop_front()
        {
            wait(first)?;
        }
        under_way.push_back(begin(number));
    }
    under_way.into_iter().try_for_each(wait)
}
