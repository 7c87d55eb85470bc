//! That it has what the store has, in all orders.

use std::collections::BTreeMap;

use super::*;

fn entity(key: &str) -> EntityId {
    EntityId::new("clock", key)
}

fn key(name: &str) -> TimerKey {
    TimerKey { entity: entity("a"), name: NoteKey::from(name) }
}

fn at(position: u64) -> Position {
    Position::new(position)
}

impl<T: Clone> TimerTable<T> {
    /// The timers that are set, by names: when they are due, and their payloads.
    fn set_timers(&self) -> BTreeMap<NoteKey, (u64, T)> {
        let entries = self.entities.values().flat_map(|entity| &entity.timers);
        let set = entries.filter_map(|(name, entry)| {
            let timer = entry.timer.as_ref()?;
            Some((name.clone(), (timer.due, timer.payload.clone())))
        });
        set.collect()
    }

    /// Whether nothing is remembered but what is set.
    fn is_tidy(&self) -> bool {
        let entries = || self.entities.values().flat_map(|entity| entity.timers.values());
        let is_used = |entity: &EntityTimers<T>| !entity.timers.is_empty();
        self.open.is_empty()
            && self.tombstones.is_empty()
            && entries().all(|entry| !entry.is_vacant())
            && self.entities.values().all(|entity| is_used(entity) && entity.deleted == at(0))
    }
}

/// What a commit does to timers, in this order.
type Program = &'static [Change];

