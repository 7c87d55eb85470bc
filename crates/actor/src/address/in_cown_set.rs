//! Addresses as members of a behaviour's set.

use coact_core::Cown;
use coact_core::cown::{AsCown, CownRef};
use coact_core::credits::Permit;
use coact_core::internals::{CommitParticipant, SealedHandle};

use super::Addr;
use crate::parts::{Actor, ActorCell};

impl<A: Actor> SealedHandle for Addr<A> {}

impl<A: Actor> AsCown for Addr<A> {
    type State = ActorCell<A>;
    type View = A;

    #[inline]
    fn as_cown(&self) -> &Cown<ActorCell<A>> {
        self.cown()
    }

    #[inline]
    fn view(state: &ActorCell<A>) -> &A {
        state.actor()
    }

    #[inline]
    fn view_mut(state: &mut ActorCell<A>) -> &mut A {
        state.actor_mut()
    }

    const COMMITS: bool = A::COMMITS;

    fn commit_participant(state: &ActorCell<A>) -> Option<&dyn CommitParticipant> {
        state.body.as_ref()?.actor.get().commit_participant()
    }

    fn commit_participant_mut(state: &mut ActorCell<A>) -> Option<&mut dyn CommitParticipant> {
        let id = state.shared().id();
        state.body.as_mut()?.actor.get_mut().commit_participant_mut(id)
    }

    #[inline]
    fn announce(&self) -> bool {
        self.shared().set_multi_cown_waiters();
        !self.cown().is_plain() && self.announce_elsewhere()
    }

    #[inline]
    fn announced(&self) {
        self.end_alone();
    }

    fn admit(&self) -> Option<Option<Permit>> {
        match self.shared().queue() {
            Some(queue) => queue.admit_behaviour(),
            None => Some(None),
        }
    }
}

impl<A: Actor> CownRef for &Addr<A> {
    type Handle = Addr<A>;

    #[inline]
    fn handle(&self) -> &Addr<A> {
        self
    }
}

/// An address as the only member of a set whose behaviour receives the whole cell.
pub(crate) struct WholeCell<A: Actor>(pub(crate) Addr<A>);

impl<A: Actor> Clone for WholeCell<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: Actor> SealedHandle for WholeCell<A> {}

impl<A: Actor> AsCown for WholeCell<A> {
    type State = ActorCell<A>;
    type View = ActorCell<A>;
    const UNCHECKED: bool = true;

    fn as_cown(&self) -> &Cown<ActorCell<A>> {
        self.0.cown()
    }

    fn view(state: &ActorCell<A>) -> &ActorCell<A> {
        state
    }

    fn view_mut(state: &mut ActorCell<A>) -> &mut ActorCell<A> {
        state
    }

    fn announce(&self) -> bool {
        self.0.begin_alone();
        // It is never a member of a user behaviour.
        false
    }

    fn announced(&self) {
        self.0.end_alone();
    }
}
