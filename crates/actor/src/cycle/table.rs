//! All waits that go on, and the look along them.

#[cfg(all(test, not(loom)))]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use coact_core::cown::CownId;
use coact_core::internals::QueuePosition;
use coact_sync::shim::process::Mutex;

use super::wait::{Ahead, Keys, Wait};
use crate::id::ActorId;

/// How many waits are followed before a search has to decide.
const FAR: usize = 32;

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

/// The waits, found in three ways. No code of users runs while it is locked.
#[derive(Default)]
struct Table {
    /// By who waits, and the wait's number.
    waits: BTreeMap<(ActorId, u64), WaitEntry>,
    /// By the queue in which the message was when it was last looked at, or of whoever has the answer; and
    /// the number.
    behind: BTreeMap<(CownId, u64), Arc<Wait>>,
    /// By the place in which the message was when it was last looked at. Places are used again: the wait
    /// that came last is there.
    places: HashMap<(CownId, QueuePosition), Arc<Wait>>,
    /// By the queue again, those whose messages stand at no certain place of it.
    sorted: BTreeMap<(CownId, u64), Arc<Wait>>,
}

/// A wait, and where else it is found.
struct WaitEntry {
    wait: Arc<Wait>,
    keys: Keys,
}

/// Adds a wait that begins. Returns whether it may close a circle.
#[must_use]
pub(super) fn add(wait: &Arc<Wait>) -> bool {
    let mut table = TABLE.lock();
    table.insert(wait);
    table.may_be_closed_by(wait)
}

/// Notes that the message of a wait has come to where it waits now. Returns whether it may close a circle.
#[must_use]
pub(super) fn moved(wait: &Arc<Wait>) -> bool {
    let mut table = TABLE.lock();
    if !table.remove(wait) {
        return false;
    }
    table.insert(wait);
    table.may_be_closed_by(wait)
}

/// A wait has ended.
pub(super) fn remove(wait: &Arc<Wait>) {
    TABLE.lock().remove(wait);
}

/// Those whose messages may be in a queue, or in one of these places: in the order of their beginning, but
/// for the latter. Others may begin and end meanwhile; whoever is parked does not.
pub(super) fn candidates(
    queue: CownId,
    places: &HashSet<(CownId, QueuePosition)>,
) -> Vec<Arc<Wait>> {
    let table = TABLE.lock();
    let mut found: Vec<_> = of(&table.behind, queue).cloned().collect();
    if places.len() < table.places.len() {
        found.extend(places.iter().filter_map(|place| table.places.get(place)).cloned());
    } else {
        let placed = table.places.iter().filter(|(place, _)| places.contains(place));
        found.extend(placed.map(|(_, wait)| Arc::clone(wait)));
    }
    if !table.sorted.is_empty() {
        let cowns: HashSet<_> = places.iter().map(|(cown, _)| *cown).collect();
        for cown in cowns {
            found.extend(of(&table.sorted, cown).cloned());
        }
    }
    drop(table);
    found.sort_by_key(|wait| wait.serial());
    found.dedup_by_key(|wait| wait.serial());
    found
}

/// What an actor waits for.
#[cfg(all(test, not(loom)))]
pub(super) fn all_by(actor: ActorId) -> Vec<Arc<Wait>> {
    TABLE.lock().of(actor).cloned().collect()
}

impl Table {
    fn insert(&mut self, wait: &Arc<Wait>) {
        let keys = wait.list();
        if let Some(queue) = keys.queue {
            self.behind.insert((queue, wait.serial()), Arc::clone(wait));
            if keys.sorted {
                self.sorted.insert((queue, wait.serial()), Arc::clone(wait));
            }
        }
        if let Some(place) = keys.place {
            self.places.insert(place, Arc::clone(wait));
        }
        let entry = WaitEntry { wait: Arc::clone(wait), keys };
        self.waits.insert((wait.by().id(), wait.serial()), entry);
    }

    /// Returns whether it was there.
    fn remove(&mut self, wait: &Arc<Wait>) -> bool {
        let Some(entry) = self.waits.remove(&(wait.by().id(), wait.serial())) else { return false };
        if let Some(queue) = entry.keys.queue {
            self.behind.remove(&(queue, wait.serial()));
            if entry.keys.sorted {
                self.sorted.remove(&(queue, wait.serial()));
            }
        }
        if let Some(place) = entry.keys.place
            && self.places.get(&place).is_some_and(|there| Arc::ptr_eq(there, wait))
        {
            self.places.remove(&place);
        }
        true
    }

    /// Whether a circle may go through a wait that has just begun or moved: from whoever is to answer it
    /// one comes to the one who waits, or to somebody whom others may hold up. If not, there is none: of
    /// the waits on a circle that all have been looked at, the last one saw the others here.
    fn may_be_closed_by(&self, wait: &Arc<Wait>) -> bool {
        let mut ahead = vec![wait];
        let mut seen = 0;
        while let Some(next) = ahead.pop() {
            match next.ahead() {
                Ahead::Nobody => {}
                Ahead::Unclear => return true,
                Ahead::Actor(actor) => {
                    seen += 1;
                    if actor == wait.by().id() || seen > FAR {
                        return true;
                    }
                    ahead.extend(self.of(actor));
                }
            }
        }
        false
    }

    /// What an actor waits for.
    fn of(&self, actor: ActorId) -> impl Iterator<Item = &Arc<Wait>> {
        self.waits.range((actor, 0)..=(actor, u64::MAX)).map(|(_, entry)| &entry.wait)
    }
}

/// The waits of a queue.
fn of(
    waits: &BTreeMap<(CownId, u64), Arc<Wait>>,
    queue: CownId,
) -> impl Iterator<Item = &Arc<Wait>> {
    waits.range((queue, 0)..=(queue, u64::MAX)).map(|(_, wait)| wait)
}
