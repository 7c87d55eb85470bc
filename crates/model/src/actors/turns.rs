//! Turns exclude each other: A1, G2, G9 and the half of M7 that is about held actors.

use std::collections::BTreeMap;

use super::facts::{EndOfTurn, ItemHistory, TraceFacts};
use super::promise_violation::{ActorPromise, PromiseViolation};
use super::trace::{ActorHook, ItemId, ItemTarget};
use crate::Seq;

/// What is given away as one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum TurnQueue {
    Alone(ItemTarget),
    Group(usize),
}

#[derive(Clone, Copy, Debug)]
struct TurnSpan {
    from: Seq,
    to: Seq,
    read: bool,
    /// Whether the actor is held beyond the handler: signals are processed meanwhile.
    held: bool,
    cut: bool,
    id: ItemId,
}

pub(super) fn check(facts: &TraceFacts<'_>) -> Result<(), PromiseViolation> {
    let mut queues: BTreeMap<TurnQueue, Vec<TurnSpan>> = BTreeMap::new();
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

fn queue_of(facts: &TraceFacts<'_>, target: ItemTarget) -> TurnQueue {
    match target {
        ItemTarget::Actor(actor) => {
            facts.settings[actor].group.map_or(TurnQueue::Alone(target), TurnQueue::Group)
        }
        ItemTarget::Cown(_) => TurnQueue::Alone(target),
    }
}

fn queues_of(facts: &TraceFacts<'_>, course: &ItemHistory) -> Vec<TurnQueue> {
    let mut queues: Vec<_> =
        course.item.members.iter().map(|member| queue_of(facts, member.of)).collect();
    queues.sort_unstable();
    queues.dedup();
    queues
}

/// A group has no readers.
fn reads(facts: &TraceFacts<'_>, course: &ItemHistory, queue: TurnQueue) -> bool {
    let mut members = course.item.members.iter();
    matches!(queue, TurnQueue::Alone(_))
        && members.any(|member| member.read && queue_of(facts, member.of) == queue)
}

fn spans(course: &ItemHistory, read: bool) -> impl Iterator<Item = TurnSpan> {
    course.turns.iter().filter_map(move |turn| {
        let (to, how) = turn.end?;
        let (from, held, cut) = (turn.began, turn.held, how == EndOfTurn::Cut);
        Some(TurnSpan { from, to, read, held, cut, id: course.id })
    })
}

fn no_two_at_a_time(queue: TurnQueue, spans: &[TurnSpan]) -> Result<(), PromiseViolation> {
    // Of those that began so far, the one that ends last, and the exclusive one that does.
    let (mut last, mut last_write): (Option<TurnSpan>, Option<TurnSpan>) = (None, None);
    for span in spans {
        let other = if span.read { last_write } else { last };
        if let Some(other) = other.filter(|other| other.to > span.from) {
            let promise = match queue {
                _ if other.held => ActorPromise::Waiting,
                TurnQueue::Alone(_) => ActorPromise::Atomicity,
                TurnQueue::Group(_) => ActorPromise::Groups,
            };
            let why = format!(
                "item {} began on {queue:?} at {} during the turn of item {}, from {} to {}",
                span.id, span.from, other.id, other.from, other.to
            );
            return Err(PromiseViolation::new(promise, why));
        }
        let later = |before: Option<TurnSpan>| before.is_none_or(|before| before.to < span.to);
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
fn nothing_in_the_middle(facts: &TraceFacts<'_>, actor: usize) -> Result<(), PromiseViolation> {
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
                return Err(PromiseViolation::new(ActorPromise::Waiting, why));
            }
            let may_have_hooks = span.cut || (span.held && !is_own);
            let mut hooks = life.hooks.iter();
            let is_hook = |hook: &ActorHook| *hook != ActorHook::Dropped;
            if !may_have_hooks && let Some(hook) = hooks.find(|(at, it)| during(at) && is_hook(it))
            {
                let why = format!("actor {actor} had {hook:?} in the middle of {span:?}");
                return Err(PromiseViolation::new(ActorPromise::Atomicity, why));
            }
        }
    }
    Ok(())
}
