//! Who was skipped, and what checked accesses saw: the turns replayed against the rules of poison.

use super::history::{BehaviourLife, TraceHistory};
use crate::poison::PoisonedCowns;
use crate::program::Variable;
use crate::violation::Violation;

/// Replays the turns in the order of their starts, which is the order of conflicting ones.
pub(super) fn check(history: &TraceHistory<'_>) -> Result<(), Violation> {
    let mut lives: Vec<&BehaviourLife> = history.lives().collect();
    lives.sort_by_key(|life| life.start);
    let mut poison = PoisonedCowns::default();
    for life in lives {
        check_skip(life, history, &poison)?;
        for &(variable, poisoned) in &life.saw {
            check_sight(life, variable, poisoned, history, &poison)?;
        }
        poison.replay(&history.plan[life.id], life.skipped);
    }
    Ok(())
}

fn check_skip(
    life: &BehaviourLife,
    history: &TraceHistory<'_>,
    poison: &PoisonedCowns,
) -> Result<(), Violation> {
    let id = life.id;
    match (poison.skips(&history.plan[id].footprint), life.skipped) {
        (None, true) => Err(Violation::WronglySkipped(id)),
        (Some(cown), false) => {
            let by = poison.on(cown).expect("a cown that skips is poisoned");
            Err(Violation::NotSkipped { id, cown, by })
        }
        _ => Ok(()),
    }
}

fn check_sight(
    life: &BehaviourLife,
    variable: Variable,
    poisoned: bool,
    history: &TraceHistory<'_>,
    poison: &PoisonedCowns,
) -> Result<(), Violation> {
    let id = life.id;
    let set = &history.plan[id].spawn.set;
    if !set.iter().any(|member| member.variable == variable && member.access.is_checked()) {
        return Err(Violation::NoSuchMember(id, variable));
    }
    let poisoned_by = poison.on(history.plan.program.cown(variable));
    if poisoned_by.is_some() != poisoned {
        return Err(Violation::WrongSight { id, variable, poisoned_by });
    }
    Ok(())
}
