//! Depots: where threads exchange batches of free blocks. There is one depot per size class.

use std::mem;
use std::ptr::NonNull;

use super::batch::{BATCH, BlockBatch};
use super::class::{CLASSES, SizeClass};
use super::slab::{BlockSpan, FreeBlock, SLAB_BYTES, Slab, SlabCursor};
use super::slab_census::SlabCensus;
use crate::CachePadded;
use crate::shim::process::Mutex;

/// A depot smaller than this is not worth a walk when the runtime goes idle.
const SURPLUS_BYTES: usize = 256 * 1024;

/// A depot smaller than this is trimmed only on request.
const AUTOMATIC_BYTES: usize = 32 * 1024 * 1024;

static DEPOTS: [CachePadded<Depot>; CLASSES] = [const { CachePadded::new(Depot::new()) }; CLASSES];

/// The exchange of one class.
pub(super) struct Depot {
    stock: Mutex<DepotStock>,
    /// Held while blocks are counted per slab, so there is one census at a time. Taken before
    /// `stock`.
    trimmer: Mutex<()>,
}

/// The contents of a depot, with their counts.
struct DepotStock {
    batches: Vec<BlockBatch>,
    /// Slabs that are not fully carved yet: one, unless two threads opened one at the same time.
    open: Vec<SlabCursor>,
    /// Blocks in `batches`.
    blocks: usize,
    /// Blocks carved from all slabs of this class.
    carved: usize,
    /// Slabs of this class.
    slabs: usize,
    /// The smallest number of batches since the last look: those that no thread has needed
    /// (Bonwick's working set estimate).
    low: usize,
    /// The thread that adds the batch which reaches this number trims.
    trim_at: usize,
}

/// The origin of blocks that a thread takes.
enum BlockSupply {
    Batch(BlockBatch),
    Span(BlockSpan),
    Nothing,
}

/// What a depot reports to [`stats`](super::stats).
#[derive(Clone, Copy, Debug)]
pub(super) struct DepotCount {
    pub(super) slab_bytes: usize,
    pub(super) carved: usize,
    pub(super) stocked: usize,
}

impl Depot {
    const fn new() -> Self {
        Self { stock: Mutex::new(DepotStock::new()), trimmer: Mutex::new(()) }
    }

    /// The depot of `class`.
    pub(super) fn of(class: SizeClass) -> &'static Self {
        &DEPOTS[class.index()]
    }

    /// Returns a batch, recycled or fresh.
    pub(super) fn take(&self, class: SizeClass) -> BlockBatch {
        self.take_up_to(class, BATCH)
    }

    /// Returns one block, for a thread without magazines.
    pub(super) fn take_one(&self, class: SizeClass) -> NonNull<FreeBlock> {
        let mut batch = self.take_up_to(class, 1);
        // SAFETY: this thread owns the batch, so it may read the link of the head.
        if let Some(rest) = unsafe { batch.head.read().next } {
            self.put(class, BlockBatch { head: rest, count: batch.count - 1 });
            batch.count = 1;
        }
        batch.head
    }

    /// Returns a recycled batch of any length, or a fresh one of at most `most` blocks.
    fn take_up_to(&self, class: SizeClass, most: usize) -> BlockBatch {
        loop {
            // The lock is released before the blocks are linked and before a slab is allocated:
            // both may fault pages in.
            let supply = self.stock.lock().take(class, most);
            match supply {
                BlockSupply::Batch(batch) => return batch,
                BlockSupply::Span(span) => {
                    let count = span.count();
                    if let Some(head) = span.link() {
                        return BlockBatch { head, count };
                    }
                }
                BlockSupply::Nothing => self.stock.lock().add_slab(SlabCursor::open()),
            }
        }
    }

    /// Adds a batch. Gives slabs back if the batches have doubled since that was last tried.
    pub(super) fn put(&self, class: SizeClass, batch: BlockBatch) {
        let trim = {
            let mut stock = self.stock.lock();
            stock.put(batch);
            stock.is_trim_due(class)
        };
        // If another thread is already trimming, there is no need to wait for it.
        if trim && let Some(_trimmer) = self.trimmer.try_lock() {
            self.trim_locked(class);
        }
    }

    /// Gives back all slabs whose blocks are all in this depot; returns the number of bytes.
    pub(super) fn trim(&self, class: SizeClass) -> usize {
        let _trimmer = self.trimmer.lock();
        let bytes = self.trim_locked(class);
        self.stock.lock().trim_at = 0;
        bytes
    }

    /// Trims if at least [`SURPLUS_BYTES`] have lain here untouched since the last call.
    pub(super) fn trim_surplus(&self, class: SizeClass) -> usize {
        if self.stock.lock().take_low(class) < SURPLUS_BYTES {
            return 0;
        }
        self.trim(class)
    }

    /// Returns the figures; waits for a trimmer, whose blocks would be missing.
    pub(super) fn count(&self) -> DepotCount {
        let _trimmer = self.trimmer.lock();
        let stock = self.stock.lock();
        DepotCount {
            slab_bytes: stock.slabs * SLAB_BYTES,
            carved: stock.carved,
            stocked: stock.blocks,
        }
    }

    /// The caller holds `trimmer`. Other threads find the depot empty during the walk and open a
    /// new slab if they must, so no thread waits for the walk.
    fn trim_locked(&self, class: SizeClass) -> usize {
        let (mut batches, mut open) = self.stock.lock().take_all();
        let census = SlabCensus::take(class, &batches, &open);
        let mut slabs = 0;
        let mut carved = 0;
        if census.free_slabs().next().is_some() {
            batches = census.without_free(batches);
            slabs = census.free_slabs().count();
            carved = slabs * Slab::capacity(class);
            open.retain(|cursor| {
                let stays = !census.is_free(cursor.slab());
                if !stays {
                    carved -= Slab::capacity(class) - cursor.carved();
                }
                stays
            });
        }
        self.stock.lock().give_back(batches, open, slabs, carved);
        for slab in census.free_slabs() {
            // SAFETY: all blocks ever carved from the slab were in the depot, so none is in use;
            // `without_free` has dropped them, and the slab's cursor, if it had one, was dropped as
            // well.
            unsafe { slab.release() };
        }
        slabs * SLAB_BYTES
    }
}

