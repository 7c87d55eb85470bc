//! The table of names, and of those that wait for one.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use coact_sync::shim::process::Mutex;

use super::NameTaken;
use crate::lookup_error::LookupError;

use crate::any_addr::AnyAddr;
use crate::id::ActorId;
use crate::parts::{Actor, Addr, WeakAddr};
use crate::runtime_singleton::RuntimeService;

/// The table, with its lock. No user code runs under it: addresses are created there, never
/// dropped.
#[derive(Default)]
pub(crate) struct NameTable(Mutex<NameEntries>);

#[derive(Default)]
struct NameEntries {
    /// With a number for each registration.
    names: HashMap<Arc<str>, (ActorId, u64)>,
    given: u64,
    actors: HashMap<ActorId, NamedActor>,
    /// The waiters for a name, by their tickets.
    waiting: HashMap<Arc<str>, BTreeMap<u64, OnRegistered>>,
    tickets: u64,
}

/// An actor that can be found.
#[derive(Default)]
struct NamedActor {
    /// `None` while the actor is being created.
    found: Option<FoundActor>,
    /// In the order of registration.
    names: BTreeMap<u64, Arc<str>>,
}

struct FoundActor {
    address: Box<dyn AnyWeakAddr>,
    any: AnyAddr,
}

/// A weak address, whose type is known only to the lookup.
trait AnyWeakAddr: Any + Send + Sync {
    fn has_ended(&self) -> bool;
    fn as_any(&self) -> &dyn Any;
}

