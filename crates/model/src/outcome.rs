//! Final outcomes: in what order the behaviours had each cown, and the enumeration of all of them.

use std::collections::BTreeSet;

use crate::machine::{Configuration, Machine, Rule};
use crate::plan::ProgramPlan;
use crate::poison::PoisonedCowns;
use crate::program::{Access, BehaviourId, CownIndex, Program};
use crate::trace::{Event, Trace};

/// One turn on a cown: a behaviour that had it alone, or readers that stood next to each other,
/// whose order cannot be told.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CownTurn {
    /// A behaviour with exclusive access.
    Exclusive(BehaviourId),
    /// Neighbouring readers.
    Readers(BTreeSet<BehaviourId>),
}

/// What a program has come to, once it has terminated.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Outcome {
    /// The turns on each cown, in order; those of skipped behaviours are among them.
    pub turns: Vec<Vec<CownTurn>>,
    /// The behaviours that were skipped.
    pub skipped: BTreeSet<BehaviourId>,
    /// The cowns that were left poisoned.
    pub poisoned: BTreeSet<CownIndex>,
}

impl Outcome {
    fn new(program: &Program) -> Self {
        let turns = vec![Vec::new(); program.cowns()];
        Outcome { turns, skipped: BTreeSet::new(), poisoned: BTreeSet::new() }
    }

    /// The outcome that `trace` shows. Meant for a trace that the checker has accepted; of others
    /// it tells what each behaviour's number of start or skip suggests.
    pub fn of(program: &Program, trace: &Trace) -> Self {
        let plan = ProgramPlan::of(program);
        let turns = trace.events.iter().filter_map(|event| match *event {
            Event::Started { id, seq } => Some((seq, id, false)),
            Event::Skipped { id, seq } => Some((seq, id, true)),
            _ => None,
        });
        let turns: BTreeSet<_> = turns.collect();
        let (mut outcome, mut poison) = (Outcome::new(program), PoisonedCowns::default());
        for (_, id, skipped) in turns {
            let Some(behaviour) = plan.get(id) else {
                continue;
            };
            outcome.take_turn(&plan, id, skipped);
            poison.replay(behaviour, skipped);
        }
        outcome.poisoned = poison.cowns().collect();
        outcome
    }

    fn take_turn(&mut self, plan: &ProgramPlan<'_>, id: BehaviourId, skipped: bool) {
        for (cown, access) in plan[id].footprint.iter() {
            let turns = &mut self.turns[cown.0];
            match (access, turns.last_mut()) {
                (Access::Read, Some(CownTurn::Readers(readers))) => {
                    readers.insert(id);
                }
                (Access::Read, _) => turns.push(CownTurn::Readers(BTreeSet::from([id]))),
                _ => turns.push(CownTurn::Exclusive(id)),
            }
        }
        if skipped {
            self.skipped.insert(id);
        }
    }
}

/// Every outcome that the rules allow for `program`. The number of configurations is exponential in
/// the size of the program: this is for tiny ones, of half a dozen behaviours.
///
/// ```
/// use coact_model::{Program, SpawnCall, outcomes, write};
///
/// // Two threads race for one cown; behaviours on different cowns do not race.
/// let racing = Program::over(1)
///     .thread([SpawnCall::on([write(0)]).into()])
///     .thread([SpawnCall::on([write(0)]).into()]);
/// assert_eq!(outcomes(&racing).len(), 2);
///
/// let apart = Program::over(2)
///     .thread([SpawnCall::on([write(0)]).into()])
///     .thread([SpawnCall::on([write(1)]).into()]);
/// assert_eq!(outcomes(&apart).len(), 1);
/// ```
pub fn outcomes(program: &Program) -> BTreeSet<Outcome> {
    let mut found = OutcomeSearch::default();
    found.visit(Machine::new(program), Outcome::new(program));
    found.outcomes
}

#[derive(Default)]
struct OutcomeSearch {
    /// Configurations from which all has been enumerated, each with how it was come by.
    visited: BTreeSet<(Configuration, Outcome)>,
    outcomes: BTreeSet<Outcome>,
}

impl OutcomeSearch {
    fn visit(&mut self, machine: Machine<'_>, so_far: Outcome) {
        if !self.visited.insert((machine.configuration().clone(), so_far.clone())) {
            return;
        }
        for rule in machine.enabled() {
            let (mut machine, mut outcome) = (machine.clone(), so_far.clone());
            match rule {
                Rule::Run(id) => outcome.take_turn(machine.plan(), id, false),
                Rule::Skip(id) => outcome.take_turn(machine.plan(), id, true),
                Rule::Step(_) | Rule::Spawn(_) | Rule::End(_) => {}
            }
            machine.conclude(rule);
            self.visit(machine, outcome);
        }
        if machine.is_terminated() {
            self.outcomes
                .insert(Outcome { poisoned: machine.poison().cowns().collect(), ..so_far });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SpawnCall, read, write};

    fn exclusive(ids: [usize; 2]) -> Vec<CownTurn> {
        ids.map(|id| CownTurn::Exclusive(BehaviourId(id))).into()
    }

    #[test]
    fn a_behaviour_on_two_cowns_falls_before_between_or_after_two_on_one() {
        let program = Program::over(2)
            .thread([SpawnCall::on([write(0)]).into(), SpawnCall::on([write(1)]).into()])
            .thread([SpawnCall::on([write(0), write(1)]).into()]);
        let turns: Vec<_> = outcomes(&program).into_iter().map(|o| o.turns).collect();
        // Without [[2, 0], [1, 2]], which each cown alone would allow.
        let before = vec![exclusive([2, 0]), exclusive([2, 1])];
        let between = vec![exclusive([0, 2]), exclusive([2, 1])];
        let after = vec![exclusive([0, 2]), exclusive([1, 2])];
        assert_eq!(turns, [after, between, before]);
    }

    #[test]
    fn readers_side_by_side_are_one_turn() {
        let reader = || SpawnCall::on([read(0)]).into();
        let program = Program::over(1).thread([reader()]).thread([reader()]);
        assert_eq!(outcomes(&program).len(), 1);
    }

    #[test]
    fn poison_depends_on_who_comes_first() {
        let program = Program::over(1)
            .thread([SpawnCall::on([write(0)]).panics().into()])
            .thread([SpawnCall::on([write(0)]).into()]);
        let outcomes = outcomes(&program);
        assert!(outcomes.iter().all(|o| o.poisoned == BTreeSet::from([CownIndex(0)])));
        let skipped: Vec<_> = outcomes.iter().map(|o| o.skipped.len()).collect();
        assert_eq!(skipped, [1, 0]);
    }
}
