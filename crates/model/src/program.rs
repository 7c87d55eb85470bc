//! Programs: finite trees of behaviours, written over variables that name cowns.
//!
//! A program says everything that the model needs to know and nothing else: which cowns a behaviour
//! names, how it accesses them, what it spawns, and whether it panics. Values are left out, because
//! order, atomicity and poison never depend on them.

/// A cown of a program, by number. A runtime creates [`Program::cowns`] of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CownIndex(pub usize);

/// A variable of a program, by number. Several variables may name one cown ([`Program::cown`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable(pub usize);

/// A behaviour of a program, unique in it. Behaviours are numbered from 0 in the order in which the
/// program is written, a parent before its children.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BehaviourId(pub usize);

/// Who spawns: a thread outside the runtime, or a behaviour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Spawner {
    /// A root thread, by its position in [`Program::threads`].
    Thread(usize),
    /// A running behaviour.
    Behaviour(BehaviourId),
}

/// How a behaviour accesses one of its cowns.
///
/// | access | shared with | skipped if poisoned | poisons on panic | clears poison |
/// | --- | --- | --- | --- | --- |
/// | `Write` | none | yes | yes | no |
/// | `Read` | other reads | yes | no | no |
/// | `Checked` | none | no, it sees the poison | yes | no |
/// | `Clear` | none | no, it sees the poison | yes | yes, at its start |
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Access {
    /// Exclusive access: `when(&cown, ..)`.
    Write,
    /// Shared access: `when(cown.read(), ..)`.
    Read,
    /// Exclusive access that runs on a poisoned cown too, sees the poison, and leaves it.
    Checked,
    /// A checked access whose body clears the poison.
    Clear,
}

impl Access {
    /// Whether a behaviour with this access tolerates no other one on the cown.
    pub fn is_exclusive(self) -> bool {
        self != Access::Read
    }

    /// Whether a behaviour with this access runs on a poisoned cown, and sees the poison.
    pub fn is_checked(self) -> bool {
        matches!(self, Access::Checked | Access::Clear)
    }
}

/// One entry of a behaviour's set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetMember {
    /// The variable that names the cown.
    pub variable: Variable,
    /// How the cown is accessed.
    pub access: Access,
}

/// A write member of variable `v`.
pub fn write(v: usize) -> SetMember {
    Access::Write.of(v)
}

/// A read member of variable `v`.
pub fn read(v: usize) -> SetMember {
    Access::Read.of(v)
}

/// A checked member of variable `v`.
pub fn checked(v: usize) -> SetMember {
    Access::Checked.of(v)
}

/// A checked member of variable `v` that clears the poison it finds.
pub fn clear(v: usize) -> SetMember {
    Access::Clear.of(v)
}

impl Access {
    fn of(self, v: usize) -> SetMember {
        SetMember { variable: Variable(v), access: self }
    }
}

/// The spawn of one behaviour: its set and its body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpawnCall {
    /// The behaviour's name; given by [`Program::thread`].
    pub id: BehaviourId,
    /// What the behaviour acquires.
    pub set: Vec<SetMember>,
    /// What the behaviour does, in this order.
    pub body: Vec<Op>,
    /// Whether the behaviour panics once its body is done.
    pub panics: bool,
}

impl SpawnCall {
    /// A behaviour on `set` with an empty body.
    pub fn on(set: impl Into<Vec<SetMember>>) -> Self {
        SpawnCall { id: BehaviourId(usize::MAX), set: set.into(), body: Vec::new(), panics: false }
    }

    /// Gives the behaviour a body.
    pub fn body(self, body: impl Into<Vec<Op>>) -> Self {
        SpawnCall { body: body.into(), ..self }
    }

    /// Lets the behaviour panic at the end of its body.
    pub fn panics(self) -> Self {
        SpawnCall { panics: true, ..self }
    }
}

/// One operation of a thread or of a behaviour's body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Spawns one behaviour.
    Spawn(SpawnCall),
    /// Spawns several behaviours as one atomic step, in this order.
    Batch(Vec<SpawnCall>),
}

impl From<SpawnCall> for Op {
    fn from(spawn: SpawnCall) -> Self {
        Op::Spawn(spawn)
    }
}

