//! Turns exclude each other: A1, G2, G9 and the half of M7 that is about held actors.

use std::collections::BTreeMap;

use super::breach::{Breach, BrokenPromise};
use super::facts::{Course, EndOfTurn, Facts};
use super::trace::{Hook, ItemId, Target};
use crate::Seq;

/// What is given away as one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum TurnQueue {
    Alone(Target),
    Group(usize),
}

#[derive(Clone, Copy, Debug)]
struct Span {
    from: Seq,
    to: Seq,
    read: bool,
    /// Whether the actor is held beyond the handler: signals are processed meanwhile.
    held: bool,
    cut: bool,
    id: ItemId,
}

pub(super) fn check(facts: &Facts<'_>) -> Result<(), Breach> {
    let mut queues: BTreeMap<TurnQueue, Vec<Span>> = BTreeMap::new();
    for course in facts.items.values() {
        for queue in queues_of(facts, course) {
            let read = reads(facts, course, queue);
            queues.entry(queue).or_default().extend(spans(course, read));
        }
    }
    for (queue, mut spans) in queues {
        spans.sort_unstable_by_key(|span| span.from);
        no_two_at_a_time(queue, &spans)?;
    }
    (0..facts.lives.len()).try_for_each(|actor| nothing_in_the_middle(facts, actor))
}

fn queue_of(facts: &Facts<'_>, target: Target) -> TurnQueue {
    match target {
        Target::Actor(actor) => {
            facts.settings[actor].group.map_or(TurnQueue::Alone(target), TurnQueue::Group)
        }
        Target::Cown(_) => TurnQueue::Alone(target),
    }
}

fn queues_of(facts: &Facts<'_>, course: &Course) -> Vec<TurnQueue> {
    let mut queues: Vec<_> =
        course.item.members.iter().map(|member| queue_of(facts, member.of)).collect();
    queues.sort_unstable();
    queues.dedup();
    queues
}

/// A group has no readers.
fn reads(facts: &Facts<'_>, course: &Course, queue: TurnQueue) -> bool {
    let mut members = course.item.members.iter();
    matches!(queue, TurnQueue::Alone(_))
        && members.any(|member| member.read && queue_of(facts, member.of) == queue)
}

fn spans(course: &Course, read: bool) -> impl Iterator<Item = Span> {
    course.turns.iter().filter_map(move |turn| {
        let (to, how) = turn.end?;
        let (from, held, cut) = (turn.began, turn.held, how == EndOfTurn::Cut);
        Some(Span { from, to, read, held, cut, id: course.id })
    })
}

fn no_two_at_a_time(queue: TurnQueue, spans: &[Span]) -> Result<(), Breach> {
    // Of those that began so far, the one that ends last, and the exclusive one that does.
    let (mut last, mut last_write): (Option<Span>, Option<Span>) = (None, None);
    for span in spans {
        let other = if span.read { last_write } else { last };
        if let Some(other) = other.filter(|other| other.to > span.from) {
            let promise = match queue {
                _ if other.held => BrokenPromise::Waiting,
                TurnQueue::Alone(_) => BrokenPromise::Atomicity,
                TurnQueue::Group(_) => BrokenPromise::Groups,
            };
            let why = format!(
                "item {} began on {queue:?} at {} during the turn of item {}, from {} to {}",
                span.id, span.from, other.id, other.from, other.to
            );
            return Err(Breach::new(promise, why));
        }
        let later = |before: Option<Span>| before.is_none_or(|before| before.to < span.to);
        if later(last) {
            last = Some(*span);
        }
        if !span.read && later(last_write) {
            last_write = Some(*span);
        }
    }
    Ok(())
}

/// Hooks and news come between turns: those of the actor, and, unless a future holds it, those of
/// its group.
fn nothing_in_the_middle(facts: &Facts<'_>, actor: usize) -> Result<(), Breach> {
    let life = &facts.lives[actor];
    let mates = facts.mates(actor);
    for course in facts.items.values() {
        let is_own = course.needs(actor).is_some();
        if !is_own && !mates.iter().any(|mate| course.needs(*mate).is_some()) {
            continue;
        }
        for span in spans(course, false) {
            let during = |at: &Seq| span.from < *at && *at < span.to;
            if let Some(at) = life.news.iter().find(|at| during(at)) {
                let why = format!("actor {actor} handled news at {at}, in the middle of {span:?}");
                return Err(Breach::new(BrokenPromise::Waiting, why));
            }
            let may_have_hooks = span.cut || (span.held && !is_own);
            let mut hooks = life.hooks.iter();
            let is_hook = |hook: &Hook| *hook != Hook::Dropped;
            if !may_have_hooks && let Some(hook) = hooks.find(|(at, it)| during(at) && is_hook(it))
            {
                let why = format!("actor {actor} had {hook:?} in the middle of {span:?}");
                return Err(Breach::new(BrokenPromise::Atomicity, why));
            }
        }
    }
    Ok(())
}
