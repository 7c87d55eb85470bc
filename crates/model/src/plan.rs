//! A program laid flat: what the machine and the checker look up about each behaviour.

use std::ops::Index;

use crate::program::{Access, BehaviourId, CownIndex, Op, Program, SpawnCall, Spawner};

/// The cowns of a behaviour, with the access to each: the sequence that Fig. 1 writes as kappa.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Footprint(Vec<(CownIndex, Access)>);

impl Footprint {
    fn of(program: &Program, spawn: &SpawnCall) -> Self {
        Footprint(spawn.set.iter().map(|m| (program.cown(m.variable), m.access)).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (CownIndex, Access)> {
        self.0.iter().copied()
    }

    /// Whether the two may not run at the same time: they share a cown that one of them writes.
    pub(crate) fn conflicts(&self, other: &Footprint) -> bool {
        self.iter().any(|(cown, mine)| {
            other.iter().any(|(other, theirs)| {
                cown == other && (mine.is_exclusive() || theirs.is_exclusive())
            })
        })
    }
}

/// What is known of a behaviour before anything runs.
#[derive(Clone, Debug)]
pub(crate) struct PlannedBehaviour<'p> {
    pub(crate) spawn: &'p SpawnCall,
    pub(crate) by: Spawner,
    /// The operation that spawns it; shared by the behaviours of a batch.
    pub(crate) op: &'p Op,
    pub(crate) rejected: bool,
    pub(crate) footprint: Footprint,
}

impl PlannedBehaviour<'_> {
    pub(crate) fn id(&self) -> BehaviourId {
        self.spawn.id
    }

    /// The first behaviour of the operation, which stands for the operation as a whole.
    pub(crate) fn leader(&self) -> BehaviourId {
        self.op.spawns()[0].id
    }
}

/// All behaviours of a program, by id.
#[derive(Clone, Debug)]
pub(crate) struct ProgramPlan<'p> {
    pub(crate) program: &'p Program,
    behaviours: Vec<PlannedBehaviour<'p>>,
}

impl<'p> ProgramPlan<'p> {
    pub(crate) fn of(program: &'p Program) -> Self {
        let mut plan = ProgramPlan { program, behaviours: Vec::with_capacity(program.len()) };
        for (thread, ops) in program.threads().iter().enumerate() {
            plan.flatten(Spawner::Thread(thread), ops);
        }
        plan
    }

    fn flatten(&mut self, by: Spawner, ops: &'p [Op]) {
        for op in ops {
            let rejected = self.program.rejects(op);
            for spawn in op.spawns() {
                debug_assert_eq!(spawn.id.0, self.behaviours.len());
                let footprint = Footprint::of(self.program, spawn);
                self.behaviours.push(PlannedBehaviour { spawn, by, op, rejected, footprint });
                self.flatten(Spawner::Behaviour(spawn.id), &spawn.body);
            }
        }
    }

    pub(crate) fn get(&self, id: BehaviourId) -> Option<&PlannedBehaviour<'p>> {
        self.behaviours.get(id.0)
    }

    /// The behaviours in the order in which the program is written, a parent before its children.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &PlannedBehaviour<'p>> {
        self.behaviours.iter()
    }

    /// What `spawner` does.
    pub(crate) fn ops(&self, spawner: Spawner) -> &'p [Op] {
        match spawner {
            Spawner::Thread(thread) => &self.program.threads()[thread],
            Spawner::Behaviour(id) => &self[id].spawn.body,
        }
    }
}

impl<'p> Index<BehaviourId> for ProgramPlan<'p> {
    type Output = PlannedBehaviour<'p>;

    fn index(&self, id: BehaviourId) -> &PlannedBehaviour<'p> {
        &self.behaviours[id.0]
    }
}