impl Op {
    /// The behaviours that this operation spawns: one, or those of a batch.
    pub fn spawns(&self) -> &[SpawnCall] {
        match self {
            Op::Spawn(spawn) => std::slice::from_ref(spawn),
            Op::Batch(spawns) => spawns,
        }
    }

    fn spawns_mut(&mut self) -> &mut [SpawnCall] {
        match self {
            Op::Spawn(spawn) => std::slice::from_mut(spawn),
            Op::Batch(spawns) => spawns,
        }
    }
}

/// A whole program: variables, and the root threads that start it.
///
/// ```
/// use coact_model::{Program, SpawnCall, read, write};
///
/// let program = Program::over(2)
///     .thread([SpawnCall::on([write(0)]).into(), SpawnCall::on([write(1), read(0)]).into()])
///     .thread([SpawnCall::on([write(0)]).body([SpawnCall::on([write(1)]).into()]).into()]);
/// assert_eq!(program.len(), 4);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    cowns: usize,
    variables: Vec<CownIndex>,
    threads: Vec<Vec<Op>>,
    behaviours: usize,
}

impl Program {
    /// A program over `cowns` cowns, with one variable for each of them: variable `i` names cown
    /// `i`.
    pub fn over(cowns: usize) -> Self {
        let variables = (0..cowns).map(CownIndex).collect();
        Program { cowns, variables, threads: Vec::new(), behaviours: 0 }
    }

    /// Adds a variable that names `cown`, which other variables name too.
    ///
    /// # Panics
    /// If the program has no such cown.
    pub fn alias(mut self, cown: usize) -> Self {
        assert!(cown < self.cowns, "the program has {} cowns, so none is c{cown}", self.cowns);
        self.variables.push(CownIndex(cown));
        self
    }

    /// Adds a root thread that performs `ops` in this order, and numbers their behaviours. Empty
    /// batches are left out: they spawn nothing.
    ///
    /// # Panics
    /// If a set names a variable that the program does not have.
    pub fn thread(mut self, ops: impl Into<Vec<Op>>) -> Self {
        let mut ops = ops.into();
        self.adopt(&mut ops);
        self.threads.push(ops);
        self
    }

    fn adopt(&mut self, ops: &mut Vec<Op>) {
        ops.retain(|op| !op.spawns().is_empty());
        for spawn in ops.iter_mut().flat_map(Op::spawns_mut) {
            for SetMember { variable, .. } in &spawn.set {
                assert!(variable.0 < self.variables.len(), "the program has no {variable}");
            }
            spawn.id = BehaviourId(self.behaviours);
            self.behaviours += 1;
            self.adopt(&mut spawn.body);
        }
    }

    /// How many cowns there are.
    pub fn cowns(&self) -> usize {
        self.cowns
    }

    /// How many behaviours there are, rejected ones included.
    pub fn len(&self) -> usize {
        self.behaviours
    }

    /// Whether there is no behaviour.
    pub fn is_empty(&self) -> bool {
        self.behaviours == 0
    }

    /// The root threads.
    pub fn threads(&self) -> &[Vec<Op>] {
        &self.threads
    }

    /// The cown that each variable names.
    pub fn variables(&self) -> &[CownIndex] {
        &self.variables
    }

    /// The cown that `variable` names.
    ///
    /// # Panics
    /// If the program has no such variable.
    pub fn cown(&self, variable: Variable) -> CownIndex {
        self.variables[variable.0]
    }

    /// The first cown that the set of `spawn` names twice, if any.
    pub fn overlap(&self, spawn: &SpawnCall) -> Option<CownIndex> {
        let cowns: Vec<_> = spawn.set.iter().map(|m| self.cown(m.variable)).collect();
        (1..cowns.len()).find(|&i| cowns[..i].contains(&cowns[i])).map(|i| cowns[i])
    }

    /// Whether `op` is rejected: one of its sets names a cown twice. A batch is rejected as a
    /// whole, since it is one atomic step of which nothing may be enqueued.
    pub fn rejects(&self, op: &Op) -> bool {
        op.spawns().iter().any(|spawn| self.overlap(spawn).is_some())
    }
}
