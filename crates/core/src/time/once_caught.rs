//! Defers a callback until the panic that unwinds the thread is caught, for the layers above.

use std::sync::Arc;
use std::time::Duration;

use crate::panic::caught_panics::{self, RevokeLimit};
use crate::panic::drop_quietly;
use crate::sched::runtime_handle::RuntimeHandle;

/// How long to wait for a message. Long-running destructors are as likely as a program that catches
/// its own panics, and in both cases a callback without a message does no harm.
const LIMIT: Duration = Duration::from_secs(1);

/// Calls `tell` with the message of the panic that unwinds the calling thread, once it has been
/// caught. For destructors, which cannot know that message.
///
/// The message is `(no message)` in these cases:
/// * the panic has none, as with [`Broken::Panicked`](crate::fault::Broken::Panicked);
/// * no runtime catches the panics of this thread, or no panic unwinds it: `tell` is called at
///   once;
/// * the program itself has caught the panic: `tell` is called with the next panic of the thread,
///   or after a second.
///
/// For a panic in a destructor that another panic runs, the message is that of the outer one, which
/// is caught last.
///
/// There is none if the caller runs in a body that does not panic, but was called inline by a
/// destructor which a panic runs. That is known when that panic is caught.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, when};
/// use coact::internals::once_caught;
/// use std::sync::{Arc, mpsc};
///
/// struct Witness(mpsc::Sender<Option<Arc<str>>>);
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
/// assert_eq!(told.recv()?.as_deref(), Some("the dog ate it"));
/// # Ok::<(), mpsc::RecvError>(())
/// ```
///
/// **Cost.** One block and one lock per call, and one timer per panic.
#[cold]
pub fn once_caught(tell: impl FnOnce(Option<Arc<str>>) + Send + 'static) {
    caught_panics::once_caught(Box::new(tell), |over| {
        let mut timer = None;
        // Serving timers may require starting a thread.
        drop_quietly(|| {
            timer = Some(RuntimeHandle::current().after(LIMIT, (), move |()| drop(over)))
        });
        timer.map(|timer| Box::new(move || _ = timer.cancel()) as RevokeLimit)
    });
}
