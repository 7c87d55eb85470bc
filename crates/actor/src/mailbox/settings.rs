//! How a mailbox is to be: how much it holds, what becomes of more, and which lanes it has.

use std::any::TypeId;

use crate::message::Message;

/// What becomes of a message for a lane that is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    Wait,
    Fail,
    DropNewest,
    DropOldest,
}

/// Settings of an actor's mailbox: [`Spawn::mailbox`](crate::actor::Spawn::mailbox).
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
#[derive(Clone, Debug)]
#[must_use = "settings do nothing until an actor is spawned with them"]
pub struct Mailbox {
    pub(crate) lanes: Vec<Lane>,
    pub(crate) assigned: Vec<(TypeId, usize)>,
    pub(crate) every: u32,
    pub(crate) stash: usize,
    pub(crate) behaviours: Option<usize>,
}

/// Settings of one lane of a mailbox: [`Mailbox::lane`].
#[doc(alias = "priority")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    pub(crate) capacity: Option<usize>,
    pub(crate) policy: Policy,
}

/// How many messages come from the most urgent lane before another lane has its turn, unless
/// [`Mailbox::turn_every`] says otherwise.
const TURN_EVERY: u32 = 16;

impl Mailbox {
    /// A mailbox that takes every message.
    pub fn unbounded() -> Self {
        Self::lanes(1)
    }

    /// A mailbox with room for this many messages; while it is full, senders [wait](Self::wait), unless
    /// another policy is chosen. The message that is being handled does not count.
    ///
    /// # Panics
    /// If there is room for none.
    #[track_caller]
    pub fn bounded(capacity: usize) -> Self {
        Self::unbounded().lane(0, Lane::bounded(capacity))
    }

    /// A mailbox with this many unbounded lanes. Lane 0 is the most urgent. Messages go into the last
    /// lane, unless they are [assigned](Self::assign) or [sent](crate::Addr::send_in) to another one.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn lanes(count: usize) -> Self {
        assert!(count > 0, "a mailbox without lanes takes no messages");
        let lanes = vec![Lane::unbounded(); count];
        Self { lanes, assigned: Vec::new(), every: TURN_EVERY, stash: usize::MAX, behaviours: None }
    }

    /// Sets up one of the lanes.
    ///
    /// # Panics
    /// If there is no such lane.
    #[track_caller]
    pub fn lane(mut self, lane: usize, settings: Lane) -> Self {
        assert!(lane < self.lanes.len(), "the mailbox has {} lanes only", self.lanes.len());
        self.lanes[lane] = settings;
        self
    }

    /// Messages of this type go into this lane.
    ///
    /// # Panics
    /// If there is no such lane.
    #[track_caller]
    pub fn assign<M: Message>(mut self, lane: usize) -> Self {
        assert!(lane < self.lanes.len(), "the mailbox has {} lanes only", self.lanes.len());
        self.assigned.push((TypeId::of::<M>(), lane));
        self
    }

    /// How often less urgent lanes have a turn: every `messages`th message (16 unless set) is taken
    /// from one of them, in rotation. So of `messages × (lanes - 1)` messages that are handled while
    /// some wait in a lane, at least one is from that lane.
    ///
    /// # Panics
    /// If it is less than 2: the most urgent lane would have no turn.
    #[track_caller]
    pub fn turn_every(mut self, messages: u32) -> Self {
        assert!(messages > 1, "with every message out of turn the most urgent lane would starve");
        self.every = messages;
        self
    }

    /// How many messages the actor may [set aside](crate::Context::stash) (any number unless set).
    pub fn stash(mut self, limit: usize) -> Self {
        self.stash = limit;
        self
    }

    /// How many behaviours over the actor ([`when`](coact_core::when), [`ask`](coact_core::ask), batches …)
    /// may wait (any number unless set). One more is refused before it is queued anywhere:
    /// [`try_when`](coact_core::try_when) gives the closure back, with [`Refusal::Full`] and the position of
    /// the actor in the set; [`when`](coact_core::when) panics. One that is spawned later, by a timer or
    /// [`Promise::then`](coact_core::Promise::then), is dropped: [`Broken::Full`]. None ever waits for room.
    ///
    /// Messages and behaviours are counted each for themselves: a bound on messages alone does not keep a
    /// mailbox from being flooded with behaviours. A behaviour counts until it begins. What the actor itself
    /// is brought (answers, streams, news of others' ends) does not count.
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
    /// **Cost.** Of a behaviour over the actor: taking and giving back a credit, and an allocation.
    ///
    /// [`Refusal::Full`]: coact_core::behaviour::Refusal::Full
    /// [`Broken::Full`]: coact_core::Broken::Full
    ///
    /// # Panics
    /// If there is room for none.
    #[track_caller]
    pub fn behaviours(mut self, limit: usize) -> Self {
        assert!(limit > 0, "an actor that takes no behaviours is not bounded but closed");
        self.behaviours = Some(limit);
        self
    }

    /// While the lanes are full, those senders wait who call [`Addr::send_async`](crate::Addr::send_async) or
    /// [`Addr::send_blocking`](crate::Addr::send_blocking). [`Addr::send`](crate::Addr::send) never waits: it gives
    /// the message back, as with [`fail`](Self::fail).
    pub fn wait(self) -> Self {
        self.policy(Policy::Wait)
    }

    /// While the lanes are full, messages are given back: [`SendError::Full`](crate::actor::SendError::Full).
    pub fn fail(self) -> Self {
        self.policy(Policy::Fail)
    }

    /// While the lanes are full, new messages are dropped.
    pub fn drop_newest(self) -> Self {
        self.policy(Policy::DropNewest)
    }

    /// While the lanes are full, the oldest message of the lane is dropped for a new one.
    pub fn drop_oldest(self) -> Self {
        self.policy(Policy::DropOldest)
    }

    fn policy(mut self, policy: Policy) -> Self {
        self.lanes.iter_mut().for_each(|lane| lane.policy = policy);
        self
    }

    /// Whether messages cannot simply stand in the queue of the actor's cown.
    pub(crate) fn needs_sorting(&self) -> bool {
        let drops_oldest =
            |lane: &Lane| lane.capacity.is_some() && lane.policy == Policy::DropOldest;
        self.lanes.len() > 1 || self.lanes.iter().any(drops_oldest)
    }

    /// Whether who sends, or names the actor in a set, must look at the mailbox.
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
    /// A lane that takes every message.
    pub fn unbounded() -> Self {
        Self { capacity: None, policy: Policy::Wait }
    }

    /// A lane with room for this many messages. While it is full, senders wait, unless another policy is
    /// chosen.
    ///
    /// # Panics
    /// If there is room for none.
    #[track_caller]
    pub fn bounded(capacity: usize) -> Self {
        assert!(capacity > 0, "a mailbox without room takes no messages");
        Self { capacity: Some(capacity), policy: Policy::Wait }
    }

    /// As [`Mailbox::wait`].
    pub fn wait(self) -> Self {
        Self { policy: Policy::Wait, ..self }
    }

    /// As [`Mailbox::fail`].
    pub fn fail(self) -> Self {
        Self { policy: Policy::Fail, ..self }
    }

    /// As [`Mailbox::drop_newest`].
    pub fn drop_newest(self) -> Self {
        Self { policy: Policy::DropNewest, ..self }
    }

    /// As [`Mailbox::drop_oldest`].
    pub fn drop_oldest(self) -> Self {
        Self { policy: Policy::DropOldest, ..self }
    }
}
