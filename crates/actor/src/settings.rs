//! The settings of an actor, however it is created: spawned, supervised, or as a member of a pool.
//!
//! There is one type of settings and one place that creates an actor from them, so whatever is
//! added here can be set everywhere. Builders obtain the methods by [`settings_methods`].

use std::any::type_name;
use std::sync::Arc;

use coact_core::runtime::RuntimeHandle;
use coact_core::{Group, WeakCown};

use crate::host::Host;
use crate::id::ActorId;
use crate::mailbox::Mailbox;
use crate::parts::{Actor, ActorCell, Addr};
use crate::registry::{NameEntryGuard, NameTaken, Registry};
use crate::shared_state::SharedState;

/// The settings of an actor to be created.
#[derive(Debug)]
pub(crate) struct ActorSettings {
    pub(crate) host: Host,
    pub(crate) group: Option<Group>,
    /// If `None`: unbounded, with one lane.
    pub(crate) mailbox: Option<Mailbox>,
    pub(crate) names: Vec<Arc<str>>,
    /// The runtime to use as the current one, if not the caller's.
    pub(crate) within: Option<RuntimeHandle>,
    /// The pump on whose thread the state must stay.
    pub(crate) bound_to: Option<RuntimeHandle>,
}

/// An identity whose names are claimed. The names are released if no actor is created.
pub(crate) struct NameClaim {
    id: ActorId,
    tenancy: Option<NameEntryGuard>,
}

impl Default for ActorSettings {
    fn default() -> Self {
        Self {
            host: Host::current(),
            group: None,
            mailbox: None,
            names: Vec::new(),
            within: None,
            bound_to: None,
        }
    }
}

impl ActorSettings {
    /// Returns the settings of an actor that stays on the thread of a pump.
    ///
    /// # Panics
    /// Panics if the runtime is not that of a pump.
    #[track_caller]
    pub(crate) fn bound_to(runtime: RuntimeHandle) -> Self {
        assert!(
            runtime.is_pumped(),
            "an actor can only be bound to the thread of a pump, and {runtime:?} is none"
        );
        Self { host: runtime.into(), bound_to: Some(runtime), ..Self::default() }
    }

    /// Has the host decide where the actor runs, bound to no thread.
    pub(crate) fn set_host(&mut self, host: Host) {
        self.host = host;
        self.bound_to = None;
    }

    /// Returns the runtime from which hosts are found.
    fn current(&self) -> RuntimeHandle {
        self.within.unwrap_or_else(RuntimeHandle::current)
    }

    /// Claims the names for a new identity.
    ///
    /// # Errors
    /// Fails if another actor has one of the names.
    pub(crate) fn claim(&self) -> Result<NameClaim, NameTaken> {
        let id = ActorId::next();
        if self.names.is_empty() {
            return Ok(NameClaim { id, tenancy: None });
        }
        let group = self.group.as_ref().map(Group::runtime);
        let home = group.unwrap_or_else(|| self.host.family(self.current()));
        let tenancy = Registry::of(home).claim(id, &self.names)?;
        Ok(NameClaim { id, tenancy: Some(tenancy) })
    }

    /// Creates the actor under its names, and interrupts it, so that it starts or shuts its gate.
    ///
    /// # Panics
    /// Panics if its host needs a thread that the operating system refuses, or if it is bound to
    /// another thread than the one of its group.
    #[track_caller]
    pub(crate) fn make<A: Actor>(
        self,
        claim: NameClaim,
        make_cell: impl FnOnce(WeakCown<ActorCell<A>>) -> ActorCell<A>,
    ) -> Addr<A> {
        let current = self.current();
        let Self { host, group, mailbox, bound_to, .. } = self;
        let NameClaim { id, tenancy } = claim;
        let prepare = |address: &Addr<A>| {
            if mailbox.is_some_and(|mailbox| address.shared().set_mailbox(&mailbox)) {
                address.cown().mark(true);
            }
            if let Some(tenancy) = tenancy {
                tenancy.register(address);
            }
        };
        match group {
            Some(group) => {
                assert_in_reach::<A>(&group, bound_to);
                make_in_group(&group, id, make_cell, prepare)
            }
            None => host.assign::<A>(current).spawn(id, make_cell, prepare),
        }
    }
}

/// The group may interrupt the actor before it is prepared, and waits for that.
fn make_in_group<A: Actor>(
    group: &Group,
    id: ActorId,
    make_cell: impl FnOnce(WeakCown<ActorCell<A>>) -> ActorCell<A>,
    prepare: impl FnOnce(&Addr<A>),
) -> Addr<A> {
    let shared = SharedState::deferred(id);
    shared.set_multi_cown_waiters();
    group.interrupted_at_once(shared, make_cell, |cown| {
        let address = Addr::new(cown);
        prepare(&address);
        address.cown().shared_state().allow_start();
        address
    })
}

/// A group decides where its members run, and an actor that is bound to a thread cannot follow.
#[track_caller]
fn assert_in_reach<A>(group: &Group, bound_to: Option<RuntimeHandle>) {
    let runtime = group.runtime();
    assert!(
        bound_to.is_none_or(|bound_to| bound_to == runtime),
        "a `{}` is bound to the thread of {bound_to:?}, and its group runs on {runtime:?}: create the group there",
        type_name::<A>(),
    );
}

/// The methods of a builder that has a field `settings`.
macro_rules! settings_methods {
    (place) => {
        /// Makes the actor a member of a [group](coact_core::Group): messages among its members
        /// cost a fraction of others, and a behaviour over several of them is one acquisition; the
        /// members never run at the same time. The group decides where the actor runs.
        ///
        /// ```
        /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
        /// use coact::{Actor, Group, call};
        /// use coact::actor::actor;
        ///
        /// struct Stage(u32);
        /// impl Actor for Stage {}
        ///
        /// let line = Group::new();
        /// let (first, second) =
        ///     (actor(Stage(1)).in_group(&line).spawn(), actor(Stage(2)).in_group(&line).spawn());
        /// assert_eq!(call((&first, &second), |(first, second)| first.0 + second.0).wait(), Ok(3));
        /// ```
        ///
        /// While a [supervised](crate::supervise::Supervisor) member is down (waiting for its
        /// backoff, or [terminated](crate::supervise::Supervisor::terminate_child)), the whole
        /// group waits.
        pub fn in_group(mut self, group: &coact_core::Group) -> Self {
            self.settings.group = Some(group.clone());
            self
        }

        /// Sets the mailbox (by default unbounded, with one lane). The mailbox and its messages
        /// survive restarts.
        pub fn mailbox(mut self, mailbox: crate::mailbox::Mailbox) -> Self {
            self.settings.mailbox = Some(mailbox);
            self
        }
    };
    (names) => {
        /// Gives the actor a name, which [`lookup`](crate::registry::lookup) finds. An actor
        /// can have several names, and keeps them through restarts.
        pub fn named(mut self, name: impl Into<std::sync::Arc<str>>) -> Self {
            self.settings.names.push(name.into());
            self
        }
    };
}

pub(crate) use settings_methods;
