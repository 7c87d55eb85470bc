//! What all who do it have in common.

use coact_bench_workloads::Finish;
use coact_bench_workloads::Given;
use coact_bench_workloads::work::tree::{WIDTH, children, nodes};

/// A tree, and what becomes of its nodes.
#[derive(Clone, Copy)]
pub struct Size {
    pub leaves: u64,
    /// Whether a node ends once it has answered, and is waited for.
    pub ends: bool,
}

impl Size {
    pub fn stay(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { leaves: given.number("leaves")?, ends: false })
    }

    pub fn end(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { ends: true, ..Size::stay(given)? })
    }

    pub fn nodes(self) -> u64 {
        nodes(self.leaves)
    }

    /// The answer, and where nodes end, the end of each.
    pub fn parts(self) -> u64 {
        if self.ends { 1 + self.nodes() } else { 1 }
    }
}

/// What an actor of the tree is made from.
pub struct Seed<P> {
    /// `None` at the root.
    pub parent: Option<P>,
    pub first: u64,
    pub leaves: u64,
    pub ends: bool,
    pub finish: Finish,
}

impl<P: Clone> Seed<P> {
    pub fn root(size: Size, finish: Finish) -> Seed<P> {
        Seed { parent: None, first: 0, leaves: size.leaves, ends: size.ends, finish }
    }

    pub fn is_leaf(&self) -> bool {
        self.leaves == 1
    }

    /// The seeds of the children.
    pub fn children(&self, parent: &P) -> impl Iterator<Item = Seed<P>> {
        children(self.first, self.leaves).map(move |first| Seed {
            parent: Some(parent.clone()),
            first,
            leaves: self.leaves / WIDTH,
            ends: self.ends,
            finish: self.finish.clone(),
        })
    }

    /// A node has ended.
    pub fn ended(&self) {
        if self.ends {
            self.finish.part(0);
        }
    }
}