#[derive(Clone, Copy, Debug)]
enum Change {
    Set(&'static str, u64),
    Remove(&'static str),
    Delete,
}

use Change::{Delete, Remove, Set};

/// A commit, or a read of all notes, and how far it is.
#[derive(Clone, Debug)]
enum Step {
    Planned(Program),
    /// Its changes are open, with these numbers.
    Open(Program, Vec<u64>),
    /// It is stored at a position.
    Stored(Program, Vec<u64>, Position),
    PlannedRead,
    /// Open, with this number.
    OpenRead(u64),
    /// The position is known.
    At(u64, Position),
    /// These notes were read.
    Read(u64, Position, Vec<(NoteKey, u64)>),
    Over,
}

/// The table, and a store as plain as can be.
#[derive(Clone)]
struct World {
    table: TimerTable<u64>,
    store: BTreeMap<NoteKey, u64>,
    position: Position,
    steps: Vec<Step>,
    /// What has happened.
    trace: Vec<(usize, bool)>,
}

impl World {
    fn new(steps: Vec<Step>) -> Self {
        let (store, trace) = (BTreeMap::new(), Vec::new());
        Self { table: TimerTable::default(), store, position: at(0), steps, trace }
    }

    fn open(&mut self, change: Change) -> u64 {
        match change {
            Set(name, due) => self.table.open_set(&key(name), due).0,
            Remove(name) => self.table.open_change(&key(name)),
            Delete => self.table.open_deletion(&entity("a")),
        }
    }

    fn store(&mut self, change: Change) {
        match change {
            Set(name, due) => drop(self.store.insert(NoteKey::from(name), due)),
            Remove(name) => drop(self.store.remove(&NoteKey::from(name))),
            Delete => self.store.clear(),
        }
    }

    fn apply(&mut self, change: Change, position: Position) {
        match change {
            Set(name, due) => drop(self.table.set(&key(name), (due, false), position, due)),
            Remove(name) => drop(self.table.remove(&key(name), position)),
            Delete => drop(self.table.delete(&entity("a"), position)),
        }
    }

    /// Goes one step on. `fails`: a commit is refused. Returns false if there is no such step.
    fn go_on(&mut self, index: usize, fails: bool) -> bool {
        // (That of the first one, which is as good as any.)
        if fails && (index > 0 || !matches!(self.steps[index], Step::Open(..))) {
            return false;
        }
        self.trace.push((index, fails));
        let step = std::mem::replace(&mut self.steps[index], Step::Over);
        self.steps[index] = match step {
            Step::Planned(program) => {
                let numbers = program.iter().map(|change| self.open(*change)).collect();
                Step::Open(program, numbers)
            }
            Step::Open(_, numbers) if fails => {
                numbers.into_iter().for_each(|number| self.table.close(number));
                Step::Over
            }
            Step::Open(program, numbers) => {
                self.position = self.position.next();
                program.iter().for_each(|change| self.store(*change));
                Step::Stored(program, numbers, self.position)
            }
            Step::Stored(program, numbers, position) => {
                for (change, number) in program.iter().zip(numbers) {
                    self.apply(*change, position);
                    self.table.close(number);
                }
                Step::Over
            }
            Step::PlannedRead => Step::OpenRead(self.table.open_read()),
            Step::OpenRead(number) => Step::At(number, self.position),
            Step::At(number, position) => {
                let notes = self.store.iter().map(|(name, due)| (name.clone(), *due)).collect();
                Step::Read(number, position, notes)
            }
            Step::Read(number, position, notes) => {
                for (name, due) in notes {
                    let key = TimerKey { entity: entity("a"), name };
                    self.table.set(&key, (due, false), position, due);
                }
                self.table.close(number);
                Step::Over
            }
            Step::Over => return false,
        };
        true
    }

    /// Tries all orders of what is left. Returns how many there are.
    fn explore(self) -> u64 {
        let mut orders = 0;
        for index in 0..self.steps.len() {
            for fails in [false, true] {
                let mut next = self.clone();
                if next.go_on(index, fails) {
                    orders += next.explore();
                }
            }
        }
        if orders == 0 {
            self.assert_sound();
            return 1;
        }
        orders
    }

    /// When nothing is open, the table has what the store has, and remembers nothing else.
    fn assert_sound(&self) {
        let Self { table, store, trace, .. } = self;
        let expected = store.iter().map(|(name, due)| (name.clone(), (*due, *due))).collect();
        assert_eq!(table.set_timers(), expected, "{trace:?}");
        assert!(table.is_tidy(), "{trace:?}");
    }
}

#[test]
fn in_all_orders_it_has_what_the_store_has() {
    const PROGRAMS: [Program; 7] = [
        &[Set("t", 1)],
        &[Set("t", 2)],
        &[Remove("t")],
        &[Delete],
        &[Remove("t"), Set("t", 3)],
        &[Set("t", 4), Delete, Set("u", 5)],
        &[Set("u", 6), Remove("t")],
    ];
    let planned = |index: usize| Step::Planned(PROGRAMS[index]);
    for one in 0..PROGRAMS.len() {
        for other in one..PROGRAMS.len() {
            let with_read = vec![planned(one), planned(other), Step::PlannedRead];
            assert!(World::new(with_read).explore() >= 4_200);
        }
    }
    for (one, other, third) in [(0, 1, 2), (0, 2, 3), (0, 1, 4), (2, 4, 6)] {
        let commits = vec![planned(one), planned(other), planned(third)];
        assert!(World::new(commits).explore() >= 1_680);
    }
}

#[test]
fn a_read_finds_what_another_process_has_set() {
    let mut world = World::new(vec![Step::Planned(&[Set("t", 1)]), Step::PlannedRead]);
    world.store.extend([(NoteKey::from("t"), 7), (NoteKey::from("u"), 8)]);
    assert!(world.explore() > 35);
}

#[test]
fn a_removed_timer_is_forgotten_when_nothing_older_is_open() {
    let mut table = TimerTable::default();
    let old = table.open_change(&key("t"));
    for n in 0..100 {
        let (number, _) = table.open_set(&key("t"), n);
        table.set(&key("t"), (n, false), at(n + 2), n);
        table.close(number);
        let number = table.open_change(&key("t"));
        assert_eq!(table.remove(&key("t"), at(n + 2)), Some(n));
        table.close(number);
        let newer = table.open_read();
        assert!(!table.is_tidy());
        table.close(newer);
    }
    assert_eq!(table.set(&key("t"), (7, false), at(1), 7), (None, Some(7)));
    table.close(old);
    assert!(table.is_tidy() && table.entities.is_empty());
}

/// Sets a timer that is due.
fn set_due(table: &mut TimerTable<u64>, due: u64, position: u64) {
    let (number, due) = table.open_set(&key("t"), due);
    table.set(&key("t"), (due, true), at(position), due);
    table.close(number);
}

fn begun(table: &mut TimerTable<u64>) -> Option<u64> {
    table.begin_delivery(&key("t")).map(|(due, _)| due)
}

#[test]
fn a_timer_rings_when_it_is_due_and_not_before() {
    let mut table = TimerTable::default();
    let (number, _) = table.set(&key("t"), (5, false), at(1), 0);
    let number = number.unwrap();
    assert_eq!((table.ring(&key("t"), number, 4), table.take_ready()), (Some(5), vec![]));
    // One that was set again since does not ring for the one before.
    let (again, _) = table.set(&key("t"), (6, false), at(2), 0);
    assert_eq!((table.ring(&key("t"), number, 9), table.take_ready()), (None, vec![]));
    assert!(table.waiting(&key("t"), number).is_none());
    assert!(table.waiting(&key("t"), again.unwrap()).is_some());
    assert_eq!(table.ring(&key("t"), again.unwrap(), 6), None);
    assert_eq!(table.take_ready(), [key("t")]);
    // Once.
    assert_eq!((table.ring(&key("t"), again.unwrap(), 6), table.take_ready()), (None, vec![]));
}

#[test]
fn one_courier_delivers_whatever_is_set() {
    let mut table = TimerTable::default();
    set_due(&mut table, 1, 1);
    assert_eq!((table.take_ready(), begun(&mut table)), (vec![key("t")], Some(1)));
    set_due(&mut table, 2, 2);
    assert!(!table.is_current(&key("t"), 1) && table.take_ready().is_empty());
    assert_eq!(table.open_taking(&key("t"), 1), None);
    // The one that was delivered is gone, and this one is not.
    assert_eq!(table.end_delivery(&key("t"), 1, true), None);
    assert_eq!(begun(&mut table), Some(2));
    let taking = table.open_taking(&key("t"), 2).unwrap();
    assert_eq!(table.remove(&key("t"), at(3)), Some(2));
    table.close(taking);
    table.end_delivery(&key("t"), 2, false);
    assert_eq!(begun(&mut table), None);
    assert!(table.is_tidy());
}

#[test]
fn a_timer_that_was_not_taken_is_delivered_again() {
    let mut table = TimerTable::default();
    set_due(&mut table, 1, 1);
    assert_eq!((table.take_ready(), begun(&mut table)), (vec![key("t")], Some(1)));
    // A decision cancels it, and is refused. That of the delivery has come behind it.
    let cancel = table.open_change(&key("t"));
    assert_eq!(table.open_taking(&key("t"), 1), None);
    table.end_delivery(&key("t"), 1, false);
    assert_eq!((begun(&mut table), table.take_ready()), (None, vec![]));
    table.close(cancel);
    assert_eq!((table.take_ready(), begun(&mut table)), (vec![key("t")], Some(1)));
    // So does one that deletes the entity.
    let deletion = table.open_deletion(&entity("a"));
    table.end_delivery(&key("t"), 1, false);
    assert_eq!((begun(&mut table), table.take_ready()), (None, vec![]));
    table.close(deletion);
    assert_eq!(table.take_ready(), [key("t")]);
    // The runtime of its courier ends, before that has begun, or behind that.
    table.abandon_delivery(&key("t"));
    assert_eq!((table.take_ready(), begun(&mut table)), (vec![key("t")], Some(1)));
    table.abandon_delivery(&key("t"));
    assert_eq!((table.take_ready(), begun(&mut table)), (vec![key("t")], Some(1)));
}

#[test]
fn a_timer_for_the_time_of_the_one_that_is_delivered_has_another() {
    let mut table = TimerTable::default();
    set_due(&mut table, 1, 1);
    assert_eq!(table.open_set(&key("u"), 1).1, 1);
    begun(&mut table);
    assert_eq!(table.open_set(&key("t"), 1).1, 2);
    assert_eq!(table.open_set(&key("t"), 2).1, 2);
}
