//! Random programs that shrink.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::program::{Access, Op, Program, SetMember, SpawnCall, Variable};

/// How large random programs are. All bounds are inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramShape {
    /// Cowns, at least one.
    pub cowns: usize,
    /// Variables that name a cown a second time. With none, no spawn is ever rejected.
    pub aliases: usize,
    /// Root threads, at least one.
    pub threads: usize,
    /// Operations of a root thread, at least one.
    pub ops: usize,
    /// Operations of a body.
    pub body: usize,
    /// How deep behaviours nest: 0 for bodies without spawns.
    pub depth: u32,
    /// Members of a set, at least one.
    pub set: usize,
    /// Behaviours of a batch; below 2 there are no batches.
    pub batch: usize,
    /// Whether behaviours may panic.
    pub panics: bool,
}

impl Default for ProgramShape {
    /// A few cowns and a few dozen behaviours, so that most of them conflict.
    fn default() -> Self {
        ProgramShape {
            cowns: 4,
            aliases: 1,
            threads: 3,
            ops: 5,
            body: 3,
            depth: 2,
            set: 3,
            batch: 3,
            panics: true,
        }
    }
}

impl ProgramShape {
    /// Programs so small that [`outcomes`](crate::outcomes) can list what they come to.
    pub fn tiny() -> Self {
        ProgramShape {
            cowns: 2,
            aliases: 1,
            threads: 2,
            ops: 2,
            body: 1,
            depth: 1,
            set: 2,
            batch: 2,
            panics: true,
        }
    }
}

/// Programs of the given shape.
///
/// ```
/// use coact_model::{ProgramShape, check, programs, random_trace};
/// use proptest::prelude::*;
///
/// proptest!(|(program in programs(ProgramShape::default()), seed: u64)| {
///     prop_assert_eq!(check(&program, &random_trace(&program, seed)), Ok(()));
/// });
/// ```
pub fn programs(shape: ProgramShape) -> impl Strategy<Value = Program> {
    let aliases = vec(0..shape.cowns, 0..=shape.aliases);
    aliases.prop_flat_map(move |aliases| {
        let variables = shape.cowns + aliases.len();
        let threads = vec(vec(op(shape, variables, shape.depth), 1..=shape.ops), 1..=shape.threads);
        threads.prop_map(move |threads| {
            let program = aliases.iter().fold(Program::over(shape.cowns), |p, &cown| p.alias(cown));
            threads.into_iter().fold(program, Program::thread)
        })
    })
}

fn op(shape: ProgramShape, variables: usize, depth: u32) -> BoxedStrategy<Op> {
    let one = spawn(shape, variables, depth);
    if shape.batch < 2 {
        return one.prop_map(Op::Spawn).boxed();
    }
    let batch = vec(one.clone(), 2..=shape.batch).prop_map(Op::Batch);
    prop_oneof![4 => one.prop_map(Op::Spawn), 1 => batch].boxed()
}

fn spawn(shape: ProgramShape, variables: usize, depth: u32) -> BoxedStrategy<SpawnCall> {
    let panics = prop::bool::weighted(if shape.panics { 0.1 } else { 0.0 });
    let body = match depth {
        0 => Just(Vec::new()).boxed(),
        _ => vec(op(shape, variables, depth - 1), 0..=shape.body).boxed(),
    };
    let all = (set(shape, variables), body, panics);
    all.prop_map(|(set, body, panics)| {
        let spawn = SpawnCall::on(set).body(body);
        if panics { spawn.panics() } else { spawn }
    })
    .boxed()
}

/// Distinct variables; they overlap where two of them name one cown.
fn set(shape: ProgramShape, variables: usize) -> impl Strategy<Value = Vec<SetMember>> {
    let size = 1..=shape.set.min(variables);
    let names = prop::sample::subsequence((0..variables).collect::<Vec<_>>(), size).prop_shuffle();
    names.prop_flat_map(|names| {
        let member =
            |v: usize| access().prop_map(move |access| SetMember { variable: Variable(v), access });
        names.into_iter().map(member).collect::<Vec<_>>()
    })
}

fn access() -> impl Strategy<Value = Access> {
    prop_oneof![
        6 => Just(Access::Write),
        4 => Just(Access::Read),
        1 => Just(Access::Checked),
        1 => Just(Access::Clear),
    ]
}
