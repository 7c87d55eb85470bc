//! One thing happens to each item, and each ask has the answer that fits: M3 and M8.

use super::facts::{EndOfTurn, ItemHistory, TraceFacts};
use super::promise_violation::{ActorPromise, PromiseViolation};
use super::trace::{ActorHook, AskOutcome, EndReason, ItemKind, LaneRule, WhenFull};
use crate::Seq;

pub(super) fn check(facts: &TraceFacts<'_>) -> Result<(), PromiseViolation> {
    for course in facts.items.values() {
        one_fate(facts, course).map_err(|why| breach(ActorPromise::Once, course, why))?;
        one_answer(facts, course).map_err(|why| breach(ActorPromise::Asks, course, why))?;
    }
    Ok(())
}

fn breach(promise: ActorPromise, course: &ItemHistory, why: String) -> PromiseViolation {
    PromiseViolation::new(promise, format!("item {} {why}: {course:?}", course.id))
}

fn one_fate(facts: &TraceFacts<'_>, course: &ItemHistory) -> Result<(), String> {
    let last = course.turns.last();
    if course.refused.is_some() {
        let nothing = last.is_none() && course.dropped.is_none();
        return if nothing { Ok(()) } else { Err("was given back, and yet is there".into()) };
    }
    if let Some(turn) = last {
        match (turn.end, course.dropped) {
            (None, _) => return Err("does not come to an end".into()),
            (Some((_, EndOfTurn::Done | EndOfTurn::Panic)), Some(_)) => {
                return Err("was handled and dropped".into());
            }
            (Some((_, EndOfTurn::Cut)), _) if !turn.held => {
                return Err("was cut off in a handler".into());
            }
            (Some((_, EndOfTurn::Done | EndOfTurn::Panic | EndOfTurn::Cut)), _) => return Ok(()),
            (Some((_, EndOfTurn::Aside)), _) => {}
        }
    }
    match course.dropped {
        Some(at) if may_be_dropped(facts, course, at) => Ok(()),
        Some(_) => Err("was dropped, and all that it needed went on".into()),
        None => Err("was lost".into()),
    }
}

fn may_be_dropped(facts: &TraceFacts<'_>, course: &ItemHistory, at: Seq) -> bool {
    let is_over = |(actor, _)| is_over_at(facts, actor, at);
    if facts.is_ending_at(at) || course.actors().any(is_over) {
        return true;
    }
    if !course.turns.is_empty() {
        return false;
    }
    let was_told = |wanted: AskOutcome| course.answers.iter().any(|(_, answer)| *answer == wanted);
    match course.item.kind {
        ItemKind::Message { by_held: true, .. } if course.abandoned => true,
        ItemKind::Message { .. } if was_told(AskOutcome::Cycle) => true,
        ItemKind::Message { .. } => lane_of(facts, course).is_some_and(|lane| {
            let is_refused = course.abandoned || was_told(AskOutcome::Full);
            lane.capacity.is_some() && (is_refused || lane.when_full != WhenFull::Refuse)
        }),
        ItemKind::Behaviour => false,
        // It may have come to a full mailbox, belong to a life that is over, or to an actor of
        // which no address was left.
        ItemKind::Free => course.actors().any(|(actor, _)| {
            let life = &facts.lives[actor];
            let mut past = life.hooks.iter().take_while(|(when, _)| *when < at);
            past.any(|(_, hook)| *hook == ActorHook::Dropped)
                || life.end() == Some(&EndReason::Normal)
                || facts.settings[actor].lanes.iter().any(|lane| lane.capacity.is_some())
        }),
    }
}

/// Whether the actor has ended, and nothing happened to it afterwards.
pub(super) fn is_over_at(facts: &TraceFacts<'_>, actor: usize, at: Seq) -> bool {
    let life = &facts.lives[actor];
    let is_up = |(when, hook): &(Seq, ActorHook)| {
        *when > at && !matches!(hook, ActorHook::Dropped | ActorHook::Stopped(_))
    };
    life.end().is_some()
        && !life.hooks.iter().any(is_up)
        && facts.begins_on(actor).last().is_none_or(|(began, ..)| *began < at)
}

/// The lane that a message goes to.
pub(super) fn lane_of<'a>(facts: &'a TraceFacts<'_>, course: &ItemHistory) -> Option<&'a LaneRule> {
    let lane = course.lane()?;
    let (actor, _) = course.actors().next()?;
    facts.settings[actor].lanes.get(lane)
}

fn one_answer(facts: &TraceFacts<'_>, course: &ItemHistory) -> Result<(), String> {
    let ItemKind::Message { asked: true, by_held, limited, .. } = course.item.kind else {
        return if course.answers.is_empty() { Ok(()) } else { Err("was answered unasked".into()) };
    };
    let answer = match &course.answers[..] {
        [] if course.abandoned => return Ok(()),
        [(_, answer)] if !course.abandoned => answer,
        answers => return Err(format!("has the answers {answers:?}")),
    };
    let is_right = match answer {
        AskOutcome::Given => course.is_done(),
        AskOutcome::Stopped(reason) => {
            let (actor, _) = course.actors().next().expect("a message is to an actor");
            // Or the actor has ended in the middle of it.
            let life = &facts.lives[actor];
            let is_cut = course.ends_with(EndOfTurn::Cut);
            // What it was cut off by may have been the end of one life of several.
            let ended_a_life = |(_, hook): &(Seq, ActorHook)| match hook {
                ActorHook::Stopped(why) | ActorHook::Restarted(why) => why == reason,
                _ => false,
            };
            (course.unhandled().is_some() || is_cut) && life.end() == Some(reason)
                || is_cut && life.hooks.iter().any(ended_a_life)
        }
        AskOutcome::Full => {
            course.unhandled().is_some()
                && course.turns.is_empty()
                && lane_of(facts, course).is_some_and(|lane| lane.capacity.is_some())
        }
        AskOutcome::Panicked => course.ends_with(EndOfTurn::Panic),
        AskOutcome::NoReply => course.ends_with(EndOfTurn::Cut),
        AskOutcome::Timeout => limited,
        AskOutcome::Cycle => by_held,
        AskOutcome::Cancelled => facts.shut_down.is_some() && !course.is_done(),
    };
    if is_right { Ok(()) } else { Err(format!("was answered with {answer:?}")) }
}
