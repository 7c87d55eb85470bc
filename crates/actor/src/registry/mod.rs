//! Finding actors: by name, and by an identity that can leave the process.

mod error;
mod portable_id;
mod table;
mod wait_for;

use std::fmt;
use std::sync::Arc;

use coact_core::runtime::RuntimeHandle;

use crate::any_addr::AnyAddr;
use crate::id::ActorId;
use crate::parts::{Actor, Addr, WeakAddr};
use crate::runtime_singleton::RuntimeService;
use crate::topic::NamedTopics;

pub use crate::lookup_error::LookupError;
pub use error::{NameTaken, RegisterError};
pub use portable_id::{BadUid, Uid};
pub(crate) use table::{NameEntryGuard, NameTable};
pub use wait_for::WaitFor;

/// Finds an actor of the current runtime, or of its group, by its name. Never waits: [`wait_for`]
/// does.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::Actor;
/// use coact::actor::actor;
/// use coact::registry::{LookupError, lookup};
///
/// struct Bank;
/// impl Actor for Bank {}
///
/// let bank = actor(Bank).named("bank").spawn();
/// assert_eq!(lookup::<Bank>("bank").unwrap(), bank);
/// assert_eq!(lookup::<Bank>("shop").unwrap_err(), LookupError::Unknown);
/// ```
///
/// **Cost.** A lock and a search in a hash table: keep the address.
///
/// # Errors
/// Fails if no actor has the name, or an actor of another type has it.
#[doc(alias = "whereis")]
pub fn lookup<A: Actor>(name: &str) -> Result<Addr<A>, LookupError> {
    registry().lookup(name)
}

/// Waits until an actor has the name: see [`WaitFor`]. Ready immediately if one already has it.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::Actor;
/// use coact::actor::actor;
/// use coact::registry::wait_for;
///
/// struct Bank;
/// impl Actor for Bank {}
///
/// let coming = wait_for::<Bank>("bank of tomorrow");
/// let bank = actor(Bank).named("bank of tomorrow").spawn();
/// assert_eq!(coming.wait().unwrap(), bank);
/// ```
pub fn wait_for<A: Actor>(name: &str) -> WaitFor<A> {
    registry().wait_for(name)
}

/// Returns the registry of the current runtime and the others of its group.
pub fn registry() -> Registry {
    Registry(RuntimeHandle::current())
}

/// The names of the actors of a runtime and the others of its group.
///
/// An actor may have several names; a name belongs to one actor, of any type. A name does not keep
/// its actor alive, and is free again as soon as the actor [has ended](Addr::has_ended). A restart
/// does not affect it.
#[doc(alias = "Receptionist")]
#[derive(Clone, Copy)]
pub struct Registry(RuntimeHandle);

impl Registry {
    /// Returns the registry of another runtime.
    pub fn of(home: RuntimeHandle) -> Self {
        Self(home)
    }

    /// Finds an actor by name: see the function [`lookup`].
    ///
    /// # Errors
    /// See the function [`lookup`].
    pub fn lookup<A: Actor>(self, name: &str) -> Result<Addr<A>, LookupError> {
        self.table().find(name)
    }

    /// Waits for an actor of that name: see the function [`wait_for`].
    pub fn wait_for<A: Actor>(self, name: &str) -> WaitFor<A> {
        WaitFor::new(self.table(), name)
    }

    /// Finds an actor by its [`Uid`], once [`Addr::uid`] has been called for it.
    ///
    /// # Errors
    /// Fails if there is no such actor in this process, or it has ended, or it is of another type.
    pub fn lookup_uid<A: Actor>(self, uid: Uid) -> Result<Addr<A>, LookupError> {
        let id = uid.in_this_process().ok_or(LookupError::Unknown)?;
        self.table().find_id(id)
    }

    /// Returns the actor that has the name, whatever its type.
    pub fn holder(self, name: &str) -> Option<AnyAddr> {
        self.table().holder(name)
    }

    /// Returns all names, in alphabetical order, with their actors.
    pub fn names(self) -> Vec<(Arc<str>, AnyAddr)> {
        self.table().names()
    }

    /// Takes a name away from its actor; returns whether there was one.
    pub fn release(self, name: &str) -> bool {
        self.table().release(name, None)
    }

    /// Returns the names of the [topics](crate::pubsub::topic) created so far, in alphabetical
    /// order.
    pub fn topics(self) -> Vec<Arc<str>> {
        NamedTopics::of(self.0).names()
    }

    /// Forgets a named [topic](crate::pubsub::topic), and with it the subscriptions that were
    /// [kept](crate::pubsub::Subscription::keep). Existing handles to the topic continue to work;
    /// asking for the name again creates a new one. Returns whether there was one.
    pub fn forget_topic(self, name: &str) -> bool {
        NamedTopics::of(self.0).forget(name)
    }

    fn table(self) -> &'static NameTable {
        NameTable::of(self.0)
    }

    /// Gives a new actor all of the names.
    ///
    /// # Errors
    /// Fails if another actor has one of them; this one then has none.
    pub(crate) fn claim(
        self,
        actor: ActorId,
        names: &[Arc<str>],
    ) -> Result<NameEntryGuard, NameTaken> {
        self.table().claim(actor, names)?;
        Ok(NameEntryGuard::new(self.table(), actor))
    }

    /// Has the actor's end clear its entry.
    fn watch<A: Actor>(self, address: &Addr<A>) {
        let tenancy = NameEntryGuard::new(self.table(), address.id());
        // Called or dropped, the closure clears the entry.
        address.on_down(move |_| drop(tenancy));
    }
}

impl<A: Actor> Addr<A> {
    /// Gives the actor a name (one more, if it has some), in the registry of its runtime. The name
    /// is released when the actor ends, or by [`unregister`](Self::unregister).
    ///
    /// # Errors
    /// Fails if another actor has the name, or this one has ended.
    pub fn register(&self, name: &str) -> Result<(), RegisterError> {
        let registry = Registry::of(self.runtime());
        let is_new = registry.table().claim(self.id(), &[name.into()])?;
        if is_new {
            registry.watch(self);
        }
        registry.table().announce(self, Some(name));
        if self.has_ended() {
            registry.table().release(name, Some(self.id()));
            return Err(RegisterError::Stopped);
        }
        Ok(())
    }

    /// Releases a name; returns whether it was this actor's.
    pub fn unregister(&self, name: &str) -> bool {
        Registry::of(self.runtime()).table().release(name, Some(self.id()))
    }

    /// Returns the actor's names, in the order of registration.
    pub fn names(&self) -> Vec<Arc<str>> {
        Registry::of(self.runtime()).table().names_of(self.id())
    }

    /// Returns the actor's identity beyond this process. From now on [`Registry::lookup_uid`] finds
    /// the actor by it.
    ///
    /// **Cost.** The first time, an entry in the registry. Actors for which this is never called
    /// pay nothing.
    pub fn uid(&self) -> Uid {
        let registry = Registry::of(self.runtime());
        // Without names there is no conflict.
        if registry.table().claim(self.id(), &[]) == Ok(true) {
            registry.watch(self);
        }
        registry.table().announce(self, None);
        Uid::of(self.id())
    }
}

impl<A: Actor> WeakAddr<A> {
    /// Returns whether the actor has ended.
    pub fn has_ended(&self) -> bool {
        self.shared().end().is_some()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.names()).finish()
    }
}
