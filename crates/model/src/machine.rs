//! The machine: Fig. 1 of the paper, rule by rule, as plain code.
//!
//! A configuration is what the paper says it is: a *set* of running behaviours, a *list* of pending
//! ones, and a heap, of which only the poison matters here. A root thread is a running behaviour
//! that holds no cown. What this crate adds to the figure is confined to these places:
//!
//! - **read members**: two footprints conflict only on a cown that one of them writes;
//! - **batches**: `spawn` appends all behaviours of a batch in one firing;
//! - **panics**: `step` takes a body to its panic, `end` then poisons; `skip` is `run` and `end` in
//!   one firing, for a behaviour whose turn has come on a poisoned cown ([`PoisonedCowns`]);
//! - **aliasing**: `step` passes over an operation with an overlapping set, and appends nothing.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::plan::{Footprint, ProgramPlan};
use crate::poison::PoisonedCowns;
use crate::program::{BehaviourId, Op, Program, Spawner};

/// A rule with the behaviour or thread that it is applied to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rule {
    /// Something local: an operation is rejected, or the body panics.
    Step(Spawner),
    /// The next operation's behaviours are appended to the pending list, all at once.
    Spawn(Spawner),
    /// A pending behaviour starts to run.
    Run(BehaviourId),
    /// A pending behaviour takes its turn on a poisoned cown, and does nothing.
    Skip(BehaviourId),
    /// A running behaviour or thread has finished.
    End(Spawner),
}

/// How far a body has come: the paper's context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
struct BodyContext {
    next: usize,
    panicked: bool,
}

/// The part of a machine that rules change.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Configuration {
    running: BTreeMap<Spawner, BodyContext>,
    pending: Vec<BehaviourId>,
    poison: PoisonedCowns,
}

/// A program that runs by the rules.
///
/// ```
/// use coact_model::{BehaviourId, Machine, Program, Rule, SpawnCall, Spawner, write};
///
/// let program = Program::over(1).thread([SpawnCall::on([write(0)]).into()]);
/// let mut machine = Machine::new(&program);
/// assert_eq!(machine.enabled(), [Rule::Spawn(Spawner::Thread(0))]);
/// machine.fire(Rule::Spawn(Spawner::Thread(0)));
/// machine.fire(Rule::Run(BehaviourId(0)));
/// ```
#[derive(Clone, Debug)]
pub struct Machine<'p> {
    plan: Rc<ProgramPlan<'p>>,
    now: Configuration,
}

impl<'p> Machine<'p> {
    /// The initial configuration: the root threads run, nothing is pending.
    pub fn new(program: &'p Program) -> Self {
        let threads = (0..program.threads().len()).map(Spawner::Thread);
        let running = threads.map(|thread| (thread, BodyContext::default())).collect();
        let now = Configuration { running, pending: Vec::new(), poison: PoisonedCowns::default() };
        Machine { plan: Rc::new(ProgramPlan::of(program)), now }
    }

    /// The rules that can fire. None of them can only if the program has terminated, since the
    /// first pending behaviour can always take its turn once nothing runs: the paper's deadlock
    /// freedom.
    pub fn enabled(&self) -> Vec<Rule> {
        let bodies = self.now.running.keys().map(|&spawner| self.advance(spawner));
        let turns = (0..self.now.pending.len()).filter(|&at| self.may_run(at));
        bodies.chain(turns.map(|at| self.turn(self.now.pending[at]))).collect()
    }

    /// Applies `rule`.
    ///
    /// # Panics
    /// If a premise of the rule does not hold, that is, unless [`enabled`](Self::enabled) lists it.
    pub fn fire(&mut self, rule: Rule) {
        assert!(self.enabled().contains(&rule), "{rule:?} cannot fire in {:?}", self.now);
        self.conclude(rule);
    }

    /// Whether nothing runs and nothing is pending.
    pub fn is_terminated(&self) -> bool {
        self.now.running.is_empty() && self.now.pending.is_empty()
    }

    /// The cowns that are poisoned now.
    pub fn poison(&self) -> &PoisonedCowns {
        &self.now.poison
    }

