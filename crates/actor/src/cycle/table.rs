//! All waits that go on, and the look along them.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::search::search_soon;
use super::wait::{Ahead, Wait};
use crate::ActorId;

/// How many waits are followed before a search has to decide.
const FAR: usize = 1_000;

static TABLE: Mutex<Table> = Mutex::new(Table { waits: BTreeMap::new() });

/// The waits, each by who waits and its own place in memory.
struct Table {
    waits: BTreeMap<(ActorId, usize), Arc<Wait>>,
}

/// A wait begins.
pub(super) fn add(wait: &Arc<Wait>) {
    let mut table = TABLE.lock();
    table.waits.insert(key(wait), Arc::clone(wait));
    look_along(wait, table);
}

/// The message of a wait has come to where it waits now.
pub(super) fn moved(wait: &Arc<Wait>) {
    look_along(wait, TABLE.lock());
}

/// Has a search made if it may find something. The table is unlocked before.
fn look_along(wait: &Arc<Wait>, table: MutexGuard<'_, Table>) {
    let may_be_closed = table.may_be_closed_by(wait);
    drop(table);
    if may_be_closed {
        search_soon(wait);
    }
}

/// A wait has ended.
pub(super) fn remove(wait: &Arc<Wait>) {
    TABLE.lock().waits.remove(&key(wait));
}

/// Those that go on. Others may begin and end meanwhile; whoever is parked does not.
pub(super) fn all() -> Vec<Arc<Wait>> {
    TABLE.lock().waits.values().cloned().collect()
}

fn key(wait: &Arc<Wait>) -> (ActorId, usize) {
    (wait.by().id(), Arc::as_ptr(wait).addr())
}

impl Table {
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
        self.waits.range((actor, 0)..=(actor, usize::MAX)).map(|(_, wait)| wait)
    }
}
