//! Messages that many receivers share, and that are copied only to be changed.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use crate::message::Message;

/// A message that is shared by all who get it: copy-on-write.
///
/// To send it to many is to clone a pointer. Whoever wants to change what he got uses
/// [`make_mut`](Self::make_mut) or [`into_inner`](Self::into_inner), which copy the message unless
/// nobody else has it any more. So nobody sees what others do with theirs, and what needs no copy
/// has none.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Handler, Message, spawn};
/// use coact::actor::Shared;
///
/// #[derive(Clone)]
/// struct Frame(Vec<u8>);
/// impl Message for Frame { type Reply = usize; }
///
/// struct Screen;
/// impl Actor for Screen {}
/// impl Handler<Shared<Frame>> for Screen {
///     fn handle(&mut self, frame: Shared<Frame>, _: &mut Context<Self>) -> usize {
///         frame.0.len()
///     }
/// }
///
/// let frame = Shared::new(Frame(vec![0; 4096]));
/// let screens = [spawn(Screen), spawn(Screen), spawn(Screen)];
/// for screen in &screens {
///     assert_eq!(screen.ask(frame.clone()).wait(), Ok(4096));
/// }
/// ```
pub struct Shared<M>(Arc<M>);

impl<M> Shared<M> {
    /// Makes a message that can be shared. Costs an allocation.
    pub fn new(message: M) -> Self {
        Self(Arc::new(message))
    }

    /// The message, to change it: a copy, if others have it too.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::actor::Shared;
    ///
    /// let mut mine = Shared::new(vec![1, 2]);
    /// let theirs = mine.clone();
    /// mine.make_mut().push(3);
    /// assert_eq!((mine.len(), theirs.len()), (3, 2));
    /// ```
    pub fn make_mut(&mut self) -> &mut M
    where
        M: Clone,
    {
        Arc::make_mut(&mut self.0)
    }

    /// The message, if nobody else has it.
    pub fn get_mut(&mut self) -> Option<&mut M> {
        Arc::get_mut(&mut self.0)
    }

    /// The message by value: a copy, if others have it too.
    pub fn into_inner(self) -> M
    where
        M: Clone,
    {
        Arc::unwrap_or_clone(self.0)
    }

    /// The message by value, without a copy.
    ///
    /// # Errors
    /// Gives the shared message back if others have it too.
    pub fn try_unwrap(self) -> Result<M, Self> {
        Arc::try_unwrap(self.0).map_err(Self)
    }

    /// Whether others have it too. They may let go of it any time; that nobody else has it stays
    /// true.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Whether both are one message, and not only equal.
    pub fn same(one: &Self, other: &Self) -> bool {
        Arc::ptr_eq(&one.0, &other.0)
    }
}

impl<M: Message + Sync> Message for Shared<M> {
    type Reply = M::Reply;
}

impl<M> Deref for Shared<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.0
    }
}

impl<M> AsRef<M> for Shared<M> {
    fn as_ref(&self) -> &M {
        &self.0
    }
}

impl<M> From<M> for Shared<M> {
    fn from(message: M) -> Self {
        Self::new(message)
    }
}

impl<M> From<Arc<M>> for Shared<M> {
    fn from(message: Arc<M>) -> Self {
        Self(message)
    }
}

impl<M> Clone for Shared<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: Default> Default for Shared<M> {
    fn default() -> Self {
        Self::new(M::default())
    }
}

impl<M: PartialEq> PartialEq for Shared<M> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<M: Eq> Eq for Shared<M> {}

impl<M: Hash> Hash for Shared<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<M: fmt::Debug> fmt::Debug for Shared<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<M: fmt::Display> fmt::Display for Shared<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
