//! Which core's cache has which line: the coherence protocol, as far as it moves lines.
//!
//! Caches here are as large as they need to be and start empty, so a line that is missing has
//! either never been used, which is not counted, or is in another core's cache, which is a
//! *transfer*. A line that one core alone has may be written at once (in MESI it is exclusive or
//! modified); one that several have may be read (shared). So a set of cores is all there is to know
//! of a line.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Bytes of a cache line.
pub const LINE: u64 = 64;

/// The most cores that there can be.
pub const MOST_CORES: usize = u128::BITS as usize;

/// What passes between two caches.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// A read of a line that others have, and this core has not.
    Read,
    /// A write to a line that others have: their copies become invalid.
    Write,
}

/// An access that a core could not do in its own cache.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Transfer {
    /// What for.
    pub kind: Kind,
    /// The code that wrote the line last, if any has.
    pub written_by: Option<u64>,
    /// When the line is here.
    pub done: u64,
}

/// A core's access to one line.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The core.
    pub core: usize,
    /// The line: its address divided by [`LINE`].
    pub line: u64,
    /// Why.
    pub kind: Kind,
    /// The address of the instruction.
    pub code: u64,
    /// The core's time.
    pub now: u64,
}

/// All lines.
pub struct Lines {
    /// What a transfer takes.
    cost: u64,
    lines: HashMap<u64, Line>,
}

struct Line {
    holders: CoreSet,
    written_by: Option<u64>,
    /// When the last transfer from or to a single core is over: these follow one another.
    free_at: u64,
}

/// A set of cores.
#[derive(Clone, Copy, Eq, PartialEq)]
struct CoreSet(u128);

impl CoreSet {
    fn only(core: usize) -> CoreSet {
        CoreSet(1 << core)
    }

    fn insert(&mut self, core: usize) {
        self.0 |= 1 << core;
    }

    fn len(self) -> u32 {
        self.0.count_ones()
    }

    fn contains(self, core: usize) -> bool {
        self.0 >> core & 1 != 0
    }
}

impl Lines {
    /// No line is in any cache; a transfer takes this time.
    pub fn new(cost: u64) -> Lines {
        Lines { cost, lines: HashMap::new() }
    }

    /// Does an access; returns the transfer that it takes, if it takes one.
    pub fn access(&mut self, access: Access) -> Option<Transfer> {
        let Access { core, kind, code, now, .. } = access;
        let line = match self.lines.entry(access.line) {
            Entry::Vacant(vacant) => {
                let written_by = (kind == Kind::Write).then_some(code);
                vacant.insert(Line { holders: CoreSet::only(core), written_by, free_at: 0 });
                return None;
            }
            Entry::Occupied(occupied) => occupied.into_mut(),
        };
        let is_here = match kind {
            Kind::Read => line.holders.contains(core),
            Kind::Write => line.holders == CoreSet::only(core),
        };
        let transfer = (!is_here).then(|| {
            let done = line.transfer(kind, now, self.cost);
            Transfer { kind, written_by: line.written_by, done }
        });
        match kind {
            Kind::Read => line.holders.insert(core),
            Kind::Write => (line.holders, line.written_by) = (CoreSet::only(core), Some(code)),
        }
        transfer
    }
}

impl Line {
    /// When a transfer that begins now, or when the line is free, is over. Copies of a line that
    /// several cores have are made at the same time.
    fn transfer(&mut self, kind: Kind, now: u64, cost: u64) -> u64 {
        if kind == Kind::Read && self.holders.len() > 1 {
            return now + cost;
        }
        self.free_at = now.max(self.free_at) + cost;
        self.free_at
    }
}

#[cfg(test)]
mod tests {
    use super::Kind::{Read, Write};
    use super::{Access, Kind, Lines, MOST_CORES};

    const COST: u64 = 100;

    /// The transfers of a trace on one line: an access each, and whether it takes one.
    fn transfers<const N: usize>(trace: [(usize, Kind); N]) -> [bool; N] {
        let mut lines = Lines::new(COST);
        trace.map(|(core, kind)| {
            lines.access(Access { core, line: 7, kind, code: 0, now: 0 }).is_some()
        })
    }

    #[test]
    fn one_core_moves_nothing() {
        assert_eq!(transfers([(0, Read), (0, Write), (0, Read), (0, Write)]), [false; 4]);
    }

    #[test]
    fn a_word_that_two_cores_write_by_turns_moves_each_time() {
        let trace = [(0, Write), (1, Write), (0, Write), (0, Write), (1, Write)];
        assert_eq!(transfers(trace), [false, true, true, false, true]);
    }

    #[test]
    fn readers_fetch_a_line_once_after_each_write() {
        let trace = [(0, Write), (1, Read), (2, Read), (1, Read), (2, Read), (0, Read)];
        assert_eq!(transfers(trace), [false, true, true, false, false, false]);
        let trace = [(0, Write), (1, Read), (0, Write), (1, Read), (1, Read)];
        assert_eq!(transfers(trace), [false, true, true, true, false]);
    }

    #[test]
    fn a_reader_who_writes_takes_the_line_a_second_time_if_others_have_it() {
        assert_eq!(transfers([(0, Write), (1, Read), (1, Write)]), [false, true, true]);
        assert_eq!(transfers([(0, Read), (1, Write), (1, Read)]), [false, true, false]);
    }

    #[test]
    fn lines_move_one_by_one() {
        let mut lines = Lines::new(COST);
        let mut write =
            |core, line| lines.access(Access { core, line, kind: Write, code: 0, now: 0 });
        assert!(write(0, 7).is_none() && write(1, 8).is_none());
        assert!(write(0, 8).is_some() && write(0, 7).is_none() && write(1, 7).is_some());
    }

    #[test]
    fn who_wrote_last_is_known() {
        let mut lines = Lines::new(COST);
        let mut access =
            |core, kind, code| lines.access(Access { core, line: 7, kind, code, now: 0 });
        access(0, Read, 0x10);
        assert_eq!(access(1, Read, 0x20).expect("it moves").written_by, None);
        access(1, Write, 0x30);
        assert_eq!(access(0, Read, 0x40).expect("it moves").written_by, Some(0x30));
        assert_eq!(access(2, Write, 0x50).expect("it moves").written_by, Some(0x30));
        assert_eq!(access(0, Read, 0x60).expect("it moves").written_by, Some(0x50));
    }

    #[test]
    fn cores_that_want_one_line_wait_for_each_other_unless_they_copy_it() {
        let mut lines = Lines::new(COST);
        let mut done = |core, kind, now| {
            lines.access(Access { core, line: 7, kind, code: 0, now }).map(|moved| moved.done)
        };
        assert_eq!(done(0, Write, 0), None);
        assert_eq!(done(1, Write, 10), Some(110));
        assert_eq!(done(2, Write, 20), Some(210));
        assert_eq!(done(3, Read, 400), Some(500));
        // Two have it now.
        assert_eq!(done(4, Read, 410), Some(510));
        assert_eq!(done(5, Read, 410), Some(510));
        assert_eq!(done(5, Write, 411), Some(600));
    }

    #[test]
    fn the_last_core_that_there_can_be_is_one_of_its_own() {
        let trace = [(MOST_CORES - 1, Write), (0, Read), (MOST_CORES - 1, Read), (0, Write)];
        assert_eq!(transfers(trace), [false, true, false, true]);
    }
}
