//! Hooks, signals, failures and ends: M2, M4 to M7 and M9.

use super::facts::{ActorLife, EndOfTurn, ItemHistory, TraceFacts};
use super::items::is_over_at;
use super::promise_violation::{ActorPromise, PromiseViolation};
use super::trace::{ActorHook, ActorSignal, EndReason, RestartPolicy};
use crate::Seq;

pub(super) fn check(facts: &TraceFacts<'_>) -> Result<(), PromiseViolation> {
    for (actor, life) in facts.lives.iter().enumerate() {
        hooks(facts, actor, life)?;
        ends_for_good(facts, actor, life)?;
        signals(facts, actor, life)?;
        suspensions(facts, actor, life)?;
        failures(facts, actor, life)?;
        own_ends(facts, actor, life)?;
        last_address(facts, actor, life)?;
        drains(facts, actor, life)?;
        reasons(facts, actor, life)?;
    }
    Ok(())
}

fn breach(promise: ActorPromise, actor: usize, life: &ActorLife, why: &str) -> PromiseViolation {
    PromiseViolation::new(promise, format!("actor {actor}: {why}: {:?}", life.hooks))
}

/// Where an actor is between two hooks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LifeState {
    Fresh,
    Up,
    Leaving,
    Replaced,
}

/// M2 and M5: the hooks in their order, and items between them.
fn hooks(facts: &TraceFacts<'_>, actor: usize, life: &ActorLife) -> Result<(), PromiseViolation> {
    let fail = |why: String| Err(breach(ActorPromise::Hooks, actor, life, &why));
    let mut state = LifeState::Fresh;
    let mut said: Option<&EndReason> = None;
    let begins = facts.begins_on(actor);
    let mut begins = begins.iter().peekable();
    let settings = &facts.settings[actor];
    for (at, hook) in life.hooks.iter().chain([&(Seq::MAX, ActorHook::Dropped)]) {
        while let Some((began, _, id)) = begins.next_if(|(began, ..)| began < at) {
            if state != LifeState::Up {
                return fail(format!("item {id} at {began} while it is {state:?}"));
            }
        }
        if *at == Seq::MAX {
            break;
        }
        state = match (state, hook) {
            (LifeState::Fresh, ActorHook::Started) => LifeState::Up,
            (LifeState::Up, ActorHook::Stopped(EndReason::Killed)) => {
                return fail("`stopped` was called, though it was killed".into());
            }
            (LifeState::Up, ActorHook::Stopped(reason)) => {
                said = Some(reason);
                LifeState::Leaving
            }
            (LifeState::Up, ActorHook::Dropped) => {
                said = None;
                LifeState::Replaced
            }
            (LifeState::Leaving, ActorHook::Dropped) => LifeState::Replaced,
            // It was cut off before it began.
            (LifeState::Fresh, ActorHook::Dropped) if facts.is_ending_at(*at) => {
                LifeState::Replaced
            }
            (LifeState::Replaced, ActorHook::Restarted(reason)) => {
                if !settings.restartable && settings.supervised.is_none() {
                    return fail("it was restarted, and cannot be".into());
                }
                let agree = said.map_or(*reason == EndReason::Killed, |said| said == reason);
                let is_by_hand = life.was_told(ActorSignal::Restart);
                if settings.supervised == Some(RestartPolicy::Temporary) && !is_by_hand {
                    return fail("a temporary child was restarted".into());
                }
                if !agree {
                    return fail(format!("it was restarted since {reason:?}"));
                }
                LifeState::Up
            }
            _ => return fail(format!("{hook:?} at {at} while it is {state:?}")),
        };
    }
    let never_began = state == LifeState::Fresh && settings.supervised.is_some();
    if state != LifeState::Replaced && !never_began {
        return fail("it is left with a state".into());
    }
    Ok(())
}

