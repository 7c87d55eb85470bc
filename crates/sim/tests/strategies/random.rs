//! Random runs reach everything, and come from the seed alone.

use std::collections::BTreeSet;

use coact_sim::{Pct, RandomWalk, SchedulingStrategy, Seed};
use proptest::prelude::*;

use crate::toy::{Op, Program, programs};

fn runs(mut strategy: impl SchedulingStrategy, program: &Program, number: usize) -> Vec<String> {
    let run = |_| {
        assert!(strategy.begin_run());
        format!("{:?}", program.run(&mut strategy))
    };
    (0..number).map(run).collect()
}

#[test]
fn every_interleaving_is_reached() {
    let programs =
        [Program::steps(3, 2), Program::new(vec![vec![Op::Lock, Op::Flip(2), Op::Unlock]; 3])];
    for program in programs {
        let reached: BTreeSet<_> =
            runs(RandomWalk::new(Seed::new(0)), &program, 5000).into_iter().collect();
        let every: BTreeSet<_> =
            program.every_run().iter().map(|(run, _)| format!("{run:?}")).collect();
        assert_eq!(reached, every);
    }
}

#[test]
fn seeds_and_runs_differ() {
    let program = Program::steps(4, 10);
    let of_seed = |seed| runs(RandomWalk::new(Seed::new(seed)), &program, 50);
    let all: BTreeSet<_> = (0..20).flat_map(of_seed).collect();
    assert_eq!(all.len(), 20 * 50);
}

proptest! {
    #[test]
    fn one_seed_has_one_sequence_of_runs(program in programs(), seed: u64, depth in 1_u32..5) {
        let seed = Seed::new(seed);
        prop_assert_eq!(runs(RandomWalk::new(seed), &program, 5), runs(RandomWalk::new(seed), &program, 5));
        prop_assert_eq!(runs(Pct::new(seed, depth), &program, 5), runs(Pct::new(seed, depth), &program, 5));
    }
}