impl<A: Actor> AnyWeakAddr for WeakAddr<A> {
    fn has_ended(&self) -> bool {
        WeakAddr::has_ended(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl FoundActor {
    fn typed<A: Actor>(&self, name: impl FnOnce() -> String) -> Result<Addr<A>, LookupError> {
        match self.address.as_any().downcast_ref::<WeakAddr<A>>() {
            Some(address) => address.upgrade().ok_or(LookupError::Unknown),
            None => Err(LookupError::other_type::<A>(name(), self.any.type_name())),
        }
    }
}

/// Called when an awaited name is taken, with the strong address of its holder.
pub(super) type OnRegistered = Box<dyn FnOnce(&dyn Any, &AnyAddr) + Send>;

impl NameEntries {
    /// Returns the actor that has a name, if it is alive.
    fn living(&self, name: &str) -> Option<&FoundActor> {
        self.living_id(self.names.get(name)?.0)
    }

    fn living_id(&self, id: ActorId) -> Option<&FoundActor> {
        self.actors.get(&id)?.found.as_ref().filter(|found| !found.address.has_ended())
    }

    /// Returns whether the name is unavailable to others: its holder is alive, or about to be.
    fn is_held(&self, holder: ActorId) -> bool {
        let entry = self.actors.get(&holder);
        entry.is_some_and(|entry| match &entry.found {
            Some(found) => !found.address.has_ended(),
            None => true,
        })
    }

    /// Takes a name away from its holder.
    fn vacate(&mut self, name: &str) -> bool {
        let Some((holder, number)) = self.names.remove(name) else { return false };
        if let Some(entry) = self.actors.get_mut(&holder) {
            entry.names.remove(&number);
        }
        true
    }
}

impl RuntimeService for NameTable {}

impl NameTable {
    /// Gives an actor all of the names, or none. Returns whether the actor was unknown so far: the
    /// caller must then have its end clear its entry.
    pub(crate) fn claim(&self, actor: ActorId, names: &[Arc<str>]) -> Result<bool, NameTaken> {
        let mut entries = self.0.lock();
        for name in names {
            match entries.names.get(name) {
                Some(&(holder, _)) if holder != actor && entries.is_held(holder) => {
                    return Err(NameTaken { name: Arc::clone(name), holder, unused: () });
                }
                _ => {}
            }
        }
        let is_new = !entries.actors.contains_key(&actor);
        entries.actors.entry(actor).or_default();
        for name in names {
            if entries.names.get(name).is_some_and(|(holder, _)| *holder == actor) {
                continue;
            }
            entries.vacate(name);
            entries.given += 1;
            let number = entries.given;
            entries.names.insert(Arc::clone(name), (actor, number));
            let entry = entries.actors.entry(actor).or_default();
            entry.names.insert(number, Arc::clone(name));
        }
        Ok(is_new)
    }

    /// Makes an actor that has an entry known, and notifies the waiters for its names; for a known
    /// actor, the waiters for the name that is new.
    pub(crate) fn announce<A: Actor>(&self, address: &Addr<A>, new: Option<&str>) {
        let found = FoundActor { address: Box::new(address.downgrade()), any: address.to_any() };
        self.announce_found(found, address, new);
    }

    /// Does the same for an actor of any type, whose address is given.
    fn announce_found(&self, found: FoundActor, address: &dyn Any, new: Option<&str>) {
        let any = found.any.clone();
        let mut spare = Some(found);
        let mut told = Vec::new();
        {
            let mut entries = self.0.lock();
            let entries = &mut *entries;
            // It may have ended meanwhile, and its entry may be gone.
            let Some(entry) = entries.actors.get_mut(&any.id()) else { return };
            let was_known = entry.found.is_some();
            if !was_known {
                entry.found = spare.take();
            }
            match new {
                Some(name) if was_known => {
                    told.extend(entries.waiting.remove(name).into_iter().flatten());
                }
                _ => {
                    let waiting =
                        entry.names.values().filter_map(|name| entries.waiting.remove(name));
                    told.extend(waiting.flatten());
                }
            }
        }
        for (_, tell) in told {
            tell(address, &any);
        }
    }

    pub(crate) fn find<A: Actor>(&self, name: &str) -> Result<Addr<A>, LookupError> {
        let entries = self.0.lock();
        let found = entries.living(name).ok_or(LookupError::Unknown)?;
        found.typed(|| name.to_owned())
    }

    pub(crate) fn find_id<A: Actor>(&self, id: ActorId) -> Result<Addr<A>, LookupError> {
        let entries = self.0.lock();
        let found = entries.living_id(id).ok_or(LookupError::Unknown)?;
        found.typed(|| super::Uid::of(id).to_string())
    }

    /// Finds an actor, or has the caller notified when there is one: then it returns a ticket for
    /// giving that up.
    pub(super) fn find_or_wait<A: Actor>(
        &self,
        name: &str,
        tell: impl FnOnce() -> OnRegistered,
    ) -> Result<Result<Addr<A>, LookupError>, u64> {
        let mut entries = self.0.lock();
        if let Some(found) = entries.living(name) {
            match found.typed(|| name.to_owned()) {
                // Its entry is about to be cleared.
                Err(LookupError::Unknown) => {}
                result => return Ok(result),
            }
        }
        entries.tickets += 1;
        let ticket = entries.tickets;
        entries.waiting.entry(name.into()).or_default().insert(ticket, tell());
        Err(ticket)
    }

    pub(super) fn give_up(&self, name: &str, ticket: u64) {
        let waiter = {
            let mut entries = self.0.lock();
            let Some(waiting) = entries.waiting.get_mut(name) else { return };
            let waiter = waiting.remove(&ticket);
            if waiting.is_empty() {
                entries.waiting.remove(name);
            }
            waiter
        };
        drop(waiter);
    }

    pub(crate) fn holder(&self, name: &str) -> Option<AnyAddr> {
        self.0.lock().living(name).map(|found| found.any.clone())
    }

    pub(crate) fn names(&self) -> Vec<(Arc<str>, AnyAddr)> {
        let entries = self.0.lock();
        let living = entries.names.iter().filter_map(|(name, (id, _))| {
            entries.living_id(*id).map(|found| (Arc::clone(name), found.any.clone()))
        });
        let mut names: Vec<_> = living.collect();
        drop(entries);
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        names
    }

    pub(crate) fn names_of(&self, actor: ActorId) -> Vec<Arc<str>> {
        let entries = self.0.lock();
        let entry = entries.actors.get(&actor).filter(|_| entries.living_id(actor).is_some());
        entry.map(|entry| entry.names.values().cloned().collect()).unwrap_or_default()
    }

    /// Takes a name away, from this actor or from any.
    pub(crate) fn release(&self, name: &str, from: Option<ActorId>) -> bool {
        let mut entries = self.0.lock();
        let Some(&(holder, _)) = entries.names.get(name) else { return false };
        if from.is_some_and(|from| from != holder) {
            return false;
        }
        let was_held = entries.is_held(holder);
        entries.vacate(name);
        was_held
    }

    /// Forgets an actor.
    fn clear(&self, actor: ActorId) {
        let entry = {
            let mut entries = self.0.lock();
            let Some(entry) = entries.actors.remove(&actor) else { return };
            for name in entry.names.values() {
                entries.names.remove(name);
            }
            entry
        };
        drop(entry);
    }
}

/// An actor's entry in the table, until this is dropped.
pub(crate) struct NameEntryGuard {
    table: &'static NameTable,
    actor: ActorId,
}

impl NameEntryGuard {
    pub(super) fn new(table: &'static NameTable, actor: ActorId) -> Self {
        Self { table, actor }
    }

    /// Registers a new actor, before it starts, under the names that this claims.
    pub(crate) fn register<A: Actor>(self, address: &Addr<A>) {
        self.table.announce(address, None);
        // Called or dropped, the closure clears the entry. This interrupts the actor, so it comes
        // last.
        address.on_down(move |_| drop(self));
    }
}

impl Drop for NameEntryGuard {
    fn drop(&mut self) {
        self.table.clear(self.actor);
    }
}
