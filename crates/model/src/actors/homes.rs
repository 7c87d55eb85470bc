//! Where items run: H7 and G8, with T1.
//!
//! An item runs in the home that the first of its members has had from the last move before it.
//! If the trace does not tell which move was the last, any possible one is accepted.

use super::facts::{ItemHistory, TraceFacts};
use super::promise_violation::{ActorPromise, PromiseViolation};
use super::trace::ItemTarget;
use crate::Seq;

/// The move of an actor, and with it of its group.
struct ActorMove {
    actor: usize,
    call: Seq,
    ret: Seq,
    home: usize,
}

pub(super) fn check(facts: &TraceFacts<'_>) -> Result<(), PromiseViolation> {
    for actor in 0..facts.lives.len() {
        let moves = moves_of(facts, actor);
        for course in facts.on(actor).filter(|course| !moves.is_empty() && !course.is_free()) {
            if course.item.members[0].of == ItemTarget::Actor(actor) {
                runs_where_it_was_moved(facts, actor, &moves, course)?;
            }
        }
    }
    Ok(())
}

/// The moves of the actor, or of any member of its group.
fn moves_of(facts: &TraceFacts<'_>, actor: usize) -> Vec<ActorMove> {
    let of = |actor: usize| {
        let moves = facts.lives[actor].moves.iter();
        moves.map(move |&(call, ret, home)| ActorMove { actor, call, ret, home })
    };
    facts.mates(actor).into_iter().flat_map(of).collect()
}

fn runs_where_it_was_moved(
    facts: &TraceFacts<'_>,
    actor: usize,
    moves: &[ActorMove],
    course: &ItemHistory,
) -> Result<(), PromiseViolation> {
    let Some(turn) = course.turns.first() else { return Ok(()) };
    let Some(ran) = turn.home else { return Ok(()) };
    let comes_before = |it: &ActorMove| {
        // One that has ended does not move any more.
        let goes_on = facts.lives[it.actor].last_drop().is_none_or(|at| at > turn.began);
        // A sorted message may have the place of one that stands before the moves of others.
        let is_in_place = it.actor == actor || !facts.is_sorted(course);
        it.ret < course.call && goes_on && is_in_place
    };
    let certain: Vec<_> = moves.iter().filter(|it| comes_before(it)).collect();
    if certain.is_empty() {
        return Ok(());
    }
    let may_be_last =
        |it: &&ActorMove| it.call < turn.began && certain.iter().all(|later| later.call < it.ret);
    let mut homes = moves.iter().filter(may_be_last).map(|it| it.home);
    if homes.any(|home| home == ran) {
        return Ok(());
    }
    let why = format!(
        "item {} ran in home {ran} at {}, and actor {actor} had been moved elsewhere",
        course.id, turn.began
    );
    Err(PromiseViolation::new(ActorPromise::Moves, why))
}
