//! Savina's workers who draw what they ask for, and the smokers whose time an arbiter draws.

use crate::random::R16;

/// What a worker does.
#[derive(Clone, Copy)]
pub struct Load {
    /// Questions of each.
    pub messages: u64,
    /// Of a hundred.
    pub writes: u32,
    /// Of a hundred, where there is a list whose size can be asked for.
    pub sizes: u32,
}

/// The keys that workers ask a dictionary for: every second number that is drawn; the values are
/// the same.
pub fn answers(workers: u64, messages: u64) -> u64 {
    let of_worker = |number| every_second(number).take(messages as usize).sum::<u64>();
    (1..=workers as u32).map(of_worker).sum()
}

/// How long all smoke: every second number that is drawn.
pub fn smoked(rounds: u64) -> u64 {
    every_second(74_755).take(rounds as usize).map(|number| number % 1_000 + 10).sum()
}

fn every_second(seed: u32) -> impl Iterator<Item = u64> {
    let mut random = R16::new(seed);
    std::iter::repeat_with(move || {
        random.next();
        u64::from(random.next())
    })
}

/// The sum of the values that workers add to a list, in ascending order, each times its place.
pub fn weighted(workers: u64, load: Load) -> u64 {
    let mut values = Vec::new();
    for number in 1..=workers as u32 {
        let mut random = R16::new(number);
        for _ in 0..load.messages {
            let what = random.below(100);
            if what < load.sizes {
                continue;
            }
            let value = random.next();
            if what < load.sizes + load.writes {
                values.push(u64::from(value));
            }
        }
    }
    values.sort_unstable();
    values.into_iter().zip(1..).map(|(value, place)| place * value).sum()
}