/// An end is for good, and seen by all.
fn ends_for_good(
    facts: &TraceFacts<'_>,
    actor: usize,
    life: &ActorLife,
) -> Result<(), PromiseViolation> {
    let refusals = facts.on(actor).filter(|course| course.refused == Some(false));
    let first = life.gone.iter().copied().chain(refusals.map(|course| course.ret)).min();
    if let Some(first) = first
        && !is_over_at(facts, actor, first)
    {
        let why = format!("it was seen to have ended at {first}, and goes on");
        return Err(breach(ActorPromise::Once, actor, life, &why));
    }
    if life.at_end.as_ref().is_some_and(Option::is_none) {
        return Err(breach(ActorPromise::LastAddress, actor, life, "it has not ended"));
    }
    if let (Some(Some(before)), Some(Some(after))) = (&life.at_rest, &life.at_end)
        && before != after
    {
        let why = format!("it ended for {before:?}, and later for {after:?}");
        return Err(breach(ActorPromise::EndNotices, actor, life, &why));
    }
    Ok(())
}

/// M4, G9: after a signal at most what had its turn already begins.
fn signals(facts: &TraceFacts<'_>, actor: usize, life: &ActorLife) -> Result<(), PromiseViolation> {
    for &(call, ret, what) in &life.signals {
        if !matches!(what, ActorSignal::Stop | ActorSignal::Kill | ActorSignal::Restart) {
            continue;
        }
        // Down between two lives it hears of nothing.
        if !life.is_up_at(call) {
            continue;
        }
        let Some(processed) = life.next_drop(call) else {
            let why = format!("{what:?} at {call} was not processed");
            return Err(breach(ActorPromise::Signals, actor, life, &why));
        };
        if let Some(why) = more_than_a_turn(facts, &mates_of(facts, actor), ret, processed) {
            let why = format!("{what:?} at {ret}, {why}");
            return Err(breach(ActorPromise::Signals, actor, life, &why));
        }
    }
    Ok(())
}

/// M7, G9: after a suspension at most what had its turn already begins.
fn suspensions(
    facts: &TraceFacts<'_>,
    actor: usize,
    life: &ActorLife,
) -> Result<(), PromiseViolation> {
    let resumes: Vec<_> =
        life.signals.iter().filter(|(.., what)| *what == ActorSignal::Resume).collect();
    for &(call, ret, what) in &life.signals {
        let resumed = resumes.iter().filter(|(_, done, _)| *done > call).map(|(begun, ..)| *begun);
        let until = resumed.chain(life.last_drop()).min().unwrap_or(facts.let_go);
        if what != ActorSignal::Suspend || until < ret || !life.is_up_at(call) {
            continue;
        }
        if let Some(why) =
            more_than_a_turn(facts, &mates_of(facts, actor), ret, until.min(facts.let_go))
        {
            let why = format!("Suspend at {ret}, {why}");
            return Err(breach(ActorPromise::Waiting, actor, life, &why));
        }
    }
    Ok(())
}

/// The actor first, then the other members of its group.
fn mates_of(facts: &TraceFacts<'_>, actor: usize) -> Vec<usize> {
    let others = facts.mates(actor).into_iter().filter(|mate| *mate != actor);
    std::iter::once(actor).chain(others).collect()
}

/// What begins on these actors within that time, if it is more than one item, or readers that stood
/// side by side.
fn more_than_a_turn(facts: &TraceFacts<'_>, of: &[usize], from: Seq, until: Seq) -> Option<String> {
    let mut begins: Vec<_> = of.iter().flat_map(|actor| facts.begins_on(*actor)).collect();
    begins.extend(
        of.iter()
            .flat_map(|actor| facts.lives[*actor].news.iter().map(|at| (*at, false, usize::MAX))),
    );
    begins.retain(|(at, ..)| from < *at && *at < until);
    begins.sort_unstable();
    begins.dedup_by_key(|(at, ..)| *at);
    let only_readers = begins.iter().all(|(_, read, _)| *read);
    (begins.len() > 1 && !only_readers).then(|| format!("and then there were {begins:?}"))
}

