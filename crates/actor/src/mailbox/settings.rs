//! The settings of a mailbox: its bounds, what happens to messages beyond them, and its lanes.

use std::any::TypeId;

use crate::message::Message;

/// What happens to a message for a full lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FullLanePolicy {
    Wait,
    Fail,
    DropNewest,
    DropOldest,
}

/// Settings of an actor's mailbox: see [`Spawn::mailbox`](crate::actor::Spawn::mailbox).
///
/// Without settings a mailbox is unbounded and has one lane; it costs nothing.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Handler, Message};
/// use coact::actor::{SendError, actor};
/// use coact::mailbox::Mailbox;
///
/// struct Printer;
/// impl Actor for Printer {}
///
/// struct Page;
/// impl Message for Page { type Reply = (); }
/// impl Handler<Page> for Printer {
///     fn handle(&mut self, _: Page, _: &mut Context<Self>) {}
/// }
///
/// let printer = actor(Printer).mailbox(Mailbox::bounded(2).fail()).spawn();
/// printer.suspend()?;
/// printer.send(Page)?;
/// printer.send(Page)?;
/// assert!(matches!(printer.send(Page), Err(SendError::Full(Page))));
/// assert_eq!((printer.mailbox().len(), printer.mailbox().refused()), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "message queue")]
#[doc(alias = "Receiver")]
#[derive(Clone, Debug)]
#[must_use = "settings do nothing until an actor is spawned with them"]
pub struct Mailbox {
    pub(crate) lanes: Vec<Lane>,
    pub(crate) assigned: Vec<(TypeId, usize)>,
    pub(crate) every: u32,
    pub(crate) stash: usize,
    pub(crate) behaviours: Option<usize>,
}

/// Settings of one lane of a mailbox: see [`Mailbox::lane`].
#[doc(alias = "priority")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    pub(crate) capacity: Option<usize>,
    pub(crate) policy: FullLanePolicy,
}

/// One in this many messages comes from a lane other than the most urgent one, unless
/// [`Mailbox::turn_every`] says otherwise.
const TURN_EVERY: u32 = 16;

impl Mailbox {
    /// The most lanes that a mailbox has.
    pub const MAX_LANES: usize = 1 << 20;

    /// Creates a mailbox that takes every message.
    pub fn unbounded() -> Self {
        Self::lanes(1)
    }

    /// Creates a mailbox with room for this many messages; while it is full, senders
    /// [wait](Self::wait), unless another policy is chosen. The message that is being handled does
    /// not count.
    ///
    /// # Panics
    /// Panics if the capacity is 0.
    #[track_caller]
    pub fn bounded(capacity: usize) -> Self {
        Self::unbounded().lane(0, Lane::bounded(capacity))
    }

    /// Creates a mailbox with this many unbounded lanes. Lane 0 is the most urgent. Messages go
    /// into the last lane, unless they are [assigned](Self::assign) or [sent](crate::Addr::send_in)
    /// to another one.
    ///
    /// # Panics
    /// Panics if there is none, or more than [`MAX_LANES`](Self::MAX_LANES).
    #[track_caller]
    pub fn lanes(count: usize) -> Self {
        assert!(count > 0, "a mailbox without lanes takes no messages");
        let most = Self::MAX_LANES;
        assert!(count <= most, "a mailbox has at most {most} lanes, not {count}");
        let lanes = vec![Lane::unbounded(); count];
        Self { lanes, assigned: Vec::new(), every: TURN_EVERY, stash: usize::MAX, behaviours: None }
    }

    /// Configures one of the lanes.
    ///
    /// # Panics
    /// Panics if there is no such lane.
    #[track_caller]
    pub fn lane(mut self, lane: usize, settings: Lane) -> Self {
        assert!(lane < self.lanes.len(), "the mailbox has {} lanes only", self.lanes.len());
        self.lanes[lane] = settings;
        self
    }

    /// Puts messages of this type into this lane.
    ///
    /// # Panics
    /// Panics if there is no such lane.
    #[track_caller]
    pub fn assign<M: Message>(mut self, lane: usize) -> Self {
        assert!(lane < self.lanes.len(), "the mailbox has {} lanes only", self.lanes.len());
        self.assigned.push((TypeId::of::<M>(), lane));
        self
    }

    /// Sets how often less urgent lanes have a turn: every `messages`th message (16 by default) is
    /// taken from one of them, in rotation. So of `messages × (lanes - 1)` messages handled while
    /// some wait in a lane, at least one is from that lane.
    ///
    /// # Panics
    /// Panics if it is less than 2: the most urgent lane would have no turn.
    #[track_caller]
    pub fn turn_every(mut self, messages: u32) -> Self {
        assert!(messages > 1, "with every message out of turn the most urgent lane would starve");
        self.every = messages;
        self
    }

    /// Sets how many messages the actor may [stash](crate::Context::stash) (no limit by default).
    pub fn stash(mut self, limit: usize) -> Self {
        self.stash = limit;
        self
    }

