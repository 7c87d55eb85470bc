//! The way of the decisions back from the behaviours to the reading thread.
//!
//! Lines are grouped in chunks. Each chunk owns one atomic word a line, and a behaviour publishes
//! its decision with one store into the word of its line: no lock, no queue, no counter. Behaviours
//! share the chunk by reference count; the last one to let go sends the words to the window. Chunks
//! finish in any order, and the window hands them out in the order of the lines.
//!
//! A behaviour that is dropped without having run lets go of its chunk like any other, so its line
//! is found undecided instead of being waited for.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};

use super::outcome::{Outcome, PENDING};

/// The most lines in a chunk.
pub const CHUNK_LINES: usize = 4096;

type Words = Box<[AtomicU64]>;

/// The chunks whose decisions have not been handed out, in the order of the file.
///
/// `G` is a guard that lives as long as some behaviour of a chunk: the admission permit.
pub struct Window<G> {
    open: Option<OpenChunk<G>>,
    waiting: VecDeque<WaitingChunk>,
    first_waiting: u64,
    finished: Receiver<FinishedChunk>,
    sender: Sender<FinishedChunk>,
    spare: Vec<Words>,
}

struct OpenChunk<G> {
    chunk: Arc<Chunk<G>>,
    lines: usize,
}

struct WaitingChunk {
    lines: usize,
    words: Option<Words>,
}

struct FinishedChunk {
    index: u64,
    words: Words,
}

struct Chunk<G> {
    index: u64,
    words: Words,
    finished: Sender<FinishedChunk>,
    _guard: G,
}

/// The place for the decision on one line.
pub struct Slot<G> {
    chunk: Arc<Chunk<G>>,
    line: usize,
}

/// The decisions of one chunk, in the order of its lines; `None` where a behaviour was lost.
pub struct Decided {
    words: Words,
    lines: usize,
}

impl<G> Window<G> {
    /// An empty window.
    pub fn new() -> Self {
        let (sender, finished) = mpsc::channel();
        Self {
            open: None,
            waiting: VecDeque::new(),
            first_waiting: 0,
            finished,
            sender,
            spare: Vec::new(),
        }
    }

    /// Whether the next line needs a new chunk.
    pub fn needs_chunk(&self) -> bool {
        self.open.is_none()
    }

    /// Starts a chunk that keeps `guard` until all its lines are decided.
    pub fn start_chunk(&mut self, guard: G) {
        debug_assert!(self.open.is_none(), "one chunk is filled at a time");
        let words = self.spare.pop().unwrap_or_else(fresh_words);
        let chunk = Arc::new(Chunk {
            index: self.first_waiting + self.waiting.len() as u64,
            words,
            finished: self.sender.clone(),
            _guard: guard,
        });
        self.open = Some(OpenChunk { chunk, lines: 0 });
    }

    /// The slot of the next line, in the open chunk.
    ///
    /// # Panics
    /// If no chunk is open.
    pub fn next_slot(&mut self) -> Slot<G> {
        let open = self.open.as_mut().expect("a chunk was started");
        let slot = Slot { chunk: Arc::clone(&open.chunk), line: open.lines };
        open.lines += 1;
        if open.lines == CHUNK_LINES {
            self.close_chunk();
        }
        slot
    }

    /// Ends the open chunk early, at the end of the file or when its lines are heavy.
    pub fn close_chunk(&mut self) {
        if let Some(OpenChunk { lines, .. }) = self.open.take() {
            self.waiting.push_back(WaitingChunk { lines, words: None });
        }
    }

    /// Chunks that are not open any more and have not been handed out.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The next chunk in order if it is decided by now.
    pub fn poll(&mut self) -> Option<Decided> {
        while let Ok(chunk) = self.finished.try_recv() {
            self.file(chunk);
        }
        self.pop()
    }

    /// Waits for the next chunk in order; `None` when no chunk is waiting.
    pub fn wait(&mut self) -> Option<Decided> {
        loop {
            if let Some(decided) = self.pop() {
                return Some(decided);
            }
            self.waiting.front()?;
            // The window holds a sender itself, so this cannot fail.
            let chunk = self.finished.recv().ok()?;
            self.file(chunk);
        }
    }

    /// Takes the words of a chunk back, so that a replay allocates only as many as are in use.
    pub fn recycle(&mut self, decided: Decided) {
        for word in &decided.words[..decided.lines] {
            // ORDERING: Relaxed. The words are shared again only by spawning behaviours, and a
            // spawn publishes whatever the spawning thread did before it.
            word.store(PENDING, Ordering::Relaxed);
        }
        self.spare.push(decided.words);
    }

