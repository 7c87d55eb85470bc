//! The checker against the model itself: what the rules produce passes, and nothing else does.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::search::explains;
use super::trace_of;
use crate::explore::{RandomBits, SeqNoise, observe};
use crate::generate::{ProgramShape, programs};
use crate::machine::{Machine, Rule};
use crate::outcome::{Outcome, outcomes};
use crate::program::{BehaviourId, Program, Spawner};
use crate::{check, random_trace};

/// The rules that fit what runs and what is pending if order, isolation and poison are ignored.
fn lawless(machine: &Machine<'_>) -> Vec<Rule> {
    let fits = |rule: &Rule| !matches!(rule, Rule::Run(_) | Rule::Skip(_));
    let pending = |id: BehaviourId| [Rule::Run(id), Rule::Skip(id)];
    let bodies = machine.enabled().into_iter().filter(fits);
    bodies.chain(machine.pending().flat_map(pending)).collect()
}

/// A run by chance in which each turn breaks the law with some probability.
fn lawless_run(program: &Program, dice: &mut RandomBits, lawless_in_16: u64) -> Vec<Rule> {
    let mut machine = Machine::new(program);
    let mut run = Vec::new();
    loop {
        let wild = dice.below(16) < lawless_in_16;
        let rules = if wild { lawless(&machine) } else { machine.enabled() };
        // An early illegal turn can leave the law without a turn, but only until bodies have ended.
        let rules = if rules.is_empty() { lawless(&machine) } else { rules };
        if rules.is_empty() {
            return run;
        }
        let rule = rules[dice.below(rules.len() as u64) as usize];
        machine.conclude(rule);
        run.push(rule);
    }
}

/// Whether each rule of `run` could fire when it did.
fn is_lawful(program: &Program, run: &[Rule]) -> bool {
    let mut machine = Machine::new(program);
    run.iter().all(|&rule| {
        let fits = machine.enabled().contains(&rule);
        machine.conclude(rule);
        fits
    })
}

/// Calls `visit` with every run of `program` that obeys program order alone.
fn for_each_lawless_run(
    machine: &Machine<'_>,
    run: &mut Vec<Rule>,
    visit: &mut impl FnMut(&[Rule]),
) {
    let rules = lawless(machine);
    if rules.is_empty() {
        return visit(run);
    }
    // What no number tells apart need not be tried in all places.
    let silent = |rule: &&Rule| matches!(rule, Rule::Step(_) | Rule::End(Spawner::Thread(_)));
    let rules = rules.iter().find(silent).map_or(rules.clone(), |&rule| vec![rule]);
    for rule in rules {
        let mut machine = machine.clone();
        machine.conclude(rule);
        run.push(rule);
        for_each_lawless_run(&machine, run, visit);
        run.pop();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_model_produces_passes(program in programs(ProgramShape::default()), seed: u64) {
        let trace = random_trace(&program, seed);
        prop_assert_eq!(check(&program, &trace), Ok(()), "{}\n{:?}", program, trace);
    }

    #[test]
    fn the_search_explains_what_the_model_produces(program in programs(ProgramShape::tiny()), seed: u64) {
        prop_assert!(explains(&program, &random_trace(&program, seed)));
    }

    #[test]
    fn the_checker_agrees_with_the_search(
        program in programs(ProgramShape { batch: 3, ops: 3, ..ProgramShape::tiny() }),
        seed: u64,
        lawless_in_16 in 0u64..8,
    ) {
        let mut dice = RandomBits::new(seed);
        let run = lawless_run(&program, &mut dice, lawless_in_16);
        let trace = observe(&program, &run, &mut SeqNoise::By(dice));
        let verdict = check(&program, &trace);
        // What was seen of poison is no part of the search.
        prop_assume!(!matches!(verdict, Err(crate::Violation::WrongSight { .. })));
        prop_assert_eq!(verdict.is_ok(), explains(&program, &trace),
            "{:?}\n{}\n{:?}", verdict, program, trace);
    }

    #[test]
    fn an_exact_trace_passes_if_and_only_if_its_run_is_lawful(
        program in programs(ProgramShape::default()),
        seed: u64,
        lawless_in_16 in 0u64..3,
    ) {
        let run = lawless_run(&program, &mut RandomBits::new(seed), lawless_in_16);
        let verdict = check(&program, &trace_of(&program, &run));
        prop_assert_eq!(verdict.is_ok(), is_lawful(&program, &run), "{:?}\n{}", verdict, program);
    }

    #[test]
    fn random_traces_come_to_enumerated_outcomes(program in programs(ProgramShape::tiny()), seed: u64) {
        prop_assume!(program.len() <= 6);
        let outcome = Outcome::of(&program, &random_trace(&program, seed));
        prop_assert!(outcomes(&program).contains(&outcome), "{:?}\n{}", outcome, program);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// The checker, applied to every run that can be imagined, finds the outcomes of the machine:
    /// none too few, none too many.
    #[test]
    fn what_passes_comes_to_the_enumerated_outcomes(program in programs(ProgramShape::tiny())) {
        prop_assume!(program.len() <= 3);
        let mut passed = BTreeSet::new();
        for_each_lawless_run(&Machine::new(&program), &mut Vec::new(), &mut |run| {
            let trace = trace_of(&program, run);
            let passes = check(&program, &trace).is_ok();
            assert_eq!(passes, is_lawful(&program, run), "{program}\n{run:?}");
            if passes {
                passed.insert(Outcome::of(&program, &trace));
            }
        });
        prop_assert_eq!(passed, outcomes(&program));
    }
}
