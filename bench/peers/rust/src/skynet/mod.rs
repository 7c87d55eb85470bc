//! Skynet: a tree of actors with ten children each; the leaves are numbered, and the numbers are summed on the way up.

mod actix;
mod kameo;
mod ractor;
mod tokio;

use coact_bench_workloads::Finish;
use coact_bench_workloads::work::tree::{Sum, WIDTH, children, nodes};
use coact_bench_workloads::{Given, Way};

/// A tree, and what becomes of its nodes.
#[derive(Clone, Copy)]
pub struct Size {
    leaves: u64,
    /// Whether a node ends once it has answered, and is waited for.
    ends: bool,
}

impl Size {
    fn stay(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { leaves: given.number("leaves")?, ends: false })
    }

    fn end(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { ends: true, ..Size::stay(given)? })
    }

    fn nodes(self) -> u64 {
        nodes(self.leaves)
    }

    /// The answer, and where nodes end, the end of each.
    fn parts(self) -> u64 {
        if self.ends { 1 + self.nodes() } else { 1 }
    }
}

/// What an actor of the tree is made from.
struct Seed<P> {
    /// `None` at the root.
    parent: Option<P>,
    first: u64,
    leaves: u64,
    ends: bool,
    finish: Finish,
}

impl<P: Clone> Seed<P> {
    fn root(size: Size, finish: Finish) -> Seed<P> {
        Seed { parent: None, first: 0, leaves: size.leaves, ends: size.ends, finish }
    }

    fn is_leaf(&self) -> bool {
        self.leaves == 1
    }

    /// The seeds of the children.
    fn children(&self, parent: &P) -> impl Iterator<Item = Seed<P>> {
        children(self.first, self.leaves).map(move |first| Seed {
            parent: Some(parent.clone()),
            first,
            leaves: self.leaves / WIDTH,
            ends: self.ends,
            finish: self.finish.clone(),
        })
    }

    /// A node has ended.
    fn ended(&self) {
        if self.ends {
            self.finish.part(0);
        }
    }
}

const STAY: &[&str] = &["skynet"];

const END: &[&str] = &["skynet-stop"];

const TASKS: &str = "a task and an unbounded mpsc a node";

const ACTORS: &str = "an actor a node, which spawns its children when it has started";

const DEALT: &str = "the same, with the root's children dealt to the arbiters";

/// Who does it. Of the larger actors a part is enough to fill the memory.
pub const WAYS: &[Way] = &[
    Way::new(STAY, "tokio", TASKS, |given| tokio::run(given, Size::stay(given)?)),
    Way::new(STAY, "kameo", ACTORS, |given| kameo::run(given, Size::stay(given)?)).share(10),
    Way::new(STAY, "ractor", ACTORS, |given| ractor::run(given, Size::stay(given)?)).share(10),
    Way::new(STAY, "actix", ACTORS, |given| Ok(actix::run(1, Size::stay(given)?))),
    Way::new(STAY, "actix-arbiters", DEALT, |given| {
        Ok(actix::run(given.workers()?, Size::stay(given)?))
    }),
    Way::new(END, "tokio", TASKS, |given| tokio::run(given, Size::end(given)?)),
    Way::new(END, "tokio-join", "a task a node, no mailbox: joined by its handle", |given| {
        tokio::join(given, Size::end(given)?)
    }),
    Way::new(END, "kameo", ACTORS, |given| kameo::run(given, Size::end(given)?)).share(10),
    Way::new(END, "ractor", ACTORS, |given| ractor::run(given, Size::end(given)?)).share(10),
    Way::new(END, "actix", ACTORS, |given| Ok(actix::run(1, Size::end(given)?))),
    Way::new(END, "actix-arbiters", DEALT, |given| {
        Ok(actix::run(given.workers()?, Size::end(given)?))
    }),
    Way::new(&["cown-skynet"], "tokio", TASKS, |given| tokio::run(given, Size::end(given)?)),
];
