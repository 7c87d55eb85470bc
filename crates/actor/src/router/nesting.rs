//! Routers whose routees are routers: no message goes round in a circle of them.

use std::cell::RefCell;
use std::rc::Rc;

use coact_core::internals::thread_extension;

use crate::id::ActorId;

/// The routers that a message passes on this thread, each a routee of the one before; and those
/// that have refused it.
#[derive(Default)]
struct RoutePath {
    passed: RefCell<Vec<ActorId>>,
    refused: RefCell<Vec<ActorId>>,
}

/// Keeps a router on the path while it routes.
pub(super) struct Passing(Rc<RoutePath>);

/// The maximum number of routers that may be routees of each other.
const MOST_NESTED: usize = 32;

impl Passing {
    pub(super) fn enter(router: ActorId) -> Option<Self> {
        let path = thread_extension::<RoutePath>();
        {
            let mut passed = path.passed.borrow_mut();
            let is_known = passed.contains(&router) || path.refused.borrow().contains(&router);
            if is_known || passed.len() >= MOST_NESTED {
                return None;
            }
            passed.push(router);
        }
        Some(Self(path))
    }

    /// Notes that the router has refused: it need not be tried again, whatever way the message
    /// reaches it.
    pub(super) fn note<T, E>(&self, taken: Result<T, E>) -> Result<T, E> {
        if taken.is_err() {
            self.0.refused.borrow_mut().extend(self.0.passed.borrow().last());
        }
        taken
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        let mut passed = self.0.passed.borrow_mut();
        passed.pop();
        if passed.is_empty() {
            self.0.refused.borrow_mut().clear();
        }
    }
}
