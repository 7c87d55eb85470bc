//! All current waits, and the forward look along them.

#[cfg(all(test, not(loom)))]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use coact_core::cown::CownId;
use coact_core::internals::QueuePosition;
use coact_sync::shim::process::Mutex;

use super::wait::{ActorsAhead, AskWait, WaitKeys};
use crate::id::ActorId;

/// How many waits are followed before a search has to decide.
const FAR: usize = 32;

static TABLE: LazyLock<Mutex<WaitTable>> = LazyLock::new(Mutex::default);

/// The waits, with several indexes. No user code runs while it is locked.
#[derive(Default)]
struct WaitTable {
    /// By the waiting actor and the wait's number.
    waits: BTreeMap<(ActorId, u64), WaitEntry>,
    /// By the queue in which the message was when last examined, or of the actor that has the
    /// answer; and the number.
    behind: BTreeMap<(CownId, u64), Arc<AskWait>>,
    /// By the place in which the message was when last examined. Places are reused: the latest wait
    /// is stored.
    places: HashMap<(CownId, QueuePosition), Arc<AskWait>>,
    /// By the queue again: waits whose messages have no fixed place in it.
    sorted: BTreeMap<(CownId, u64), Arc<AskWait>>,
}

/// A wait, and its keys in the indexes.
struct WaitEntry {
    wait: Arc<AskWait>,
    keys: WaitKeys,
}

/// Adds a new wait. Returns whether it may close a circle.
#[must_use = "a circle that it may close is to be looked for"]
pub(super) fn add(wait: &Arc<AskWait>) -> bool {
    let mut table = TABLE.lock();
    table.insert(wait);
    table.may_be_closed_by(wait)
}

/// Notes that the message of a wait has reached the place where it now waits. Returns whether it
/// may close a circle.
#[must_use = "a circle that it may close is to be looked for"]
pub(super) fn moved(wait: &Arc<AskWait>) -> bool {
    let mut table = TABLE.lock();
    if !table.remove(wait) {
        return false;
    }
    table.insert(wait);
    table.may_be_closed_by(wait)
}

/// Removes a wait that has ended.
pub(super) fn remove(wait: &Arc<AskWait>) {
    TABLE.lock().remove(wait);
}

/// Returns the waits whose messages may be in a queue, or in one of these places, ordered by their
/// beginning. Others may begin and end meanwhile; those of parked actors do not.
pub(super) fn candidates(
    queue: CownId,
    places: &HashSet<(CownId, QueuePosition)>,
) -> Vec<Arc<AskWait>> {
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

/// Returns what an actor waits for.
#[cfg(all(test, not(loom)))]
pub(super) fn all_by(actor: ActorId) -> Vec<Arc<AskWait>> {
    TABLE.lock().of(actor).cloned().collect()
}

impl WaitTable {
    fn insert(&mut self, wait: &Arc<AskWait>) {
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
    fn remove(&mut self, wait: &Arc<AskWait>) -> bool {
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

    /// Returns whether a circle may go through a wait that has just begun or moved: whether
    /// following the waits from the actor that should answer it leads to the waiting actor, or to
    /// one that others may hold up. If not, there is no circle: of the waits on a circle that have
    /// all been examined, the last one saw the others here.
    fn may_be_closed_by(&self, wait: &Arc<AskWait>) -> bool {
        let mut ahead = vec![wait];
        let mut seen = 0;
        while let Some(next) = ahead.pop() {
            match next.ahead() {
                ActorsAhead::Nothing => {}
                ActorsAhead::Unclear => return true,
                ActorsAhead::Actor(actor) => {
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

    /// Returns what an actor waits for.
    fn of(&self, actor: ActorId) -> impl Iterator<Item = &Arc<AskWait>> {
        self.waits.range((actor, 0)..=(actor, u64::MAX)).map(|(_, entry)| &entry.wait)
    }
}

/// Returns the waits of a queue.
fn of(
    waits: &BTreeMap<(CownId, u64), Arc<AskWait>>,
    queue: CownId,
) -> impl Iterator<Item = &Arc<AskWait>> {
    waits.range((queue, 0)..=(queue, u64::MAX)).map(|(_, wait)| wait)
}
