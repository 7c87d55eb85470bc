//! Addresses as members of a behaviour's set.

use coact_core::{AsCown, Cown};

use super::Addr;
use crate::Actor;
use crate::cell::Cell;

impl<A: Actor> AsCown for Addr<A> {
    type State = Cell<A>;
    type View = A;

    #[inline]
    fn as_cown(&self) -> &Cown<Cell<A>> {
        self.cown()
    }

    #[inline]
    fn view(state: &Cell<A>) -> &A {
        state.actor()
    }

    #[inline]
    fn view_mut(state: &mut Cell<A>) -> &mut A {
        state.actor_mut()
    }

    #[inline]
    fn announce(&self) {
        self.cown().front().entangle();
        if !self.cown().is_plain() {
            self.announce_elsewhere();
        }
    }
}

/// An address in a set whose behaviour gets the whole cell.
pub(crate) struct Inside<A: Actor>(pub(crate) Addr<A>);

impl<A: Actor> Clone for Inside<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: Actor> AsCown for Inside<A> {
    type State = Cell<A>;
    type View = Cell<A>;
    const REGARDLESS: bool = true;

    fn as_cown(&self) -> &Cown<Cell<A>> {
        self.0.cown()
    }

    fn view(state: &Cell<A>) -> &Cell<A> {
        state
    }

    fn view_mut(state: &mut Cell<A>) -> &mut Cell<A> {
        state
    }

    fn announce(&self) {
        self.0.announce();
    }
}
