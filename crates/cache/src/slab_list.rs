//! Orders of entries: doubly linked lists of places, whose links lie in the entries.

use crate::keyed_slab::KeyedSlab;

/// The neighbours of an entry in one order.
#[derive(Clone, Copy, Default)]
pub(crate) struct SlabLinks {
    before: Option<usize>,
    behind: Option<usize>,
}

/// By what entries are ordered. Each has a place in one order of each kind.
#[derive(Clone, Copy)]
pub(crate) enum ListKind {
    Use,
    Write,
}

/// What is ordered.
pub(crate) trait SlabNode {
    fn links(&mut self, kind: ListKind) -> &mut SlabLinks;
}

/// One order: the newest first.
pub(crate) struct SlabList {
    kind: ListKind,
    newest: Option<usize>,
    oldest: Option<usize>,
    len: usize,
}

impl SlabList {
    pub(crate) fn by(kind: ListKind) -> Self {
        Self { kind, newest: None, oldest: None, len: 0 }
    }

    #[inline]
    pub(crate) fn oldest(&self) -> Option<usize> {
        self.oldest
    }

    #[inline]
    pub(crate) fn is_newest(&self, at: usize) -> bool {
        self.newest == Some(at)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push<K, T: SlabNode>(&mut self, all: &mut KeyedSlab<K, T>, at: usize) {
        let behind = self.newest.replace(at);
        *self.links(all, at) = SlabLinks { before: None, behind };
        match behind {
            Some(behind) => self.links(all, behind).before = Some(at),
            None => self.oldest = Some(at),
        }
        self.len += 1;
    }

    pub(crate) fn remove<K, T: SlabNode>(&mut self, all: &mut KeyedSlab<K, T>, at: usize) {
        let SlabLinks { before, behind } = std::mem::take(self.links(all, at));
        match before {
            Some(before) => self.links(all, before).behind = behind,
            None => self.newest = behind,
        }
        match behind {
            Some(behind) => self.links(all, behind).before = before,
            None => self.oldest = before,
        }
        self.len -= 1;
    }

    fn links<'a, K, T: SlabNode>(
        &self,
        all: &'a mut KeyedSlab<K, T>,
        at: usize,
    ) -> &'a mut SlabLinks {
        all.get_mut(at).links(self.kind)
    }
}
