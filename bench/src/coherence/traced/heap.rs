//! What a program has allocated, and where: so that a line on the heap has a name.

use std::collections::{BTreeMap, HashMap};

use nix::libc::user_regs_struct as Registers;

use super::files::Files;
use super::memory::Memory;
use crate::coherence::cores::Thread;

/// The allocations of a program.
pub struct Heap {
    /// Functions of the C library, by their first instruction.
    allocators: HashMap<u64, Allocator>,
    /// Calls that have not returned, by thread.
    pending: HashMap<Thread, Call>,
    blocks: BTreeMap<u64, Block>,
}

/// Words of the stack that are looked at for who allocates.
const DEPTH: u64 = 64;

/// How an allocator gets its size, and returns its block.
#[derive(Clone, Copy)]
enum Allocator {
    /// `malloc(size)`.
    First,
    /// `aligned_alloc(alignment, size)`, `realloc(block, size)`.
    Second,
    /// `calloc(count, size)`.
    Product,
    /// `posix_memalign(block, alignment, size)`.
    Third,
}

struct Call {
    returns_to: u64,
    allocated_by: u64,
    stack: u64,
    size: u64,
    /// Where the block's address is written, if it is not returned.
    result: Option<u64>,
}

/// An allocated block.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Block {
    /// Its first byte.
    pub start: u64,
    /// Its length.
    pub size: u64,
    /// Where the code of this project goes on that has allocated it.
    pub allocated_by: u64,
}

impl Heap {
    /// A heap without blocks.
    pub fn new(files: &Files) -> Heap {
        use Allocator::{First, Product, Second, Third};
        let names = [
            ("malloc", First),
            ("aligned_alloc", Second),
            ("memalign", Second),
            ("realloc", Second),
            ("calloc", Product),
            ("posix_memalign", Third),
        ];
        let entries = names.into_iter().filter_map(|(name, how)| Some((files.entry(name)?, how)));
        Heap { allocators: entries.collect(), pending: HashMap::new(), blocks: BTreeMap::new() }
    }

    /// Sees a thread before it executes an instruction.
    pub fn see(&mut self, thread: Thread, registers: &Registers, memory: &Memory, files: &Files) {
        if let Some(how) = self.allocators.get(&registers.rip) {
            if let (false, Some(call)) =
                (self.pending.contains_key(&thread), Call::begin(*how, registers, memory, files))
            {
                self.pending.insert(thread, call);
            }
            return;
        }
        let has_returned =
            |call: &Call| call.returns_to == registers.rip && call.stack < registers.rsp;
        if self.pending.get(&thread).is_some_and(has_returned)
            && let Some(call) = self.pending.remove(&thread)
        {
            let start = call.result.map_or(Some(registers.rax), |at| memory.word(at).ok());
            let Call { size, allocated_by, .. } = call;
            self.add(Block { start: start.unwrap_or(0), size, allocated_by });
        }
    }

    /// The block that an address lies in.
    pub fn block(&self, address: u64) -> Option<Block> {
        let (_, block) = self.blocks.range(..=address).next_back()?;
        (address - block.start < block.size).then_some(*block)
    }

    /// Adds a block; those that were there before have been freed.
    fn add(&mut self, block: Block) {
        let end = block.start + block.size;
        let freed: Vec<u64> =
            self.blocks.range(block.start..end).map(|(start, _)| *start).collect();
        for start in freed {
            self.blocks.remove(&start);
        }
        self.blocks.insert(block.start, block);
    }
}

impl Call {
    fn begin(
        how: Allocator,
        registers: &Registers,
        memory: &Memory,
        files: &Files,
    ) -> Option<Call> {
        let (size, result) = match how {
            Allocator::First => (registers.rdi, None),
            Allocator::Second => (registers.rsi, None),
            Allocator::Product => (registers.rdi.checked_mul(registers.rsi)?, None),
            Allocator::Third => (registers.rdx, Some(registers.rdi)),
        };
        let stack = registers.rsp;
        let words = (0..DEPTH).map_while(|index| memory.word(stack + 8 * index).ok());
        let words: Vec<u64> = words.collect();
        let returns_to = *words.first()?;
        // What lies deeper on the stack has no bounds that are known here; the first word that
        // leads into code of ours is where that has called something, now or a little before.
        let ours = words.iter().find(|word| files.ours(**word).is_some());
        let allocated_by = *ours.unwrap_or(&returns_to);
        Some(Call { returns_to, stack, size, result, allocated_by })
    }
}
