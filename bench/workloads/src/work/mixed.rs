//! Rings that are built again and again, and numbers to factorise beside each.

use crate::program::Given;

/// The rings, and what is to be factorised beside each.
#[derive(Clone, Copy)]
pub struct MixedSizes {
    /// How many rings.
    pub rings: u64,
    /// How many links in each.
    pub links: u64,
    /// What the token is worth at first.
    pub token: u64,
    /// How often each ring is built.
    pub rebuilds: u64,
    /// What is to be factorised beside each ring: the product of two primes.
    pub number: u64,
}

impl MixedSizes {
    /// Those of a run.
    pub fn of(given: &Given) -> anyhow::Result<MixedSizes> {
        Ok(MixedSizes {
            rings: given.number("rings")?,
            links: given.number("links")?,
            token: given.number("token")?,
            rebuilds: given.number("rebuilds")?,
            number: given.number("number")?,
        })
    }

    /// How many messages go round in all.
    pub fn messages(self) -> u64 {
        self.rings * self.rebuilds * (self.token + 1) * (self.links + 1)
    }
}
