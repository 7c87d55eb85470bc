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
use std::time::Duration;

use coact_sync::shim::process::Mutex;

use super::{NO_MESSAGE, drop_quietly};
use crate::current::{find_companion, thread_companion};
use crate::ids::RuntimeId;
use crate::runtime::Home;
use crate::sim;
use crate::time::Timer;

/// How long a message is waited for. Destructors that run longer are as likely as a program that catches its
/// own panics, and neither is worse off than without a message.
const LIMIT: Duration = Duration::from_secs(1);

type Tell = Box<dyn FnOnce(Arc<str>) + Send>;

/// Calls `tell` with the message of the panic that unwinds the calling thread, once that was caught: for
/// destructors, which cannot know it.
///
/// The message is `(no message)` if the panic has none, as with [`Broken::Panicked`](crate::fault::Broken::Panicked); if
/// nothing of a runtime's catches the panics of this thread, or no panic unwinds it (then `tell` is called at
/// once); and if the program itself has caught the panic: then it comes with the next panic of the thread, or
/// after a second.
///
/// Of a panic in a destructor that another panic runs, the message is that of the outer one, which is caught last.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, once_caught, when};
/// use std::sync::{Arc, mpsc};
///
/// struct Witness(mpsc::Sender<Arc<str>>);
/// impl Drop for Witness {
///     fn drop(&mut self) {
///         let to = self.0.clone();
///         once_caught(move |message| to.send(message).unwrap());
///     }
/// }
///
/// let (to, told) = mpsc::channel();
/// when(&Cown::new(()), move |_| {
///     let _witness = Witness(to);
///     panic!("the dog ate it");
/// });
/// assert_eq!(&*told.recv()?, "the dog ate it");
/// # Ok::<(), mpsc::RecvError>(())
/// ```
///
/// **Cost.** A block and a lock for each call, and a timer for each panic.
#[cold]
pub fn once_caught(tell: impl FnOnce(Arc<str>) + Send + 'static) {
    if !thread::panicking() || !is_caught() {
        return tell(NO_MESSAGE.into());
    }
    if let Err(late) = thread_companion::<Unwinding>().listeners().add(Box::new(tell)) {
        late(NO_MESSAGE.into());
    }
}

/// Whether a runtime catches what the thread throws.
fn is_caught() -> bool {
    current::is_inside() || current::serves() != RuntimeId::NONE || sim::runs_body()
}

/// A panic was caught: of a body, or of something else, which another panic may have run. Returns who is to be told.
pub(super) fn end(of_body: bool) -> Caught {
    let here = Spot::here();
    let is_within = !of_body && thread::panicking();
    let is_over = |panic: &Panic| {
        panic.at.bodies > here.bodies || !is_within && panic.at.bodies == here.bodies
    };
    let unwinding = find_companion::<Unwinding>();
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
    fn listeners(&self) -> Arc<Listeners> {
        let here = Spot::here();
        drop(self.take(|panic| panic.at.bodies >= here.bodies && panic.at != here));
        let known = self.0.borrow().last().filter(|panic| panic.at == here).map(Panic::listeners);
        known.unwrap_or_else(|| {
            let panic = Panic::new(here);
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
    limit: Option<Timer>,
}

impl Panic {
    fn new(at: Spot) -> Self {
        let listeners = Arc::<Listeners>::default();
        let over = Over(Arc::clone(&listeners));
        let mut limit = None;
        // The thread that serves timers may have to be started.
        drop_quietly(|| limit = Some(Home::current().after(LIMIT, (), move |()| drop(over))));
        Self { at, listeners, limit }
    }

    fn listeners(&self) -> Arc<Listeners> {
        Arc::clone(&self.listeners)
    }
}

impl Drop for Panic {
    fn drop(&mut self) {
        self.listeners.tell(&NO_MESSAGE.into());
        if let Some(limit) = &self.limit {
            limit.cancel();
        }
    }
}

/// Tells those who are left that there is no message: the time is over, or there is no timer.
struct Over(Arc<Listeners>);

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
