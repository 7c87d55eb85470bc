//! What all threads share: free stacks, and chunks from which new ones are cut.

use coact_sync::shim::process::Mutex;

use super::super::size_class::{CLASSES, SizeClass};
use super::chunk::Chunk;
use super::free_list::{FreeList, FreeStack};
use super::guard;
use super::trim::{trim, trim_all};
use crate::stack_error::StackError;

/// How many free stacks of a class keep their tops: those of a larger crowd of fibers that has
/// ended at once are not needed soon.
const MOST: usize = 1_024;

static DEPOTS: [Depot; CLASSES] = [const { Depot::new() }; CLASSES];

/// What is shared of one class.
pub(super) struct Depot {
    stock: Mutex<Stock>,
}

struct Stock {
    free: FreeList,
    /// More free stacks, without any memory: not in a list, whose links would take a page of each.
    surplus: Vec<FreeStack>,
    /// Stacks that have no guard, since the system has refused it.
    bare: FreeList,
    open: Option<Chunk>,
}

impl Depot {
    const fn new() -> Self {
        let (free, bare) = (FreeList::new(), FreeList::new());
        let stock = Stock { free, surplus: Vec::new(), bare, open: None };
        Self { stock: Mutex::new(stock) }
    }

    pub(super) fn of(class: SizeClass) -> &'static Self {
        &DEPOTS[class.index()]
    }

    /// Returns a stack, and up to `most` others that are free.
    pub(super) fn take(
        &self,
        class: SizeClass,
        most: usize,
    ) -> Result<(FreeStack, FreeList), StackError> {
        let bare = {
            let mut stock = self.stock.lock();
            if let Some(stack) = stock.free.pop() {
                return Ok((stack, stock.free.split(most)));
            }
            if let Some(stack) = stock.surplus.pop() {
                return Ok((stack, FreeList::new()));
            }
            stock.take_bare(class)?
        };
        // SAFETY: the stack was cut from a chunk above the pages of its guard.
        match unsafe { guard::install(bare.bottom(class), class) } {
            Ok(()) => Ok((known_to_valgrind(bare, class), FreeList::new())),
            Err(refused) => {
                self.stock.lock().bare.push(bare);
                Err(refused)
            }
        }
    }

    /// Adds free stacks, of which only the tops stay in memory, and nothing if there are many.
    pub(super) fn put(&self, class: SizeClass, mut stacks: FreeList) {
        if self.stock.lock().free.count() >= MOST {
            return self.put_surplus(class, stacks);
        }
        let mut trimmed = FreeList::new();
        while let Some(mut stack) = stacks.pop() {
            trim(&mut stack, class);
            trimmed.push(stack);
        }
        self.stock.lock().free.append(trimmed);
    }

    fn put_surplus(&self, class: SizeClass, mut stacks: FreeList) {
        while let Some(mut stack) = stacks.pop() {
            trim_all(&mut stack, class);
            self.stock.lock().surplus.push(stack);
        }
    }
}

impl Stock {
    /// Returns a stack that has no guard yet.
    fn take_bare(&mut self, class: SizeClass) -> Result<FreeStack, StackError> {
        if let Some(stack) = self.bare.pop() {
            return Ok(stack);
        }
        if let Some(stack) = self.open.as_mut().and_then(|chunk| chunk.cut(class)) {
            return Ok(stack);
        }
        let chunk = self.open.insert(Chunk::map(class)?);
        Ok(chunk.cut(class).expect("a new chunk has room for one stack at least"))
    }
}

/// Tells Valgrind, if the process runs under it, that this is a stack. Else it takes a switch for a
/// large frame.
fn known_to_valgrind(stack: FreeStack, class: SizeClass) -> FreeStack {
    let bottom = stack.bottom(class).as_ptr();
    let known = corosensei::stack::valgrind::ValgrindStackRegistration::new(bottom, class.bytes());
    // For good, as the chunk.
    std::mem::forget(known);
    stack
}
