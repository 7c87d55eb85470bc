//! Every sequence of a few events, held to the promises of caches in `docs/semantics.md`.
//!
//! A [`World`] drives the state in place of an actor: it runs loads and writes by hand, so that
//! they end in every order, and fail. Its store has versions of each key ([`KeyVersions`]), which
//! say what a get may answer.

mod held_writes;
mod key_versions;
mod world;

use self::world::{Event, StoreMode, World, WorldSettings};

/// Runs every sequence of `length` events, each to its end.
fn explore(settings: WorldSettings, events: &[Event], length: usize) {
    let mut runs = 0_u64;
    let mut sequence = vec![0; length];
    'sequences: loop {
        let mut world = World::new(settings);
        for (step, &at) in sequence.iter().enumerate() {
            if !world.apply(events[at]) {
                // The same as a shorter sequence: the next one differs here.
                if !advance(&mut sequence, step, events.len()) {
                    break 'sequences;
                }
                continue 'sequences;
            }
        }
        world.finish();
        runs += 1;
        if !advance(&mut sequence, length - 1, events.len()) {
            break;
        }
    }
    assert!(runs > 100, "only {runs} runs");
}

/// Changes the sequence at this step to the next one of the same length.
fn advance(sequence: &mut [usize], step: usize, events: usize) -> bool {
    sequence[step + 1..].fill(0);
    for at in (0..=step).rev() {
        sequence[at] += 1;
        if sequence[at] < events {
            return true;
        }
        sequence[at] = 0;
    }
    false
}

const LOADS: [Event; 5] =
    [Event::Get(1), Event::EndLoad(0), Event::EndLoad(1), Event::FailLoad(0), Event::Abandon];

fn settings(mode: StoreMode) -> WorldSettings {
    WorldSettings { mode, max_entries: 2, keeps_absences: false, max_loads: None }
}

#[test]
fn c4_gets_see_what_was_invalidated_before_them() {
    let mut events = LOADS.to_vec();
    events.extend([Event::ChangeElsewhere(1), Event::InvalidateAll]);
    for keeps_absences in [false, true] {
        let mode = StoreMode::Elsewhere;
        explore(WorldSettings { keeps_absences, ..settings(mode) }, &events, 6);
    }
}

#[test]
fn c4_gets_see_what_was_put_before_them_without_a_store() {
    let mut events = LOADS.to_vec();
    events.extend([Event::Put(1), Event::Remove(1), Event::Invalidate(1)]);
    for keeps_absences in [false, true] {
        let mode = StoreMode::EntriesAlone;
        explore(WorldSettings { keeps_absences, ..settings(mode) }, &events, 5);
    }
}

#[test]
fn c6_gets_and_writes_wait_for_a_write_through() {
    let mut events = LOADS.to_vec();
    events.extend([Event::Put(1), Event::Remove(1), Event::EndWrite(0), Event::FailWrite(0)]);
    events.push(Event::Invalidate(1));
    for keeps_absences in [false, true] {
        let mode = StoreMode::Through;
        explore(WorldSettings { keeps_absences, ..settings(mode) }, &events, 5);
    }
}

#[test]
fn c11_a_state_takes_over_the_writes_of_the_one_before() {
    let events = [
        Event::Put(1),
        Event::Get(1),
        Event::EndWrite(0),
        Event::FailWrite(0),
        Event::EndLoad(0),
        Event::Restart,
    ];
    explore(settings(StoreMode::Through), &events, 6);
}

#[test]
fn c7_gets_see_what_waits_to_be_written_behind() {
    let mut events = LOADS.to_vec();
    events.extend([Event::Put(1), Event::TakeBatch, Event::EndBatch, Event::FailBatch]);
    for max_entries in [1, 2] {
        explore(WorldSettings { max_entries, ..settings(StoreMode::Behind) }, &events, 5);
    }
}

#[test]
fn c8_writes_behind_wait_for_room_in_order() {
    let events = [
        Event::Put(1),
        Event::Put(2),
        Event::Get(2),
        Event::Flush,
        Event::TakeBatch,
        Event::EndBatch,
        Event::FailBatch,
        Event::DeliverRoom,
    ];
    explore(settings(StoreMode::Behind), &events, 6);
}

#[test]
fn c15_no_more_loads_are_in_flight_than_may_be() {
    let mut events = LOADS.to_vec();
    events.extend([Event::Get(2), Event::ChangeElsewhere(1)]);
    for max_entries in [1, 2] {
        let settings = settings(StoreMode::Elsewhere);
        explore(WorldSettings { max_entries, max_loads: Some(1), ..settings }, &events, 5);
    }
}
