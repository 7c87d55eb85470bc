//! What all who do it have in common.

use coact_bench_workloads::Given;

/// How many producers, and how many adds each.
#[derive(Clone, Copy)]
pub struct Size {
    pub producers: u64,
    pub each: u64,
}

impl Size {
    pub fn micro(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { producers: given.number("producers")?, each: given.number("adds_each")? })
    }

    pub fn counter(given: &Given) -> anyhow::Result<Size> {
        let producers = given.number("threads")?;
        Ok(Size { producers, each: given.number("messages")? / producers })
    }

    pub fn mailbox(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { producers: given.number("senders")?, each: given.number("messages")? })
    }

    pub fn total(self) -> u64 {
        self.producers * self.each
    }
}