    fn file(&mut self, chunk: FinishedChunk) {
        let position = (chunk.index - self.first_waiting) as usize;
        self.waiting[position].words = Some(chunk.words);
    }

    fn pop(&mut self) -> Option<Decided> {
        let words = self.waiting.front_mut()?.words.take()?;
        let WaitingChunk { lines, .. } = self.waiting.pop_front()?;
        self.first_waiting += 1;
        Some(Decided { words, lines })
    }
}

fn fresh_words() -> Words {
    (0..CHUNK_LINES).map(|_| AtomicU64::new(PENDING)).collect()
}

impl<G> Slot<G> {
    /// Publishes the decision on this line.
    pub fn decide(self, outcome: Outcome) {
        // ORDERING: Relaxed. The reader sees the word only after the chunk came through the
        // channel: the reference count's release on drop and acquire at zero, then the channel,
        // order this store before that load.
        self.chunk.words[self.line].store(outcome.encode(), Ordering::Relaxed);
    }
}

impl<G> Drop for Chunk<G> {
    fn drop(&mut self) {
        let chunk = FinishedChunk { index: self.index, words: std::mem::take(&mut self.words) };
        // The window is gone when a replay was given up; then nobody wants the decisions.
        let _ = self.finished.send(chunk);
    }
}

impl Decided {
    /// The outcome of each line.
    pub fn outcomes(&self) -> impl Iterator<Item = Option<Outcome>> + '_ {
        self.words[..self.lines].iter().map(|word| Outcome::decode(word.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::cents::Cents;
    use super::*;

    fn numbered(number: usize) -> Outcome {
        Outcome::Audited(Cents::new(number as u64).unwrap())
    }

    fn filled(window: &mut Window<()>, lines: usize) -> Vec<Slot<()>> {
        let slots = (0..lines).map(|_| {
            if window.needs_chunk() {
                window.start_chunk(());
            }
            window.next_slot()
        });
        slots.collect()
    }

    #[test]
    fn decisions_come_back_in_line_order_whatever_order_they_were_made_in() {
        let mut window = Window::new();
        let lines = 2 * CHUNK_LINES + 10;
        let mut slots: Vec<_> = filled(&mut window, lines).into_iter().enumerate().collect();
        window.close_chunk();
        assert_eq!(window.waiting(), 3);
        assert!(window.poll().is_none());

        let late = slots.remove(0);
        slots.into_iter().rev().for_each(|(line, slot)| slot.decide(numbered(line)));
        assert!(window.poll().is_none(), "the first chunk misses its first line");
        late.1.decide(numbered(late.0));

        let mut next = 0;
        while let Some(decided) = window.wait() {
            for outcome in decided.outcomes() {
                assert_eq!(outcome, Some(numbered(next)));
                next += 1;
            }
            window.recycle(decided);
        }
        assert_eq!(next, lines);
        assert_eq!(window.spare.len(), 3);
    }

    #[test]
    fn a_slot_dropped_undecided_is_found() {
        let mut window = Window::new();
        let mut slots = filled(&mut window, 3);
        window.close_chunk();
        drop(slots.remove(1));
        slots.into_iter().for_each(|slot| slot.decide(Outcome::Accepted));
        let decided = window.wait().unwrap();
        let outcomes: Vec<_> = decided.outcomes().collect();
        assert_eq!(outcomes, [Some(Outcome::Accepted), None, Some(Outcome::Accepted)]);
    }

    #[test]
    fn recycled_words_are_pending_again() {
        let mut window = Window::new();
        for _ in 0..2 {
            let slots = filled(&mut window, 2);
            window.close_chunk();
            let mut slots = slots.into_iter();
            slots.next().unwrap().decide(Outcome::Accepted);
            drop(slots);
            let decided = window.wait().unwrap();
            let outcomes: Vec<_> = decided.outcomes().collect();
            assert_eq!(outcomes, [Some(Outcome::Accepted), None]);
            window.recycle(decided);
        }
        assert_eq!(window.spare.len(), 1);
    }

    #[test]
    fn the_guard_is_released_with_the_last_slot() {
        let guard = Arc::new(());
        let mut window = Window::new();
        window.start_chunk(Arc::clone(&guard));
        let slots = [window.next_slot(), window.next_slot()];
        window.close_chunk();
        let [first, second] = slots;
        first.decide(Outcome::Accepted);
        assert_eq!(Arc::strong_count(&guard), 2);
        second.decide(Outcome::Accepted);
        assert_eq!(Arc::strong_count(&guard), 1);
    }

    #[test]
    fn an_empty_window_waits_for_nothing() {
        assert!(Window::<()>::new().wait().is_none());
    }
}