/// M6: after a panic the next thing that happens to the actor is its end.
fn failures(
    facts: &TraceFacts<'_>,
    actor: usize,
    life: &ActorLife,
) -> Result<(), PromiseViolation> {
    for course in facts.on(actor).filter(|course| course.ends_with(EndOfTurn::Panic)) {
        let at = course.turns.last().and_then(|turn| turn.end).map_or(0, |(at, _)| at);
        let next = life.hooks.iter().find(|(when, _)| *when > at);
        let begun = facts.begins_on(actor).into_iter().find(|(when, ..)| *when > at);
        let is_exclusive = course.needs(actor) == Some(false);
        let panicked = EndReason::Panicked(course.id);
        match next {
            Some((_, ActorHook::Stopped(reason))) if *reason == panicked => {
                if !is_exclusive {
                    let why = format!("it was only read by item {}, which panicked", course.id);
                    return Err(breach(ActorPromise::Failure, actor, life, &why));
                }
            }
            _ if !is_exclusive => continue,
            // It was cut off.
            Some((when, ActorHook::Dropped)) if facts.is_ending_at(*when) => {}
            _ => {
                let why = format!("item {} panicked at {at}, and it did not fail", course.id);
                return Err(breach(ActorPromise::Failure, actor, life, &why));
            }
        }
        if let Some((when, _, id)) = begun
            && next.is_some_and(|(hook, _)| when < *hook)
        {
            let why = format!("item {id} at {when} came after the panic of item {}", course.id);
            return Err(breach(ActorPromise::Failure, actor, life, &why));
        }
    }
    Ok(())
}

/// An actor that ends itself ends after that item.
fn own_ends(
    facts: &TraceFacts<'_>,
    actor: usize,
    life: &ActorLife,
) -> Result<(), PromiseViolation> {
    for course in facts.on(actor) {
        let Some(quits) = course.quits else { continue };
        let next = life.hooks.iter().find(|(when, _)| *when > quits).map(|(when, _)| *when);
        let begun = facts.begins_on(actor).into_iter().find(|(when, ..)| *when > quits);
        let in_time = match (next, begun) {
            (None, _) => false,
            (Some(hook), Some((began, ..))) => hook < began,
            (Some(_), None) => true,
        };
        if !in_time {
            let why = format!("item {} ends it at {quits}, and it goes on", course.id);
            return Err(breach(ActorPromise::Signals, actor, life, &why));
        }
    }
    Ok(())
}

/// Whether what was sent to the actor alone was dropped, though nothing but an end after all
/// messages can be why.
fn dropped_too_early<'a>(
    facts: &'a TraceFacts<'_>,
    actor: usize,
    before: Seq,
) -> Option<&'a ItemHistory> {
    let plain = |course: &&ItemHistory| {
        course.is_alone_on(actor)
            && course.turns.is_empty()
            && course.unhandled().is_some()
            && !course.is_free()
            && course.refused.is_none()
            && course.effect() < before
            // Other reasons: policies and circles.
            && facts.settings[actor].lanes.iter().all(|lane| lane.capacity.is_none())
            && !course.abandoned
            && course.answers.iter().all(|(_, answer)| *answer != super::trace::AskOutcome::Cycle)
    };
    facts.on(actor).find(plain)
}

/// M9: it ends by itself only if no address is left, and after the messages that it has.
fn last_address(
    facts: &TraceFacts<'_>,
    actor: usize,
    life: &ActorLife,
) -> Result<(), PromiseViolation> {
    let is_other = life.end() != Some(&EndReason::Normal) || facts.shut_down.is_some();
    if is_other || facts.settings[actor].supervised.is_some() {
        return Ok(());
    }
    let is_kept = facts.settings[actor].kept;
    if is_kept && matches!(life.at_rest, Some(Some(_))) {
        let why = "it ended although its address was kept";
        return Err(breach(ActorPromise::LastAddress, actor, life, why));
    }
    // Who still sends has an address: what was refused was not sent before the last one's end.
    let began = life.hooks.iter().rev().find(|(_, hook)| matches!(hook, ActorHook::Stopped(_)));
    let before = began.map_or(Seq::MAX, |(at, _)| *at);
    match dropped_too_early(facts, actor, before) {
        None => Ok(()),
        Some(course) => {
            let why = format!("item {} was dropped with the last address", course.id);
            Err(breach(ActorPromise::LastAddress, actor, life, &why))
        }
    }
}

