//! What a supervisor is told of a child beforehand.

use std::sync::Arc;

use coact_core::Home;

use super::backoff::Backoff;
use super::minor::Minor;
use super::plan::Terms;
use super::strategy::{Restart, Shutdown};
use crate::cell::{Factory, free_factory};
use crate::spawn::supervised;
use crate::{Actor, Addr, SendActor};

/// A child that is always restarted, with a closure that makes its state each time.
pub fn permanent<A: SendActor>(make: impl FnMut() -> A + Send + 'static) -> Child<A> {
    Child::new(Restart::Permanent, free_factory(make))
}

/// A child that is restarted unless its end was [meant](crate::ExitReason::is_normal).
pub fn transient<A: SendActor>(make: impl FnMut() -> A + Send + 'static) -> Child<A> {
    Child::new(Restart::Transient, free_factory(make))
}

/// A child that is not restarted.
pub fn temporary<A: SendActor>(make: impl FnMut() -> A + Send + 'static) -> Child<A> {
    Child::new(Restart::Temporary, free_factory(make))
}

/// An actor as the child of a supervisor: [`permanent`], [`transient`] or [`temporary`].
///
/// The closure runs on the child's runtime. A panic in it counts as a failure of the child.
#[must_use = "a child is nothing before it is given to a supervisor"]
pub struct Child<A: Actor> {
    make: Factory<A>,
    terms: Terms,
    name: Option<Arc<str>>,
    home: Option<Home>,
}

impl<A: Actor> Child<A> {
    fn new(restart: Restart, make: Factory<A>) -> Self {
        let terms = Terms { restart, shutdown: Shutdown::stop(), backoff: None };
        Self { make, terms, name: None, home: None }
    }

    /// A name, for [`ChildInfo`](crate::ChildInfo) and reports.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How it is stopped (by default [`Shutdown::stop`]).
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.terms.shutdown = shutdown;
        self
    }

    /// How long it waits for a restart (by default as its supervisor says).
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.terms.backoff = Some(backoff);
        self
    }

    /// The runtime whose workers run it (by default the current one).
    pub fn on(mut self, home: Home) -> Self {
        self.home = Some(home);
        self
    }
}

/// What can be the child of a supervisor: a [`Child`], or a [`Tree`](crate::Tree).
pub trait IntoChild: private::Parts {}

impl<P: private::Parts> IntoChild for P {}

pub(crate) mod private {
    use super::{Minor, Terms};

    pub trait Parts {
        /// How the child is reached.
        type Address: Send + 'static;

        #[doc(hidden)]
        fn into_parts(self) -> (Self::Address, Parcel);
    }

    /// A child whose mailbox is there, but not its state.
    pub struct Parcel {
        pub(crate) minor: Minor,
        pub(crate) terms: Terms,
    }
}

pub(crate) use private::{Parcel, Parts};

impl<A: Actor> Parts for Child<A> {
    type Address = Addr<A>;

    fn into_parts(self) -> (Addr<A>, Parcel) {
        let address = supervised(self.make, self.home);
        let minor = Minor::actor(address.clone(), self.name);
        (address, Parcel { minor, terms: self.terms })
    }
}
