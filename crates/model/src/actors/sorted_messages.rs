//! Messages that a mailbox sorts, among the behaviours of its group: G2.
//!
//! Each message that is sent has a place in the order of the group, and in the place of one comes
//! the one whose turn it is, or none. So there is a way to give each message that was handled a
//! place of its own that can be where it ran: behind all behaviours that ran before it, and before
//! those that ran after it. Places are looked for message by message, in the order in which these
//! ran; of those that will do, the one is taken that would be of no use first. (If there is a way,
//! this finds it: what ran later needs a later place.)

use super::facts::{ItemHistory, TraceFacts};
use super::items::lane_of;
use super::promise_violation::{ActorPromise, PromiseViolation};
use super::trace::{AskOutcome, ItemKind, WhenFull};
use crate::Seq;

pub(super) fn check(facts: &TraceFacts<'_>) -> Result<(), PromiseViolation> {
    let sorts =
        |actor: &usize| facts.settings[*actor].group.is_some() && facts.settings[*actor].sorts();
    (0..facts.settings.len()).filter(sorts).try_for_each(|actor| of_actor(facts, actor))
}

/// The place of a message: taken in some moment between the two.
struct MessagePlace {
    from: Seq,
    to: Seq,
}

fn of_actor(facts: &TraceFacts<'_>, actor: usize) -> Result<(), PromiseViolation> {
    let others = others_in_group(facts, actor);
    let mut places: Vec<MessagePlace> =
        facts.on(actor).filter_map(|course| place_of(facts, course)).collect();
    let mut handled: Vec<(Seq, &ItemHistory)> = facts
        .on(actor)
        .filter(|course| course.lane().is_some())
        .filter_map(|course| Some((course.turns.first()?.began, course)))
        .collect();
    handled.sort_unstable_by_key(|(at, _)| *at);
    for (at, course) in handled {
        let ran = others.iter().filter(|other| other.turns[0].began < at);
        let after = ran.map(|other| other.call).max().unwrap_or(0);
        let waits = others.iter().filter(|other| other.turns[0].began > at);
        let before = waits.map(|other| other.effect()).min().unwrap_or(Seq::MAX);
        let fits = |place: &&MessagePlace| place.from < before && place.to > after;
        let Some(first) = places.iter().filter(fits).map(|place| place.to).min() else {
            let why = format!(
                "item {} ran at {at}, and no place of a message to actor {actor} is there",
                course.id
            );
            return Err(PromiseViolation::new(ActorPromise::Groups, why));
        };
        let used = places.iter().position(|place| fits(&place) && place.to == first);
        used.map(|used| places.swap_remove(used));
    }
    Ok(())
}

/// What ran on members of the actor's group in a place of its own.
fn others_in_group<'a>(facts: &'a TraceFacts<'_>, actor: usize) -> Vec<&'a ItemHistory> {
    let mates = facts.mates(actor);
    let is_other = |course: &&ItemHistory| {
        !course.turns.is_empty()
            && !course.is_free()
            && !facts.is_sorted(course)
            && mates.iter().any(|mate| course.needs(*mate).is_some())
    };
    facts.items.values().filter(is_other).collect()
}

/// The place of a message to the actor, if it has got as far as that.
fn place_of(facts: &TraceFacts<'_>, course: &ItemHistory) -> Option<MessagePlace> {
    match course.item.kind {
        ItemKind::Behaviour => None,
        // At an unknown time.
        ItemKind::Free => Some(MessagePlace { from: course.call, to: Seq::MAX }),
        ItemKind::Message { .. } => {
            let place = MessagePlace { from: course.call, to: course.effect() };
            let is_full = |(_, answer): &(Seq, AskOutcome)| *answer == AskOutcome::Full;
            let is_turned_away = match lane_of(facts, course)?.when_full {
                WhenFull::Refuse => course.answers.iter().any(is_full),
                WhenFull::DropNewest => course.dropped.is_some_and(|at| at < course.ret),
                WhenFull::DropOldest => false,
            };
            (course.refused.is_none() && !is_turned_away).then_some(place)
        }
    }
}
