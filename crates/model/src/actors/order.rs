//! One order of all spawns: O1, O2 and M1.
//!
//! There is an order that the promise allows if and only if the following relation has no circle:
//! `x` comes before `y` if the spawn of `x` had taken effect when that of `y` was called, or if
//! both needed the same thing, not both for reading, and `x` had it first. Messages of two lanes of
//! one actor may overtake each other, and what was never handled has no place.

use super::facts::{ItemHistory, TraceFacts};
use super::promise_violation::{ActorPromise, PromiseViolation};
use super::trace::{ItemMember, ItemTarget};

pub(super) fn check(facts: &TraceFacts<'_>) -> Result<(), PromiseViolation> {
    let ran: Vec<&ItemHistory> = facts
        .items
        .values()
        .filter(|course| !course.turns.is_empty() && !course.is_free())
        .collect();
    let edges: Vec<Vec<usize>> = (0..ran.len())
        .map(|from| (0..ran.len()).filter(|to| precedes(facts, ran[from], ran[*to])).collect())
        .collect();
    match find_circle(&edges) {
        None => Ok(()),
        Some(circle) => {
            Err(PromiseViolation::new(ActorPromise::Order, explain(facts, &ran, &circle)))
        }
    }
}

fn precedes(facts: &TraceFacts<'_>, one: &ItemHistory, other: &ItemHistory) -> bool {
    one.id != other.id && (one.effect() < other.call || ran_before(facts, one, other))
}

fn ran_before(facts: &TraceFacts<'_>, one: &ItemHistory, other: &ItemHistory) -> bool {
    one.turns[0].began < other.turns[0].began && conflict(facts, one, other)
}

fn conflict(facts: &TraceFacts<'_>, one: &ItemHistory, other: &ItemHistory) -> bool {
    let lanes = (one.lane(), other.lane());
    // Messages of different lanes to one actor.
    if let (Some(a), Some(b)) = lanes
        && a != b
        && one.item.members == other.item.members
    {
        return false;
    }
    // A sorted message may have had the place of another one: see `sorted_messages`.
    let sorted = facts.is_sorted(one) || facts.is_sorted(other);
    let clash = |a: &ItemMember, b: &ItemMember| {
        let is_same = a.of == b.of && (!(a.read && b.read) || in_one_group(facts, a.of, b.of));
        is_same || (!sorted && in_one_group(facts, a.of, b.of))
    };
    one.item.members.iter().any(|a| other.item.members.iter().any(|b| clash(a, b)))
}

fn in_one_group(facts: &TraceFacts<'_>, one: ItemTarget, other: ItemTarget) -> bool {
    let group = |target| match target {
        ItemTarget::Actor(actor) => facts.settings[actor].group,
        ItemTarget::Cown(_) => None,
    };
    group(one).is_some() && group(one) == group(other)
}

/// A circle of the graph, if there is one.
fn find_circle(edges: &[Vec<usize>]) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum VisitMark {
        New,
        Open,
        Closed,
    }
    let mut marks = vec![VisitMark::New; edges.len()];
    for root in 0..edges.len() {
        if marks[root] != VisitMark::New {
            continue;
        }
        // Each with how many of its edges have been followed.
        let mut path = vec![(root, 0)];
        marks[root] = VisitMark::Open;
        while let Some((node, next)) = path.last_mut() {
            let Some(&to) = edges[*node].get(*next) else {
                marks[*node] = VisitMark::Closed;
                path.pop();
                continue;
            };
            *next += 1;
            match marks[to] {
                VisitMark::Closed => {}
                VisitMark::New => {
                    marks[to] = VisitMark::Open;
                    path.push((to, 0));
                }
                VisitMark::Open => {
                    let from = path.iter().position(|(node, _)| *node == to)?;
                    return Some(shorten(edges, path[from..].iter().map(|(node, _)| *node)));
                }
            }
        }
    }
    None
}

/// Cuts a circle short wherever an edge allows it.
fn shorten(edges: &[Vec<usize>], circle: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut circle: Vec<_> = circle.collect();
    let mut at = 0;
    while at < circle.len() && circle.len() > 2 {
        let rest = (at + 2..circle.len()).rev();
        match rest.into_iter().find(|to| edges[circle[at]].contains(&circle[*to])) {
            Some(to) => drop(circle.drain(at + 1..to)),
            None => at += 1,
        }
    }
    circle
}

fn explain(facts: &TraceFacts<'_>, ran: &[&ItemHistory], circle: &[usize]) -> String {
    let name = |at: usize| ran[circle[at % circle.len()]];
    let links: Vec<_> = (0..circle.len())
        .map(|at| {
            let (one, other) = (name(at), name(at + 1));
            let how = if ran_before(facts, one, other) { "ran" } else { "was spawned" };
            format!("item {} {how} before item {}", one.id, other.id)
        })
        .collect();
    links.join(", ")
}
