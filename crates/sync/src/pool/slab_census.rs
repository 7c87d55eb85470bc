//! Finds free slabs: counts, per slab, the blocks that are in a depot.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ptr::NonNull;

use super::batch::{BATCH, BlockBatch};
use super::class::SizeClass;
use super::slab::{FreeBlock, Slab, SlabCursor};

/// The blocks missing from each slab, and the slab of each batch.
pub(super) struct SlabCensus {
    /// Blocks in use. For a partly carved slab, of those carved.
    missing: HashMap<Slab, usize, BuildHasherDefault<AddressHasher>>,
    /// For each batch, the slab of all its blocks, or `None` if they come from several. Most
    /// batches have one, and are then kept or dropped without another walk.
    homes: Vec<Option<Slab>>,
}

impl SlabCensus {
    /// Counts the blocks of `batches`. `open` holds the cursors of all partly carved slabs with a
    /// block among them.
    pub(super) fn take(class: SizeClass, batches: &[BlockBatch], open: &[SlabCursor]) -> Self {
        let carved = open.iter().map(|cursor| (cursor.slab(), cursor.carved()));
        let mut census =
            Self { missing: carved.collect(), homes: Vec::with_capacity(batches.len()) };
        for batch in batches {
            let home = census.count(class, batch);
            census.homes.push(home);
        }
        census
    }

    /// Counts one batch, a run of blocks of one slab at a time.
    fn count(&mut self, class: SizeClass, batch: &BlockBatch) -> Option<Slab> {
        let first = Slab::of(batch.head);
        let (mut slab, mut run) = (first, 0);
        for block in blocks(batch) {
            let next = Slab::of(block);
            if next != slab {
                self.found(class, slab, run);
                (slab, run) = (next, 0);
            }
            run += 1;
        }
        self.found(class, slab, run);
        (run == batch.count).then_some(first)
    }

    fn found(&mut self, class: SizeClass, slab: Slab, count: usize) {
        let missing = self.missing.entry(slab);
        *missing.or_insert(Slab::capacity(class)) -= count;
    }

    /// The slabs whose every carved block has been counted.
    pub(super) fn free_slabs(&self) -> impl Iterator<Item = Slab> {
        let free = self.missing.iter().filter(|(_, missing)| **missing == 0);
        free.map(|(slab, _)| *slab)
    }

    pub(super) fn is_free(&self, slab: Slab) -> bool {
        self.missing.get(&slab) == Some(&0)
    }

    /// Returns `batches` (those that were counted) without the blocks of free slabs.
    pub(super) fn without_free(&self, batches: Vec<BlockBatch>) -> Vec<BlockBatch> {
        let mut kept = Vec::new();
        let mut current = None;
        for (batch, home) in batches.into_iter().zip(&self.homes) {
            match home {
                Some(home) if self.is_free(*home) => {}
                Some(_) if batch.count == BATCH => kept.push(batch),
                _ => self.repack(&batch, &mut current, &mut kept),
            }
        }
        kept.extend(current);
        kept
    }

    /// Moves the blocks that stay to `current`, and `current` to `kept` whenever it is full.
    fn repack(
        &self,
        batch: &BlockBatch,
        current: &mut Option<BlockBatch>,
        kept: &mut Vec<BlockBatch>,
    ) {
        for block in blocks(batch) {
            if self.is_free(Slab::of(block)) {
                continue;
            }
            // SAFETY: the block belongs to a batch that this trim owns, and `blocks` has already
            // read its link.
            let longer = unsafe { BlockBatch::prepend(block, current.take()) };
            if longer.count == BATCH {
                kept.push(longer);
            } else {
                *current = Some(longer);
            }
        }
    }
}

/// The blocks of a batch. Reads each link before it yields the block.
fn blocks(batch: &BlockBatch) -> impl Iterator<Item = NonNull<FreeBlock>> + use<> {
    let mut next = Some(batch.head);
    std::iter::from_fn(move || {
        let block = next?;
        // SAFETY: the blocks of a batch are linked from its head to an empty link, and belong to
        // the owner of the batch.
        next = unsafe { block.read().next };
        Some(block)
    })
}

/// Hashes addresses. No outsider chooses them, so there is nothing to defend against.
#[derive(Default)]
pub(super) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_usize(byte.into());
        }
    }

    fn write_usize(&mut self, address: usize) {
        // Fibonacci hashing; the table uses the upper and the lower bits, so both are mixed.
        let product = (self.0 ^ address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 32);
    }
}