/// M4: a drain is a message.
fn drains(facts: &TraceFacts<'_>, actor: usize, life: &ActorLife) -> Result<(), PromiseViolation> {
    for &(call, ret, what) in &life.signals {
        if what != ActorSignal::Drain || !life.is_up_at(call) {
            continue;
        }
        let Some(processed) = life.next_drop(call) else {
            return Err(breach(ActorPromise::Signals, actor, life, "a drain was not processed"));
        };
        let late = |course: &&ItemHistory| {
            course.is_alone_on(actor) && !course.is_free() && course.call > ret
        };
        let handled =
            |course: &&ItemHistory| course.turns.iter().any(|turn| turn.began < processed);
        if let Some(course) = facts.on(actor).filter(late).find(handled) {
            let why = format!("item {} was sent after a drain and handled before it", course.id);
            return Err(breach(ActorPromise::Signals, actor, life, &why));
        }
    }
    let told = |wanted| life.was_told(wanted);
    let only_drained =
        !(told(ActorSignal::Stop) || told(ActorSignal::Restart) || told(ActorSignal::Kill))
            && facts.settings[actor].supervised.is_none()
            && facts.shut_down.is_none()
            && life.end() == Some(&EndReason::Shutdown);
    let drains = life.signals.iter().filter(|(.., what)| *what == ActorSignal::Drain);
    let first = drains.map(|(call, ..)| *call).min().unwrap_or(0);
    if only_drained && let Some(course) = dropped_too_early(facts, actor, first) {
        let why = format!("item {} was sent before the drain at {first} and dropped", course.id);
        return Err(breach(ActorPromise::Signals, actor, life, &why));
    }
    Ok(())
}

/// The reason of each end is one that was given.
fn reasons(facts: &TraceFacts<'_>, actor: usize, life: &ActorLife) -> Result<(), PromiseViolation> {
    let is_supervised = facts.settings[actor].supervised.is_some();
    let said = life.hooks.iter().filter_map(|(at, hook)| match hook {
        ActorHook::Stopped(reason) => Some((*at, reason)),
        _ => None,
    });
    let end = life.end().map(|reason| (Seq::MAX, reason));
    for (at, reason) in said.chain(end) {
        let told = |wanted: &[ActorSignal]| {
            life.signals.iter().any(|(call, _, what)| *call < at && wanted.contains(what))
        };
        let item = |id: &usize| facts.items.get(id).filter(|course| course.needs(actor).is_some());
        let is_given = match reason {
            EndReason::Normal => !is_supervised || at == Seq::MAX,
            EndReason::Shutdown | EndReason::Killed if facts.is_ending_at(at) => true,
            EndReason::Shutdown => {
                is_supervised
                    || told(&[ActorSignal::Stop, ActorSignal::Drain, ActorSignal::Restart])
            }
            EndReason::Killed => is_supervised || told(&[ActorSignal::Kill]),
            EndReason::Panicked(id) => {
                item(id).is_some_and(|course| course.ends_with(EndOfTurn::Panic))
            }
            EndReason::Quit(id) => item(id).is_some_and(|course| course.quits.is_some()),
            // See `end_notices`.
            EndReason::Linked(..) => true,
            EndReason::NoActor | EndReason::Other(_) => false,
        };
        if !is_given {
            let why = format!("it was not given the reason {reason:?}");
            return Err(breach(ActorPromise::EndNotices, actor, life, &why));
        }
    }
    let last = life.hooks.iter().rev().find_map(|(_, hook)| match hook {
        ActorHook::Stopped(reason) => Some(Some(reason)),
        ActorHook::Started | ActorHook::Restarted(_) => Some(None),
        ActorHook::Dropped => None,
    });
    if let (Some(None), Some(end)) = (last, life.end())
        && facts.shut_down.is_none()
        && *end != EndReason::Killed
        && !is_supervised
    {
        let why = format!("it ended for {end:?} without `stopped`");
        return Err(breach(ActorPromise::Hooks, actor, life, &why));
    }
    if let (Some(Some(said)), Some(end)) = (last, life.end())
        && said != end
        && !is_supervised
    {
        return Err(breach(
            ActorPromise::EndNotices,
            actor,
            life,
            &format!("it ended for {end:?}"),
        ));
    }
    Ok(())
}
