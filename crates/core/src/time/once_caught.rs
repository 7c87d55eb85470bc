//! What is to be told once a panic has been caught, for layers above.

use std::sync::Arc;
use std::time::Duration;

use crate::panic::drop_quietly;
use crate::panic::unwinding::{self, Revoke};
use crate::sched::runtime_handle::RuntimeHandle;

/// How long a message is waited for. Destructors that run longer are as likely as a program that catches its
/// own panics, and neither is worse off than without a message.
const LIMIT: Duration = Duration::from_secs(1);

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
/// use coact::{Cown, when};
/// use coact::internals::once_caught;
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
    unwinding::once_caught(Box::new(tell), |over| {
        let mut timer = None;
        // The thread that serves timers may have to be started.
        drop_quietly(|| {
            timer = Some(RuntimeHandle::current().after(LIMIT, (), move |()| drop(over)))
        });
        timer.map(|timer| Box::new(move || _ = timer.cancel()) as Revoke)
    });
}
