//! The order of conflicting behaviours: whether one list of pending behaviours explains it.

use std::collections::BTreeMap;

use super::history::{BehaviourLife, TraceHistory};
use crate::program::{BehaviourId, Spawner};
use crate::trace::Seq;
use crate::violation::{ConflictOrder, OrderReason, Violation};

/// Checks that conflicting behaviours did not overlap, and that some order of spawns explains the
/// order in which they ran. The module above proves that this is the right question.
pub(super) fn check(history: &TraceHistory<'_>) -> Result<(), Violation> {
    let conflicts = conflicts(history)?;
    let mut order = SpawnOrder::new(history);
    for before in conflicts {
        order.add(before)?;
    }
    order.check()
}

/// The conflicts that follow one another directly on some cown, in the order in which they ran.
fn conflicts(history: &TraceHistory<'_>) -> Result<Vec<ConflictOrder>, Violation> {
    let mut lives: Vec<&BehaviourLife> = history.lives().collect();
    lives.sort_by_key(|life| life.start);
    let mut queues: BTreeMap<_, LastTurns<'_>> = BTreeMap::new();
    let mut conflicts = Vec::new();
    for life in lives {
        for (cown, access) in history.plan[life.id].footprint.iter() {
            for first in queues.entry(cown).or_default().enter(life, access.is_exclusive()) {
                let (second, started) = (life.id, life.start);
                if first.end > started {
                    let (first, ended) = (first.id, first.end);
                    return Err(Violation::Overlap { first, ended, second, started, cown });
                }
                conflicts.push(ConflictOrder { first: first.id, second, cown });
            }
        }
    }
    Ok(conflicts)
}

/// The last turns on a cown. Earlier ones are not needed: they ended before these started, and
/// these end before the next one starts.
#[derive(Default)]
struct LastTurns<'h> {
    writer: Option<&'h BehaviourLife>,
    readers: Vec<&'h BehaviourLife>,
}

impl<'h> LastTurns<'h> {
    /// Lets `life` have the next turn, and returns the turns that it has to come directly after.
    fn enter(&mut self, life: &'h BehaviourLife, exclusive: bool) -> Vec<&'h BehaviourLife> {
        if !exclusive {
            self.readers.push(life);
            return self.writer.into_iter().collect();
        }
        let writer = self.writer.replace(life);
        let readers = std::mem::take(&mut self.readers);
        if readers.is_empty() { writer.into_iter().collect() } else { readers }
    }
}

/// The graph of conflict edges between spawn operations, each by its first behaviour.
struct SpawnOrder<'h> {
    history: &'h TraceHistory<'h>,
    nodes: BTreeMap<BehaviourId, OrderNode>,
}

/// A spawn operation.
struct OrderNode {
    /// By then the spawn had taken effect.
    done: Seq,
    /// Only from then on can it have taken effect: the greatest call among those that lead here.
    earliest: Seq,
    /// The edge over which `earliest` came; `None` if it is this operation's own call.
    via: Option<ConflictOrder>,
    successors: Vec<ConflictOrder>,
    predecessors: Vec<ConflictOrder>,
    /// How many predecessors have not been visited; 0 once this operation itself is.
    awaited: usize,
}

impl OrderNode {
    fn new(life: &BehaviourLife) -> Self {
        OrderNode {
            done: life.ret,
            earliest: life.call,
            via: None,
            successors: Vec::new(),
            predecessors: Vec::new(),
            awaited: 0,
        }
    }

    /// Takes over the bound of a predecessor, and tells whether it was the last one awaited.
    fn follow(&mut self, before: ConflictOrder, earliest: Seq) -> bool {
        if earliest > self.earliest {
            self.earliest = earliest;
            self.via = Some(before);
        }
        self.awaited -= 1;
        self.awaited == 0
    }
}

impl<'h> SpawnOrder<'h> {
    fn new(history: &'h TraceHistory<'h>) -> Self {
        let mut nodes = BTreeMap::new();
        for life in history.lives() {
            let node = nodes.entry(history.plan[life.id].leader()).or_insert(OrderNode::new(life));
            node.done = node.done.min(life.start);
        }
        SpawnOrder { history, nodes }
    }

