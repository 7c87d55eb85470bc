//! What an actor and its stack pass each other: the state, and why it goes to the other side.

use std::any::Any;
use std::thread;
use std::time::Duration;

use coact_actor::actor::AskError;
use coact_core::Promise;
use coact_core::internals::{drop_quietly, tell_of_panic, unnested, wait_for};
use coact_core::promise::Resolver;
use coact_core::runtime::Busy;
use coact_fiber::suspend;
use coact_tuple::AnyTuple;

use crate::received::QueuedMessage;
use crate::skipped::Skipped;
use crate::types::{DynAddr, DynMessage};

/// What the stack has while it runs, and the actor while the stack waits. It is passed as one pointer: so
/// all that is said meanwhile is in here.
pub(super) struct Lent<S> {
    pub(super) state: S,
    pub(super) skipped: Skipped<QueuedMessage>,
    /// Why the stack runs.
    pub(super) event: Event,
    pub(super) message: QueuedMessage,
    pub(super) answer: Option<Result<AnyTuple, AskError>>,
    /// What the stack waits for.
    pub(super) wait: Wait,
    /// With [`Wait::Answer`].
    pub(super) request: Option<Box<Request>>,
    /// With [`Wait::Ended`].
    pub(super) ended: Option<Ended>,
}

/// How a body has ended.
pub(super) type Ended = Result<(), Box<dyn Any + Send>>;

/// Why a stack runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// It begins.
    Begin,
    /// The message is there.
    Message,
    /// Nothing has come in time.
    Late,
    /// The answer is there that it waits for.
    Answer,
    /// The actor has ended: it is to be unwound.
    Stop,
}

/// What a stack waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// Nothing: it runs, or is to be unwound and catches that again and again.
    Nothing,
    /// A message.
    Message,
    /// A message, for so long.
    MessageFor(Duration),
    /// Another one, since it has skipped the last: until the time that it has named.
    Other,
    /// The answer to a request.
    Answer,
    /// Nothing: its body has ended.
    Ended,
}

/// A request, and how long its answer is waited for.
pub(super) struct Request {
    pub(super) to: DynAddr,
    pub(super) message: DynMessage,
    pub(super) after: Duration,
}

impl<S> Lent<S> {
    pub(super) fn new(state: S) -> Box<Self> {
        Box::new(Self {
            state,
            skipped: Skipped::default(),
            event: Event::Begin,
            message: QueuedMessage::default(),
            answer: None,
            wait: Wait::Nothing,
            request: None,
            ended: None,
        })
    }

    fn end(&mut self, ended: Ended) {
        self.wait = Wait::Ended;
        self.ended = Some(ended);
    }
}

/// A thread that waits, with what has it go on, unless it has ended.
pub(super) struct Parked<S: Send + 'static> {
    /// `None` if it has lost it: it was stopped without.
    pub(super) lent: Option<Box<Lent<S>>>,
    pub(super) wake: Option<Resolver<Wake<S>>>,
}

/// What has a thread go on.
pub(super) struct Wake<S: Send + 'static> {
    pub(super) lent: Box<Lent<S>>,
    /// Where it says that it waits again.
    pub(super) done: Resolver<Parked<S>>,
    /// Its runtime has work until it has said that.
    pub(super) busy: Busy,
}

/// What a fiber is resumed with: nothing if it has ended.
pub(super) type Resumption<S> = Option<Box<Lent<S>>>;

/// How a stack waits.
pub(super) enum Parking<S: Send + 'static> {
    Fiber,
    /// On a thread of its own, which may block like others, or stands for a fiber.
    Thread {
        goes_on: Option<(Resolver<Parked<S>>, Busy)>,
        may_block: bool,
    },
}

impl<S: Send + 'static> Parking<S> {
    /// Waits until the actor has it go on; `None` if it never will.
    #[inline]
    #[track_caller]
    pub(super) fn park(&mut self, lent: Box<Lent<S>>) -> Resumption<S> {
        match self {
            Self::Fiber => suspend::<Resumption<S>, Box<Lent<S>>>(lent),
            Self::Thread { goes_on, may_block } => block(goes_on, *may_block, lent),
        }
    }

    /// Waits for ever.
    pub(super) fn leave(&mut self, mut lent: Box<Lent<S>>) -> ! {
        lent.wait = Wait::Nothing;
        match self {
            Self::Fiber => {
                drop(suspend::<Resumption<S>, Box<Lent<S>>>(lent));
                unreachable!("it is forgotten")
            }
            Self::Thread { goes_on, .. } => {
                let goes_on = goes_on.take();
                drop_quietly(move || drop((lent, goes_on)));
                loop {
                    thread::park();
                }
            }
        }
    }

    /// Says that the body has ended.
    pub(super) fn end(self, lent: Option<Box<Lent<S>>>, ended: Ended) {
        match self {
            Self::Fiber => {
                let mut lent = lent.expect("a fiber is stopped with its state");
                lent.end(ended);
                drop(suspend::<Resumption<S>, Box<Lent<S>>>(lent));
            }
            Self::Thread { goes_on, .. } => end_thread(goes_on, lent, ended),
        }
    }
}

/// Blocks a thread until it is woken.
#[track_caller]
fn block<S: Send + 'static>(
    goes_on: &mut Option<(Resolver<Parked<S>>, Busy)>,
    may_block: bool,
    lent: Box<Lent<S>>,
) -> Resumption<S> {
    let (wake, woken) = Promise::channel();
    let (done, busy) = goes_on.take()?;
    done.resolve(Parked { lent: Some(lent), wake: Some(wake) });
    drop(busy);
    let wait = || wait_for(woken, &"a tuple to this actor");
    let woken = if may_block { wait() } else { unnested(wait) };
    let Wake { lent, done, busy } = woken.ok()?;
    *goes_on = Some((done, busy));
    Some(lent)
}

fn end_thread<S: Send + 'static>(
    goes_on: Option<(Resolver<Parked<S>>, Busy)>,
    mut lent: Option<Box<Lent<S>>>,
    ended: Ended,
) {
    if let Err(payload) = &ended {
        tell_of_panic(&**payload);
    }
    if let Some(lent) = &mut lent {
        lent.end(ended);
    }
    if let Some((done, busy)) = goes_on {
        done.resolve(Parked { lent, wake: None });
        drop(busy);
    }
}