    /// The pending behaviours, in the order of their spawns.
    pub fn pending(&self) -> impl Iterator<Item = BehaviourId> {
        self.now.pending.iter().copied()
    }

    /// The operation that `spawner` performs next; `None` at the end of its body.
    ///
    /// # Panics
    /// If `spawner` does not run.
    pub fn next_op(&self, spawner: Spawner) -> Option<&'p Op> {
        self.plan.ops(spawner).get(self.now.running[&spawner].next)
    }

    pub(crate) fn configuration(&self) -> &Configuration {
        &self.now
    }

    pub(crate) fn plan(&self) -> &ProgramPlan<'p> {
        &self.plan
    }

    /// Premises of `step`, `spawn` and `end`: exactly one of them fits any running body.
    fn advance(&self, spawner: Spawner) -> Rule {
        match self.next_op(spawner) {
            Some(op) if self.plan.program.rejects(op) => Rule::Step(spawner),
            Some(_) => Rule::Spawn(spawner),
            None if self.is_about_to_panic(spawner) => Rule::Step(spawner),
            None => Rule::End(spawner),
        }
    }

    fn is_about_to_panic(&self, spawner: Spawner) -> bool {
        match spawner {
            Spawner::Thread(_) => false,
            Spawner::Behaviour(id) => {
                self.plan[id].spawn.panics && !self.now.running[&spawner].panicked
            }
        }
    }

    /// Premise of `run` and `skip`: no conflict with what runs, nor with what is pending before.
    fn may_run(&self, at: usize) -> bool {
        let mine = self.footprint(self.now.pending[at]);
        let running = self.now.running.keys().filter_map(|spawner| match *spawner {
            Spawner::Thread(_) => None,
            Spawner::Behaviour(id) => Some(id),
        });
        let before = self.now.pending[..at].iter().copied();
        !before.chain(running).any(|id| mine.conflicts(self.footprint(id)))
    }

    /// `run`, or `skip` where poison says so.
    fn turn(&self, id: BehaviourId) -> Rule {
        match self.now.poison.skips(self.footprint(id)) {
            Some(_) => Rule::Skip(id),
            None => Rule::Run(id),
        }
    }

    /// The conclusion of `rule`, whether or not its premises hold.
    pub(crate) fn conclude(&mut self, rule: Rule) {
        match rule {
            Rule::Step(spawner) => self.step(spawner),
            Rule::Spawn(spawner) => self.spawn(spawner),
            Rule::Run(id) => self.run(id),
            Rule::Skip(id) => self.now.pending.retain(|&pending| pending != id),
            Rule::End(spawner) => self.end(spawner),
        }
    }

    fn step(&mut self, spawner: Spawner) {
        let at_end = self.next_op(spawner).is_none();
        let context = self.context(spawner);
        if at_end { context.panicked = true } else { context.next += 1 }
    }

    fn spawn(&mut self, spawner: Spawner) {
        let op = self.next_op(spawner).expect("the premise of spawn: there is a next operation");
        self.now.pending.extend(op.spawns().iter().map(|spawn| spawn.id));
        self.context(spawner).next += 1;
    }

    fn run(&mut self, id: BehaviourId) {
        self.now.pending.retain(|&pending| pending != id);
        self.now.running.insert(Spawner::Behaviour(id), BodyContext::default());
        self.now.poison.clear(&self.plan[id].footprint);
    }

    fn end(&mut self, spawner: Spawner) {
        let context = self.now.running.remove(&spawner);
        if let (Spawner::Behaviour(id), Some(BodyContext { panicked: true, .. })) =
            (spawner, context)
        {
            self.now.poison.spread(&self.plan[id].footprint, id);
        }
    }

    fn context(&mut self, spawner: Spawner) -> &mut BodyContext {
        self.now.running.get_mut(&spawner).expect("the premise of a body's rules: it runs")
    }

    fn footprint(&self, id: BehaviourId) -> &Footprint {
        &self.plan[id].footprint
    }
}
