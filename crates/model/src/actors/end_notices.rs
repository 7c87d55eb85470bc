//! Ends are told once, with their reason, to those who asked for it: M10.

use super::facts::{ActorLife, ActorMonitor, TraceFacts};
use super::promise_violation::{ActorPromise, PromiseViolation};
use super::trace::{ActorHook, EndReason};
use crate::Seq;

/// Whether what an actor watches for is forgotten with its state.
const LIVES_END_THEIR_WATCHES: bool = true;

pub(super) fn check(facts: &TraceFacts<'_>) -> Result<(), PromiseViolation> {
    for (number, watch) in &facts.watches {
        watched(facts, watch).map_err(|why| {
            PromiseViolation::new(
                ActorPromise::EndNotices,
                format!("watch {number} {why}: {watch:?}"),
            )
        })?;
    }
    for (actor, life) in facts.lives.iter().enumerate() {
        ended_with(facts, actor, life)?;
    }
    facts.exits.iter().try_for_each(|exit| exited(facts, exit))?;
    facts.links.iter().try_for_each(|link| linked(facts, link))
}

fn watched(facts: &TraceFacts<'_>, watch: &ActorMonitor) -> Result<(), String> {
    let life = &facts.lives[watch.actor];
    match &watch.told[..] {
        [] => {}
        [(at, reason)] => {
            if life.end() != Some(reason) {
                return Err(format!("was told another reason than {:?}", life.end()));
            }
            if life.last_drop().is_some_and(|dropped| *at < dropped) || *at < watch.call {
                return Err("was told too early".into());
            }
            if let Some(by) = watch.by
                && LIVES_END_THEIR_WATCHES
                && !same_life(&facts.lives[by], watch.call, *at)
            {
                return Err("was told to a later life".into());
            }
        }
        _ => return Err("was told more than once".into()),
    }
    if watch.told.is_empty() && watch.undone.is_none() && must_be_told(facts, watch) {
        return Err("was not told".into());
    }
    Ok(())
}

/// Whether no state was dropped between the two.
fn same_life(life: &ActorLife, from: Seq, to: Seq) -> bool {
    let is_drop =
        |(at, hook): &(Seq, ActorHook)| *hook == ActorHook::Dropped && from < *at && *at < to;
    !life.hooks.iter().any(is_drop)
}

fn must_be_told(facts: &TraceFacts<'_>, watch: &ActorMonitor) -> bool {
    let Some(by) = watch.by else { return facts.lives[watch.actor].end().is_some() };
    // An actor is told as long as it lives, in that life.
    let has_ended = matches!(facts.lives[watch.actor].at_rest, Some(Some(_)));
    has_ended && same_life(&facts.lives[by], watch.call, facts.let_go)
}

/// An end by a link: there was one, and the other one has ended for that reason.
fn ended_with(
    facts: &TraceFacts<'_>,
    actor: usize,
    life: &ActorLife,
) -> Result<(), PromiseViolation> {
    let said = life.hooks.iter().filter_map(|(_, hook)| match hook {
        ActorHook::Stopped(reason) => Some(reason),
        _ => None,
    });
    for reason in said.chain(life.end()) {
        let EndReason::Linked(from, why) = reason else { continue };
        is_true(facts, actor, *from, why).map_err(|what| {
            PromiseViolation::new(ActorPromise::EndNotices, format!("actor {actor} {what}"))
        })?;
        if why.is_normal() {
            let what = format!("actor {actor} ended with actor {from}, whose end was meant");
            return Err(PromiseViolation::new(ActorPromise::EndNotices, what));
        }
    }
    Ok(())
}

fn exited(
    facts: &TraceFacts<'_>,
    exit: &(Seq, usize, usize, EndReason),
) -> Result<(), PromiseViolation> {
    let (at, to, from, why) = exit;
    is_true(facts, *to, *from, why).map_err(|what| {
        PromiseViolation::new(ActorPromise::EndNotices, format!("actor {to}, at {at}, {what}"))
    })?;
    let links =
        facts.links.iter().filter(|(a, b, ..)| (a, b) == (to, from) || (b, a) == (to, from));
    let told = facts.exits.iter().filter(|(_, a, b, _)| (a, b) == (to, from));
    // Who links itself again with one that has ended is told again.
    if told.count() > links.count() {
        let what = format!("actor {to} was told of the end of actor {from} more than once");
        return Err(PromiseViolation::new(ActorPromise::EndNotices, what));
    }
    Ok(())
}

fn is_true(
    facts: &TraceFacts<'_>,
    actor: usize,
    from: usize,
    why: &EndReason,
) -> Result<(), String> {
    let mut links = facts.links.iter();
    if !links.any(|(a, b, ..)| (*a, *b) == (actor, from) || (*b, *a) == (actor, from)) {
        return Err(format!("heard of the end of actor {from}, and has no link with it"));
    }
    match facts.lives[from].end() {
        Some(end) if end == why || *why == EndReason::NoActor => Ok(()),
        end => Err(format!("heard that actor {from} has ended for {why:?}, and it is {end:?}")),
    }
}

/// An actor that is linked to one that ended, and not normally, does not go on as if nothing were.
fn linked(facts: &TraceFacts<'_>, link: &(usize, usize, Seq, Seq)) -> Result<(), PromiseViolation> {
    let &(by, to, call, at) = link;
    let parted = |(a, b): &(usize, usize)| (*a, *b) == (by, to) || (*b, *a) == (by, to);
    if facts.unlinks.iter().any(parted) {
        return Ok(());
    }
    for (one, other) in [(by, to), (to, by)] {
        let (life, far) = (&facts.lives[one], &facts.lives[other]);
        let Some(Some(reason)) = &far.at_rest else { continue };
        // A link goes with the life that made it: those that began later know nothing of it.
        let is_lasting = other == to || same_life(far, call, far.last_drop().unwrap_or(Seq::MAX));
        // One that is down between two lives hears of it in the next.
        let goes_on = life.is_up_at(facts.let_go) && same_life(life, call, facts.let_go);
        if is_lasting && goes_on && !reason.is_normal() && !life.traps {
            let why = format!(
                "actor {one} was linked to actor {other} at {at}, which ended for {reason:?}"
            );
            return Err(PromiseViolation::new(ActorPromise::EndNotices, why));
        }
    }
    Ok(())
}
