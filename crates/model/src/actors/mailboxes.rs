//! Mailboxes: bounds, refusals, and what is set aside.

use super::facts::{EndOfTurn, ItemHistory, TraceFacts};
use super::promise_violation::{ActorPromise, PromiseViolation};
use super::trace::{AskOutcome, ItemKind, LaneRule};
use crate::Seq;

pub(super) fn check(facts: &TraceFacts<'_>) -> Result<(), PromiseViolation> {
    for (actor, settings) in facts.settings.iter().enumerate() {
        for (lane, rule) in settings.lanes.iter().enumerate() {
            let Some(capacity) = rule.capacity else { continue };
            bound(facts, actor, lane, capacity)?;
            refusals(facts, actor, lane, rule, capacity)?;
        }
        stash(facts, actor)?;
    }
    Ok(())
}

/// From when to when a message may take up room; and from when to when it surely does.
fn stay(course: &ItemHistory) -> Option<(Seq, Seq)> {
    let began = course.turns.first().map(|turn| turn.began);
    began.or(course.dropped).map(|until| (course.ret, until))
}

fn in_lane<'a>(
    facts: &'a TraceFacts<'_>,
    actor: usize,
    lane: usize,
) -> impl Iterator<Item = &'a ItemHistory> {
    facts.on(actor).filter(move |course| course.lane() == Some(lane) && course.refused.is_none())
}

/// No more messages wait than there is room for, and one whose handler is about to begin.
fn bound(
    facts: &TraceFacts<'_>,
    actor: usize,
    lane: usize,
    capacity: usize,
) -> Result<(), PromiseViolation> {
    let stays: Vec<_> =
        in_lane(facts, actor, lane).filter_map(stay).filter(|(from, to)| from < to).collect();
    for (now, _) in &stays {
        let waiting = stays.iter().filter(|(from, to)| from <= now && now < to).count();
        if waiting > capacity + 1 {
            let why = format!("{waiting} messages wait in lane {lane} of actor {actor} at {now}");
            return Err(PromiseViolation::new(ActorPromise::Mailbox, why));
        }
    }
    Ok(())
}

/// A message is refused, or dropped for another, only if the lane can have been full.
fn refusals(
    facts: &TraceFacts<'_>,
    actor: usize,
    lane: usize,
    rule: &LaneRule,
    capacity: usize,
) -> Result<(), PromiseViolation> {
    let is_full = |course: &&ItemHistory| {
        course.refused == Some(true)
            || course.answers.iter().any(|(_, answer)| *answer == AskOutcome::Full)
    };
    for course in facts.on(actor).filter(|course| course.lane() == Some(lane)).filter(is_full) {
        // The oldest is refused when a later one comes.
        let until = course.dropped.unwrap_or(course.ret).max(course.ret);
        let others = facts.on(actor).filter(|other| other.id != course.id);
        let may_take_room = |other: &&ItemHistory| match other.item.kind {
            ItemKind::Message { .. } => other.lane() == Some(lane) && other.refused.is_none(),
            ItemKind::Free => true,
            ItemKind::Behaviour => false,
        };
        let was_there = |other: &&ItemHistory| {
            let gone = other.turns.first().map(|turn| turn.began).or(other.dropped);
            other.call < until && gone.is_none_or(|gone| gone > course.call)
        };
        if others.filter(may_take_room).filter(was_there).count() < capacity {
            let why = format!(
                "item {} found lane {lane} of actor {actor} full, {rule:?}, which it was not",
                course.id
            );
            return Err(PromiseViolation::new(ActorPromise::Mailbox, why));
        }
    }
    Ok(())
}

/// What is set aside comes again in its order, and before all that waits when it is wanted.
fn stash(facts: &TraceFacts<'_>, actor: usize) -> Result<(), PromiseViolation> {
    let mut aside: Vec<(Seq, &ItemHistory, Option<Seq>)> = facts
        .on(actor)
        .filter_map(|course| {
            let first = course.turns.first()?;
            let (at, how) = first.end?;
            let again = course.turns.get(1).map(|turn| turn.began);
            (how == EndOfTurn::Aside).then_some((at, course, again))
        })
        .collect();
    aside.sort_unstable_by_key(|(at, ..)| *at);
    for pair in aside.windows(2) {
        if let [(_, one, Some(first)), (_, other, Some(second))] = pair
            && first > second
        {
            let why = format!(
                "items {} and {} were set aside, and come back the other way",
                one.id, other.id
            );
            return Err(PromiseViolation::new(ActorPromise::Stash, why));
        }
    }
    let begins = facts.begins_on(actor);
    let is_first =
        |course: &ItemHistory, at: Seq| course.turns.first().is_some_and(|turn| turn.began == at);
    for (at, by, count) in &facts.unstashed {
        let Some(end) = facts.items[by].turns.last().and_then(|turn| turn.end) else { continue };
        if facts.items[by].needs(actor).is_none() {
            continue;
        }
        let waiting = aside
            .iter()
            .filter(|(when, _, again)| when < at && again.is_none_or(|again| again > *at));
        for (_, course, again) in waiting.take(*count) {
            let next_life = facts.lives[actor].next_drop(*at).unwrap_or(Seq::MAX);
            let until = again.unwrap_or(Seq::MAX).min(next_life);
            let between = begins.iter().find(|(began, _, id)| {
                end.0 < *began && *began < until && is_first(&facts.items[id], *began)
            });
            if let Some((began, _, id)) = between {
                let why = format!(
                    "item {id} began at {began} before item {}, which was wanted at {at}",
                    course.id
                );
                return Err(PromiseViolation::new(ActorPromise::Stash, why));
            }
        }
    }
    // Those of a replaced state come before all that is new.
    for (when, course, again) in &aside {
        let Some(dropped) = facts.lives[actor].next_drop(*when) else { continue };
        let Some(again) = again.filter(|again| *again > dropped) else { continue };
        let between = begins.iter().find(|(began, _, id)| {
            dropped < *began && *began < again && is_first(&facts.items[id], *began)
        });
        if let Some((began, _, id)) = between {
            let why = format!(
                "item {id} began at {began}, before item {} of the state before",
                course.id
            );
            return Err(PromiseViolation::new(ActorPromise::Stash, why));
        }
    }
    Ok(())
}
