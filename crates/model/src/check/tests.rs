//! Tests of the checker: by hand, by mutation, and against a search that knows nothing of graphs.

mod agreement;
mod anomalies;
mod mutation;
mod search;

use crate::explore::{SeqNoise, observe};
use crate::machine::Rule;
use crate::program::{BehaviourId, Program, SpawnCall, Spawner};
use crate::trace::Trace;

/// The exact trace of a run that need not be allowed.
fn trace_of(program: &Program, run: &[Rule]) -> Trace {
    observe(program, run, &mut SeqNoise::None)
}

fn on(set: impl Into<Vec<crate::SetMember>>) -> crate::Op {
    SpawnCall::on(set).into()
}

/// Short words for runs: threads and behaviours act.
fn thread(thread: usize) -> Rule {
    Rule::Spawn(Spawner::Thread(thread))
}

fn by(id: usize) -> Rule {
    Rule::Spawn(behaviour(id))
}

fn run(id: usize) -> Rule {
    Rule::Run(BehaviourId(id))
}

fn skip(id: usize) -> Rule {
    Rule::Skip(BehaviourId(id))
}

fn end(id: usize) -> Rule {
    Rule::End(behaviour(id))
}

fn over(thread: usize) -> Rule {
    Rule::End(Spawner::Thread(thread))
}

fn panic(id: usize) -> Rule {
    Rule::Step(behaviour(id))
}

fn behaviour(id: usize) -> Spawner {
    Spawner::Behaviour(BehaviourId(id))
}
