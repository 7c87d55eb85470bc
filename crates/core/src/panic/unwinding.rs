//! What is to be told once a panic has been caught: to those who wait for what it drops on its way.
//!
//! While a panic unwinds a thread, nobody can ask it for its message: whoever catches it gets that. So what is
//! to be told with the message is put aside for the thread ([`once_caught`]), and told where the runtime catches the
//! panic ([`end`]). That may never happen: the program itself may have caught it. Then it is told
//! without the message, by a timer, at the latest.
//!
//! All of this is done by a panic only: nobody looks for it elsewhere.

use crate::current;
use std::cell::RefCell;
use std::sync::Arc;
use std::thread;

use coact_sync::shim::process::Mutex;

use super::{NO_MESSAGE, drop_quietly};
use crate::current::{find_extension, thread_extension};
use crate::ids::RuntimeId;
use crate::simulated;

/// What is told.
pub(crate) type Tell = Box<dyn FnOnce(Arc<str>) + Send>;
/// Takes a limit back.
pub(crate) type Revoke = Box<dyn Fn()>;

/// Has `tell` called with the message of the panic that unwinds the calling thread: see
/// [`once_caught`](crate::internals::once_caught). `limit` is called if it is the first of that panic: it sees to it that what it is
/// given is dropped in some time, and returns what takes that back.
#[cold]
pub(crate) fn once_caught(tell: Tell, limit: impl FnOnce(Over) -> Option<Revoke>) {
    if !thread::panicking() || !is_caught() {
        return tell(NO_MESSAGE.into());
    }
    if let Err(late) = thread_extension::<Unwinding>().listeners(limit).add(tell) {
        late(NO_MESSAGE.into());
    }
}

/// Whether a runtime catches what the thread throws.
fn is_caught() -> bool {
    current::is_inside() || current::serves() != RuntimeId::NONE || simulated::runs_body()
}

/// A panic was caught: of a body, or of something else, which another panic may have run. Returns who is to be told.
pub(super) fn end(of_body: bool) -> Caught {
    let here = Spot::here();
    let is_within = !of_body && thread::panicking();
    let is_over = |panic: &Panic| {
        panic.at.bodies > here.bodies || !is_within && panic.at.bodies == here.bodies
    };
    let unwinding = find_extension::<Unwinding>();
    Caught(here, unwinding.map(|unwinding| unwinding.take(is_over)).unwrap_or_default())
}

/// Those who wait for the message of a panic that was caught, and where.
pub(super) struct Caught(Spot, Vec<Panic>);

impl Caught {
    pub(super) fn tell(self, message: &Arc<str>) {
        let Self(here, panics) = self;
        // What an earlier task has left was caught by the program itself.
        for panic in panics.iter().filter(|panic| panic.at.task == here.task) {
            panic.listeners.tell(message);
        }
    }
}

/// The panics of a thread that were not caught yet, as far as is known, and of whose messages something depends.
#[derive(Default)]
struct Unwinding(RefCell<Vec<Panic>>);

impl Unwinding {
    /// Those who wait for the message of the panic that unwinds the thread now.
    fn listeners(&self, limit: impl FnOnce(Over) -> Option<Revoke>) -> Arc<Listeners> {
        let here = Spot::here();
        drop(self.take(|panic| panic.at.bodies >= here.bodies && panic.at != here));
        let known = self.0.borrow().last().filter(|panic| panic.at == here).map(Panic::listeners);
        known.unwrap_or_else(|| {
            let panic = Panic::new(here, limit);
            let listeners = panic.listeners();
            self.0.borrow_mut().push(panic);
            listeners
        })
    }

    /// Takes out what is over, for something to be done that calls foreign code.
    fn take(&self, is_over: impl Fn(&Panic) -> bool) -> Vec<Panic> {
        let mut panics = self.0.borrow_mut();
        let (over, rest) = std::mem::take(&mut *panics).into_iter().partition(is_over);
        *panics = rest;
        over
    }
}

/// Where a panic was seen: how many bodies lay on the stack, and in which task of the worker.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Spot {
    bodies: u32,
    task: u32,
}

impl Spot {
    fn here() -> Self {
        let task = current::worker().map_or(0, |worker| worker.ticks());
        Self { bodies: current::nested_bodies(), task }
    }
}

struct Panic {
    at: Spot,
    listeners: Arc<Listeners>,
    limit: Option<Revoke>,
}

impl Panic {
    fn new(at: Spot, limit: impl FnOnce(Over) -> Option<Revoke>) -> Self {
        let listeners = Arc::<Listeners>::default();
        let over = Over(Arc::clone(&listeners));
        Self { at, listeners, limit: limit(over) }
    }

    fn listeners(&self) -> Arc<Listeners> {
        Arc::clone(&self.listeners)
    }
}

impl Drop for Panic {
    fn drop(&mut self) {
        self.listeners.tell(&NO_MESSAGE.into());
        if let Some(revoke) = &self.limit {
            revoke();
        }
    }
}

/// Tells those who are left that there is no message: the time is over, or there is no timer.
pub(crate) struct Over(Arc<Listeners>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.tell(&NO_MESSAGE.into());
    }
}

/// Those who wait for one message; `None` once they were told.
struct Listeners(Mutex<Option<Vec<Tell>>>);

impl Default for Listeners {
    fn default() -> Self {
        Self(Mutex::new(Some(Vec::new())))
    }
}

impl Listeners {
    /// Gives it back if it has come too late.
    fn add(&self, tell: Tell) -> Result<(), Tell> {
        match &mut *self.0.lock() {
            Some(tells) => tells.push(tell),
            None => return Err(tell),
        }
        Ok(())
    }

    fn tell(&self, message: &Arc<str>) {
        let tells = self.0.lock().take();
        for tell in tells.into_iter().flatten() {
            drop_quietly(|| tell(Arc::clone(message)));
        }
    }
}
