//! Actors with a thread of their own, which wait for messages where they are.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{io, thread};

use coact_actor::actor::{ExitReason, WeakAddr};
use coact_core::internals::{is_simulated, serve, tell_of_panic, thread_extension};
use coact_core::runtime::RuntimeHandle;

use super::DynThread;
use super::exchange::UnwindPayload;
use super::inbox::ThreadInbox;
use super::source::ThreadState;
use crate::dyn_actor::{DynActor, DynAddr, StopWith};

/// Spawns an actor with a thread of its own, for a body that blocks. It ends when the body returns,
/// and waits for messages wherever the body [receives](DynThread::receive).
///
/// What ends an actor ends it while it receives, or when it receives next: its stack is unwound,
/// and destructors run. (If the body catches that, it comes again.) Its runtime is idle only while
/// it waits without an `after`.
///
/// ```
/// use coact::dynamic::{DynThread, atom, cases, spawn_detached};
/// use std::ops::ControlFlow::{Break, Continue};
///
/// let counter = spawn_detached(|me: &mut DynThread| {
///     let mut sum = 0;
///     me.receive_loop(cases! { ref |me: &mut DynThread|
///         (n: i32) => { sum += n; Continue(()) },
///         (atom!("sum")) => { me.reply(sum); Break(()) },
///     });
/// })?;
/// counter.send(20)?;
/// counter.send(22)?;
/// assert_eq!(counter.ask(atom!("sum")).wait()?, (42,));
/// # counter.ended().wait()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// **Cost.** A thread of the operating system. A message costs what one to an actor on its
/// [callers](coact_actor::system::Host::caller) does, and the wake-up of a thread that waits.
///
/// # Errors
/// Fails if the operating system refuses the thread.
///
/// In a simulation, which has no threads of the system, a simulated one takes its place.
#[track_caller]
pub fn spawn_detached(body: impl FnOnce(&mut DynThread) + Send + 'static) -> io::Result<DynAddr> {
    if is_simulated() {
        return Ok(coact_actor::spawn(DynActor::with_thread((), body)).into());
    }
    let home = RuntimeHandle::current();
    let (inbox, address) = ThreadInbox::spawned();
    let own = address.0.downgrade();
    let unwinding = inbox.unwinding();
    let main = move || serve(home, || unwinding.on(|| run(inbox, &own, body)));
    thread::Builder::new().name(format!("actor-{}", address.0.id())).spawn(main)?;
    Ok(address)
}

/// Runs the body, and ends the actor as that has ended.
fn run(inbox: ThreadInbox, own: &WeakAddr<DynActor>, body: impl FnOnce(&mut DynThread)) {
    let state = thread_extension::<ThreadState>();
    // Nothing has asked for it on this thread.
    drop(state.inbox.set(inbox));
    let mut me = DynThread::plain(state);
    let ended = catch_unwind(AssertUnwindSafe(|| body(&mut me)));
    if let Err(payload) = &ended {
        tell_of_panic(&**payload);
    }
    if let (Some(reason), Some(own)) = (reason_of(ended), own.upgrade()) {
        // It may have been stopped meanwhile.
        drop(own.send(StopWith(reason)));
    }
}

/// Why the actor ends, unless it has ended.
fn reason_of(ended: Result<(), Box<dyn Any + Send>>) -> Option<ExitReason> {
    let payload = match ended {
        Ok(()) => return Some(ExitReason::Normal),
        Err(payload) if payload.is::<UnwindPayload>() => return None,
        Err(payload) => payload,
    };
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    Some(ExitReason::Panicked(text.unwrap_or("a panic without a message").into()))
}
