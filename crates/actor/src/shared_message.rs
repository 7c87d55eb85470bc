//! Messages shared by many receivers and copied only to be changed.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use crate::message::Message;

/// A message shared by all its receivers: copy-on-write.
///
/// Sending it to many receivers clones a pointer. To change it, a receiver uses
/// [`make_mut`](Self::make_mut) or [`into_inner`](Self::into_inner), which copy the message unless
/// it is not shared any more. So no receiver sees the changes of another, and there is no
/// unnecessary copy.
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
    /// Creates a shared message. Costs an allocation.
    pub fn new(message: M) -> Self {
        Self(Arc::new(message))
    }

    /// Returns the message for changing: a copy, if it is shared.
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

    /// Returns the message, if it is not shared.
    pub fn get_mut(&mut self) -> Option<&mut M> {
        Arc::get_mut(&mut self.0)
    }

    /// Returns the message by value: a copy, if it is shared.
    pub fn into_inner(self) -> M
    where
        M: Clone,
    {
        Arc::unwrap_or_clone(self.0)
    }

    /// Returns the message by value, without a copy.
    ///
    /// # Errors
    /// Returns the shared message unchanged if it is shared.
    pub fn try_unwrap(self) -> Result<M, Self> {
        Arc::try_unwrap(self.0).map_err(Self)
    }

    /// Returns whether the message is shared. Others may drop theirs at any time; once it is not
    /// shared, that stays so.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Returns whether both are the same message, not merely equal.
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