    /// Sets how many behaviours over the actor ([`when`](coact_core::when),
    /// [`call`](coact_core::call), batches …) may wait (no limit by default). A further one is
    /// refused before it is queued anywhere: [`try_when`](coact_core::try_when) returns the
    /// closure, with [`Refusal::Full`] and the position of the actor in the set;
    /// [`when`](coact_core::when) panics. One that is spawned later, by a timer or
    /// [`Promise::then`](coact_core::Promise::then), is dropped: [`Broken::Full`]. None ever waits
    /// for room.
    ///
    /// Messages and behaviours are counted separately: a bound on messages alone does not keep a
    /// mailbox from being flooded with behaviours. A behaviour counts until it begins. What the
    /// actor itself requested (answers, streams, notifications of others' ends) does not count.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, try_when};
    /// use coact::actor::actor;
    /// use coact::behaviour::Refusal;
    /// use coact::mailbox::Mailbox;
    ///
    /// struct Account(i64);
    /// impl Actor for Account {}
    ///
    /// let bounded = Mailbox::bounded(100).behaviours(2);
    /// let account = actor(Account(0)).mailbox(bounded).spawn();
    /// account.suspend()?;
    /// for _ in 0..2 {
    ///     try_when(&account, |account| account.0 += 1).unwrap();
    /// }
    /// let refused = try_when(&account, |account| account.0 += 1).unwrap_err();
    /// assert_eq!(refused.refusal, Refusal::Full { position: 0 });
    /// assert_eq!(account.mailbox().behaviours().unwrap().refused(), 1);
    /// # Ok::<(), coact::actor::Stopped>(())
    /// ```
    ///
    /// **Cost.** A behaviour over the actor takes and returns a credit, and allocates.
    ///
    /// [`Refusal::Full`]: coact_core::behaviour::Refusal::Full
    /// [`Broken::Full`]: coact_core::Broken::Full
    ///
    /// # Panics
    /// Panics if the limit is 0.
    #[track_caller]
    pub fn behaviours(mut self, limit: usize) -> Self {
        assert!(limit > 0, "an actor that takes no behaviours is not bounded but closed");
        self.behaviours = Some(limit);
        self
    }

    /// While the lanes are full, senders that call [`Addr::send_async`](crate::Addr::send_async) or
    /// [`Addr::send_blocking`](crate::Addr::send_blocking) wait. [`Addr::send`](crate::Addr::send)
    /// never waits: it returns the message, as with [`fail`](Self::fail).
    pub fn wait(self) -> Self {
        self.policy(FullLanePolicy::Wait)
    }

    /// While the lanes are full, sends fail and return the message:
    /// [`SendError::Full`](crate::actor::SendError::Full).
    pub fn fail(self) -> Self {
        self.policy(FullLanePolicy::Fail)
    }

    /// While the lanes are full, new messages are dropped.
    pub fn drop_newest(self) -> Self {
        self.policy(FullLanePolicy::DropNewest)
    }

    /// While the lanes are full, the oldest message of the lane is dropped for a new one.
    pub fn drop_oldest(self) -> Self {
        self.policy(FullLanePolicy::DropOldest)
    }

    fn policy(mut self, policy: FullLanePolicy) -> Self {
        self.lanes.iter_mut().for_each(|lane| lane.policy = policy);
        self
    }

    /// Returns whether messages cannot simply wait in the queue of the actor's cown.
    pub(crate) fn needs_sorting(&self) -> bool {
        let drops_oldest =
            |lane: &Lane| lane.capacity.is_some() && lane.policy == FullLanePolicy::DropOldest;
        self.lanes.len() > 1 || self.lanes.iter().any(drops_oldest)
    }

    /// Returns whether senders, and sets that name the actor, must look at the mailbox.
    pub(crate) fn concerns_senders(&self) -> bool {
        let bounds = |lane: &Lane| lane.capacity.is_some();
        self.needs_sorting() || self.behaviours.is_some() || self.lanes.iter().any(bounds)
    }
}

impl Default for Mailbox {
    fn default() -> Self {
        Self::unbounded()
    }
}

impl Lane {
    /// Creates a lane that takes every message.
    pub fn unbounded() -> Self {
        Self { capacity: None, policy: FullLanePolicy::Wait }
    }

    /// Creates a lane with room for this many messages. While it is full, senders wait, unless
    /// another policy is chosen.
    ///
    /// # Panics
    /// Panics if the capacity is 0.
    #[track_caller]
    pub fn bounded(capacity: usize) -> Self {
        assert!(capacity > 0, "a mailbox without room takes no messages");
        Self { capacity: Some(capacity), policy: FullLanePolicy::Wait }
    }

    /// Has senders wait while the lane is full: see [`Mailbox::wait`].
    pub fn wait(self) -> Self {
        Self { policy: FullLanePolicy::Wait, ..self }
    }

    /// Has sends fail while the lane is full: see [`Mailbox::fail`].
    pub fn fail(self) -> Self {
        Self { policy: FullLanePolicy::Fail, ..self }
    }

    /// Drops new messages while the lane is full: see [`Mailbox::drop_newest`].
    pub fn drop_newest(self) -> Self {
        Self { policy: FullLanePolicy::DropNewest, ..self }
    }

    /// Drops the oldest message for a new one while the lane is full: see [`Mailbox::drop_oldest`].
    pub fn drop_oldest(self) -> Self {
        Self { policy: FullLanePolicy::DropOldest, ..self }
    }
}