impl DepotStock {
    const fn new() -> Self {
        Self {
            batches: Vec::new(),
            open: Vec::new(),
            blocks: 0,
            carved: 0,
            slabs: 0,
            low: 0,
            trim_at: 0,
        }
    }

    fn take(&mut self, class: SizeClass, most: usize) -> BlockSupply {
        if let Some(batch) = self.batches.pop() {
            self.blocks -= batch.count;
            self.low = self.low.min(self.batches.len());
            return BlockSupply::Batch(batch);
        }
        while let Some(cursor) = self.open.last_mut() {
            let span = cursor.carve(class, most);
            if span.count() > 0 {
                self.carved += span.count();
                return BlockSupply::Span(span);
            }
            self.open.pop();
        }
        BlockSupply::Nothing
    }

    fn add_slab(&mut self, cursor: SlabCursor) {
        self.open.push(cursor);
        self.slabs += 1;
    }

    fn put(&mut self, batch: BlockBatch) {
        self.blocks += batch.count;
        self.batches.push(batch);
    }

    /// Returns whether the number of batches has reached the mark, and if so doubles the mark. So
    /// exactly one thread sees `true`, and the walks add a constant cost per freed block.
    fn is_trim_due(&mut self, class: SizeClass) -> bool {
        let floor = AUTOMATIC_BYTES / (BATCH * class.block_size());
        let due = self.batches.len() >= self.trim_at.max(floor);
        if due {
            self.trim_at = 2 * self.batches.len();
        }
        due
    }

    /// Returns the bytes that no thread has taken since the last call.
    fn take_low(&mut self, class: SizeClass) -> usize {
        let low = mem::replace(&mut self.low, self.batches.len());
        low * BATCH * class.block_size()
    }

    /// Takes all batches and all cursors, for the trimmer. Until `give_back`, no other thread
    /// carves from a slab that has a block among them.
    fn take_all(&mut self) -> (Vec<BlockBatch>, Vec<SlabCursor>) {
        self.blocks = 0;
        self.low = 0;
        (mem::take(&mut self.batches), mem::take(&mut self.open))
    }

    fn give_back(
        &mut self,
        batches: Vec<BlockBatch>,
        open: Vec<SlabCursor>,
        slabs: usize,
        carved: usize,
    ) {
        self.blocks += batches.iter().map(|batch| batch.count).sum::<usize>();
        // Batches added meanwhile are warmer, so they stay on top.
        let added = mem::replace(&mut self.batches, batches);
        self.batches.extend(added);
        self.open.extend(open);
        self.slabs -= slabs;
        self.carved -= carved;
        self.low = self.batches.len();
    }
}
