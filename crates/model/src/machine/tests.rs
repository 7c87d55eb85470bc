//! Tests of the rules: their premises one by one, and the properties that the paper claims.

use proptest::prelude::*;

use super::{Machine, Rule};
use crate::explore::{RandomBits, random_run};
use crate::generate::{ProgramShape, programs};
use crate::program::{BehaviourId, Op, Program, SetMember, SpawnCall, Spawner};
use crate::{read, write};

/// A machine in which one thread has spawned a behaviour on each of `sets`.
fn spawned<const N: usize>(sets: [Vec<SetMember>; N], examine: impl FnOnce(Machine<'_>)) {
    let ops = sets.map(|set| Op::from(SpawnCall::on(set)));
    let program = Program::over(3).thread(ops);
    let mut machine = Machine::new(&program);
    (0..N).for_each(|_| machine.fire(Rule::Spawn(Spawner::Thread(0))));
    machine.fire(Rule::End(Spawner::Thread(0)));
    examine(machine);
}

fn run(id: usize) -> Rule {
    Rule::Run(BehaviourId(id))
}

fn end(id: usize) -> Rule {
    Rule::End(Spawner::Behaviour(BehaviourId(id)))
}

#[test]
fn a_behaviour_waits_for_pending_ones_before_it_and_overtakes_the_rest() {
    let sets = [vec![write(0)], vec![write(0), write(1)], vec![write(1)], vec![write(2)]];
    spawned(sets, |machine| assert_eq!(machine.enabled(), [run(0), run(3)]));
}

#[test]
fn a_behaviour_waits_for_running_ones() {
    spawned([vec![write(0)], vec![write(0)]], |mut machine| {
        machine.fire(run(0));
        assert_eq!(machine.enabled(), [end(0)]);
        machine.fire(end(0));
        assert_eq!(machine.enabled(), [run(1)]);
    });
}

#[test]
fn readers_run_together_and_a_writer_between_them_parts_them() {
    spawned([vec![read(0)], vec![read(0)]], |machine| {
        assert_eq!(machine.enabled(), [run(0), run(1)]);
    });
    spawned([vec![read(0)], vec![write(0)], vec![read(0)]], |machine| {
        assert_eq!(machine.enabled(), [run(0)]);
    });
}

#[test]
#[should_panic(expected = "cannot fire")]
fn a_rule_without_its_premises_does_not_fire() {
    spawned([vec![write(0)], vec![write(0)]], |mut machine| machine.fire(run(1)));
}

#[test]
fn a_program_reads_as_a_listing() {
    let nested =
        SpawnCall::on([write(0), read(1)]).body([SpawnCall::on([write(2)]).panics().into()]);
    let batch = Op::Batch(vec![SpawnCall::on([write(0)]), nested]);
    let program = Program::over(2).alias(0).thread([batch]);
    let listing = "\
let v0 = c0, v1 = c1, v2 = c0
thread 0 {
    batch {
        b0: when(v0) { }
        b1: when(v0, read v1) {
            b2: when(v2) {
                panic
            }
        }
    }
}";
    assert_eq!(program.to_string(), listing);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Deadlock freedom: where no rule can fire, nothing is left to do.
    #[test]
    fn a_run_ends_only_with_its_program(program in programs(ProgramShape::default()), seed: u64) {
        let mut machine = Machine::new(&program);
        for rule in random_run(&program, &mut RandomBits::new(seed)) {
            machine.conclude(rule);
        }
        prop_assert!(machine.is_terminated());
    }
}