    fn leader(&self, id: BehaviourId) -> BehaviourId {
        self.history.plan[id].leader()
    }

    fn node(&self, id: BehaviourId) -> &OrderNode {
        &self.nodes[&self.leader(id)]
    }

    fn node_mut(&mut self, id: BehaviourId) -> &mut OrderNode {
        let leader = self.leader(id);
        self.nodes.get_mut(&leader).expect("a node for each operation of the history")
    }

    fn add(&mut self, before: ConflictOrder) -> Result<(), Violation> {
        if self.leader(before.first) != self.leader(before.second) {
            self.node_mut(before.first).successors.push(before);
            let second = self.node_mut(before.second);
            second.predecessors.push(before);
            second.awaited += 1;
        } else if before.second < before.first {
            return Err(Violation::BatchOrder(before));
        }
        Ok(())
    }

    /// Visits the operations along the edges. What cannot be visited is on a cycle, or behind one.
    fn check(mut self) -> Result<(), Violation> {
        let free = self.nodes.iter().filter(|(_, node)| node.awaited == 0);
        let mut ready: Vec<_> = free.map(|(&leader, _)| leader).collect();
        while let Some(leader) = ready.pop() {
            let node = self.node_mut(leader);
            if node.earliest > node.done {
                return Err(self.too_late(leader));
            }
            let (earliest, successors) = (node.earliest, std::mem::take(&mut node.successors));
            for before in successors {
                if self.node_mut(before.second).follow(before, earliest) {
                    ready.push(self.leader(before.second));
                }
            }
        }
        match self.nodes.iter().find(|(_, node)| node.awaited > 0) {
            Some((&leader, _)) => Err(Violation::BatchSplit(self.cycle(leader))),
            None => Ok(()),
        }
    }

    /// The violation at an operation that had taken effect before one was called that led to it.
    fn too_late(&self, leader: BehaviourId) -> Violation {
        let mut ran: Vec<ConflictOrder> = Vec::new();
        let steps = std::iter::successors(self.node(leader).via, |b| self.node(b.first).via);
        ran.extend(steps);
        ran.reverse();
        let first = ran.last().expect("a spawn is called before it takes effect").second;
        let second = ran[0].first;
        Violation::Order { first, second, because: self.because(first, second), ran }
    }

    /// Why `first` is known to have been spawned before `second`.
    fn because(&self, first: BehaviourId, second: BehaviourId) -> OrderReason {
        let plan = self.history.plan;
        match plan[second].by {
            by if by == plan[first].by => OrderReason::ProgramOrder(by),
            Spawner::Behaviour(parent) if self.leader(parent) == self.leader(first) => {
                OrderReason::Parent(parent)
            }
            _ => {
                let (done, called) = (self.node(first).done, self.history.life(second).call);
                OrderReason::RealTime { done, called }
            }
        }
    }

    /// A cycle of conflict edges, found backwards from an operation that could not be visited: each
    /// such operation has a predecessor of its kind. Starts of turns increase along the edges, so
    /// the cycle passes through a batch from an earlier to a later turn; there it begins and ends.
    fn cycle(&self, leader: BehaviourId) -> Vec<ConflictOrder> {
        let mut back: Vec<ConflictOrder> = Vec::new();
        let mut at = leader;
        let length = loop {
            let reached = |before: &ConflictOrder| self.leader(before.second) == at;
            if let Some(begin) = back.iter().position(reached) {
                break back.len() - begin;
            }
            let stuck = |before: &&ConflictOrder| self.node(before.first).awaited > 0;
            let before = *self.node(at).predecessors.iter().find(stuck).expect("see above");
            back.push(before);
            at = self.leader(before.first);
        };
        let mut cycle: Vec<_> = back.into_iter().rev().take(length).collect();
        let seam = (0..length).find(|&i| cycle[(i + length - 1) % length].second != cycle[i].first);
        cycle.rotate_left(seam.expect("starts increase along the edges"));
        cycle
    }
}
