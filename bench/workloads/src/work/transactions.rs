//! Savina's bank: what the teller picks.

use crate::random::R16;

/// A transaction, as the teller picks it.
pub struct Draw {
    /// Who pays.
    pub from: usize,
    /// Who receives.
    pub to: usize,
    /// How much.
    pub amount: i64,
}

/// What the teller picks, one after the other.
pub fn draws(accounts: u64, transactions: u64) -> impl Iterator<Item = Draw> {
    let (accounts, mut random) = (accounts as u32, R16::new(74_755));
    (0..transactions).map(move |_| {
        let from = random.below(accounts * 8 / 10);
        let to = from + random.below(accounts - from).max(1);
        let amount = i64::from(1 + random.below(1_000));
        Draw { from: from as usize, to: to as usize, amount }
    })
}

/// The accounts' balances after all transactions, each times its place.
pub fn weighted(accounts: u64, transactions: u64) -> u64 {
    let place = |place: usize| place as i64 + 1;
    draws(accounts, transactions)
        .map(|draw| draw.amount * (place(draw.to) - place(draw.from)))
        .sum::<i64>() as u64
}
