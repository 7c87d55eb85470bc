//! A second decision procedure, by search over the rules: slow, and plain enough to be believed.

use std::collections::BTreeMap;

use crate::machine::{Machine, Rule};
use crate::plan::ProgramPlan;
use crate::program::{BehaviourId, Program, Spawner};
use crate::trace::{Event, Seq, Trace};

/// What a number of the trace demands of a run that explains it.
#[derive(Clone, Copy, Debug)]
enum Point {
    /// From here on the spawn of this operation may fire.
    Call(Spawner, BehaviourId),
    /// It must have fired by here.
    Return(Spawner),
    /// A run fires here. Later is best: it need not hold its cowns before.
    Start(BehaviourId),
    /// An end fires here. Earlier is best: it need not hold its cowns any longer.
    End(BehaviourId),
    /// A skip fires here.
    Skip(BehaviourId),
}

/// Whether some run of the machine explains the numbers of `trace`, which has all events that it
/// must have: found by trying all firings of spawns within their intervals.
pub(super) fn explains(program: &Program, trace: &Trace) -> bool {
    let plan = ProgramPlan::of(program);
    let mut points: BTreeMap<Seq, Point> = BTreeMap::new();
    for event in &trace.events {
        match *event {
            Event::Spawned { id, by, call, ret } if plan[id].leader() == id => {
                points.insert(call, Point::Call(by, id));
                points.insert(ret, Point::Return(by));
            }
            Event::Started { id, seq } => drop(points.insert(seq, Point::Start(id))),
            Event::Ended { id, seq, .. } => drop(points.insert(seq, Point::End(id))),
            Event::Skipped { id, seq } => drop(points.insert(seq, Point::Skip(id))),
            Event::Spawned { .. } | Event::Rejected { .. } | Event::Saw { .. } => {}
        }
    }
    let points: Vec<_> = points.into_values().collect();
    search(Machine::new(program), &points, &BTreeMap::new())
}

/// `open` are the spawns that were called and have not fired.
fn search(mut m: Machine<'_>, points: &[Point], open: &BTreeMap<Spawner, BehaviourId>) -> bool {
    settle(&mut m);
    for (&by, &id) in open {
        let expected = m.next_op(by).is_some_and(|op| op.spawns()[0].id == id);
        if expected && m.enabled().contains(&Rule::Spawn(by)) {
            let (mut m, mut open) = (m.clone(), open.clone());
            m.fire(Rule::Spawn(by));
            open.remove(&by);
            if search(m, points, &open) {
                return true;
            }
        }
    }
    let Some((&point, points)) = points.split_first() else {
        return m.is_terminated();
    };
    let (mut m, mut open) = (m, open.clone());
    let rule = match point {
        Point::Call(by, id) => return open.insert(by, id).is_none() && search(m, points, &open),
        Point::Return(by) => return !open.contains_key(&by) && search(m, points, &open),
        Point::Start(id) => Rule::Run(id),
        Point::End(id) => Rule::End(Spawner::Behaviour(id)),
        Point::Skip(id) => Rule::Skip(id),
    };
    m.enabled().contains(&rule) && {
        m.fire(rule);
        search(m, points, &open)
    }
}

/// Fires what shows in no number: rejections, panics of bodies, and ends of threads.
fn settle(m: &mut Machine<'_>) {
    let silent = |rule: &Rule| matches!(rule, Rule::Step(_) | Rule::End(Spawner::Thread(_)));
    while let Some(rule) = m.enabled().into_iter().find(silent) {
        m.fire(rule);
    }
}
