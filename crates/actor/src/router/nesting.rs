//! Routers whose routees are routers: no message goes round in a circle of them.

use std::cell::RefCell;
use std::rc::Rc;

use coact_core::internals::{StackPlace, thread_extension};

use crate::id::ActorId;

/// The routers that messages pass on this thread, each a routee of the one before; and those that
/// have refused them. Each with the place where the message passes: what an actor on its callers
/// sends when the message has reached it is another message.
#[derive(Default)]
struct RoutePath {
    passed: RefCell<Vec<(StackPlace, ActorId)>>,
    refused: RefCell<Vec<(StackPlace, ActorId)>>,
}

/// Keeps a router on the path while it routes.
pub(super) struct RoutePass(Rc<RoutePath>, (StackPlace, ActorId));

/// The maximum number of routers that may be routees of each other.
const MOST_NESTED: usize = 32;

impl RoutePass {
    pub(super) fn enter(router: ActorId) -> Option<Self> {
        let path = thread_extension::<RoutePath>();
        let here = (StackPlace::current(), router);
        {
            let mut passed = path.passed.borrow_mut();
            let is_known = passed.contains(&here) || path.refused.borrow().contains(&here);
            if is_known || passed.iter().filter(|(at, _)| *at == here.0).count() >= MOST_NESTED {
                return None;
            }
            passed.push(here);
        }
        Some(Self(path, here))
    }

    /// Notes that the router has refused: it need not be tried again, whatever way the message
    /// reaches it.
    pub(super) fn note<T, E>(&self, taken: Result<T, E>) -> Result<T, E> {
        if taken.is_err() {
            self.0.refused.borrow_mut().push(self.1);
        }
        taken
    }
}

impl Drop for RoutePass {
    fn drop(&mut self) {
        let (here, mut passed) = (self.1, self.0.passed.borrow_mut());
        if let Some(own) = passed.iter().rposition(|at| *at == here) {
            passed.remove(own);
        }
        if passed.iter().all(|(at, _)| *at != here.0) {
            self.0.refused.borrow_mut().retain(|(at, _)| *at != here.0);
        }
    }
}
