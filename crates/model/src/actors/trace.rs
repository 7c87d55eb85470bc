//! What a run of actors looks like from inside.

use crate::Seq;

/// The number of a message or behaviour.
pub type ItemId = usize;

/// Everything that happened, and what the actors were like.
#[derive(Clone, Debug, Default)]
pub struct ActorTrace {
    /// The actors, by number.
    pub actors: Vec<ActorSettings>,
    /// What happened, and when; in any order.
    pub events: Vec<(Seq, ActorEvent)>,
}

/// How an actor was spawned.
#[derive(Clone, Debug)]
pub struct ActorSettings {
    /// The group that it is in.
    pub group: Option<usize>,
    /// The lanes of its mailbox, at least one.
    pub lanes: Vec<LaneRule>,
    /// Whether a restart replaces its state, instead of ending it.
    pub restartable: bool,
    /// Whether a supervisor decides about it.
    pub supervised: Option<RestartPolicy>,
    /// Whether the harness keeps its address until [`ActorEvent::LetGo`].
    pub kept: bool,
}

impl Default for ActorSettings {
    fn default() -> Self {
        Self {
            group: None,
            lanes: vec![LaneRule::default()],
            restartable: false,
            supervised: None,
            kept: true,
        }
    }
}

impl ActorSettings {
    /// Whether one message may come in the place of another.
    pub(super) fn sorts(&self) -> bool {
        let drops_oldest = |lane: &LaneRule| lane.when_full == WhenFull::DropOldest;
        self.lanes.len() > 1 || self.lanes.iter().any(drops_oldest)
    }
}

/// When a supervisor restarts a child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RestartPolicy {
    /// Always.
    Permanent,
    /// After failures.
    Transient,
    /// Never.
    Temporary,
}

/// A lane of a mailbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LaneRule {
    /// How many messages it holds, if it is bounded.
    pub capacity: Option<usize>,
    /// What happens to one more.
    pub when_full: WhenFull,
}

/// What becomes of a message for a full lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WhenFull {
    /// It is given back.
    #[default]
    Refuse,
    /// It is dropped.
    DropNewest,
    /// The oldest of the lane is dropped.
    DropOldest,
}

/// A message or behaviour.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// What it needs.
    pub members: Vec<ItemMember>,
}

/// What an item is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ItemKind {
    /// A message to one actor.
    Message {
        /// The lane that it goes to.
        lane: usize,
        /// Whether an answer is waited for,
        asked: bool,
        /// by an actor that is held meanwhile,
        by_held: bool,
        /// and for a limited time.
        limited: bool,
    },
    /// A behaviour over any number of actors and cowns.
    Behaviour,
    /// Something that takes its place at a time that the trace does not know: a timer's message, or
    /// an answer that is brought back.
    Free,
}

/// One of the things that an item needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ItemMember {
    /// What.
    pub of: ItemTarget,
    /// Whether it is read only.
    pub read: bool,
}

/// What can be needed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ItemTarget {
    /// An actor.
    Actor(usize),
    /// A plain cown.
    Cown(usize),
}

/// What an actor is told to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActorSignal {
    /// End, after the current turn.
    Stop,
    /// End, without `stopped`.
    Kill,
    /// Replace the state.
    Restart,
    /// End, after all messages sent before.
    Drain,
    /// Let messages wait.
    Suspend,
    /// Let them come again.
    Resume,
}

/// Why an actor has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EndReason {
    /// No address was left.
    Normal,
    /// It was told to.
    Shutdown,
    /// It was killed.
    Killed,
    /// That item panicked.
    Panicked(ItemId),
    /// It said so in that item.
    Quit(ItemId),
    /// An actor that it was linked to has ended.
    Linked(usize, Box<EndReason>),
    /// It was not there, and the reason is not known.
    NoActor,
    /// Anything else.
    Other(String),
}

impl EndReason {
    /// Whether the end was meant, so that links do not spread it.
    pub(super) fn is_normal(&self) -> bool {
        matches!(self, EndReason::Normal | EndReason::Shutdown)
    }
}

/// A hook of an actor, or the end of its state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ActorHook {
    /// The first state begins.
    Started,
    /// Another state begins; why the last one has ended.
    Restarted(EndReason),
    /// The state is about to be dropped, for this reason.
    Stopped(EndReason),
    /// The state is dropped.
    Dropped,
}

/// The outcome of an ask.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AskOutcome {
    /// An answer.
    Given,
    /// The actor had ended.
    Stopped(EndReason),
    /// The mailbox was full.
    Full,
    /// The handler panicked.
    Panicked,
    /// There is no answer.
    NoReply,
    /// The time was over.
    Timeout,
    /// The ask would have waited for itself.
    Cycle,
    /// The runtime was shut down.
    Cancelled,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum ActorEvent {
    /// An item was spawned.
    Spawned {
        /// Which.
        id: ItemId,
        /// What.
        item: Item,
        /// Before the call.
        call: Seq,
    },
    /// A message was given back to its sender.
    Refused {
        /// Which.
        id: ItemId,
        /// What.
        item: Item,
        /// Before the call.
        call: Seq,
        /// Whether since the mailbox was full; otherwise the actor had ended.
        full: bool,
    },
    /// An item has its turn.
    Began {
        /// Which.
        id: ItemId,
        /// The runtime that it runs in, if that is known.
        home: Option<usize>,
    },
    /// It holds its actor beyond its handler.
    Holds(ItemId),
    /// It was set aside.
    SetAside(ItemId),
    /// This item wants this many of those that were set aside again.
    Unstashed(ItemId, usize),
    /// Its turn is over.
    Ended(ItemId),
    /// Its turn is over by a panic.
    Panicked(ItemId),
    /// It was dropped before the end of its turn, or without one.
    Dropped(ItemId),
    /// The item has its actor end.
    Quits(ItemId),
    /// An ask has come to its end.
    Answered(ItemId, AskOutcome),
    /// The asker does not wait any more.
    Abandoned(ItemId),
    /// A hook.
    Hook(usize, ActorHook),
    /// The actor has handled news that are no item.
    News(usize),
    /// The end of the actor was seen.
    Gone(usize),
    /// A signal was accepted.
    Directed {
        /// Whose.
        actor: usize,
        /// What.
        what: ActorSignal,
        /// Before the call.
        call: Seq,
    },
    /// The actor was moved.
    Moved {
        /// Which.
        actor: usize,
        /// Where to.
        home: usize,
        /// Before the call.
        call: Seq,
    },
    /// A wish to be told of an end.
    Watched {
        /// The number of the watch.
        watch: usize,
        /// Whose end.
        actor: usize,
        /// The actor that is told, if it is one.
        by: Option<usize>,
        /// Before the call.
        call: Seq,
    },
    /// And wants it no more.
    Unwatched {
        /// The number of the watch.
        watch: usize,
        /// Before the call.
        call: Seq,
    },
    /// The end was told.
    Told {
        /// The number of the watch.
        watch: usize,
        /// Why it has ended.
        reason: EndReason,
    },
    /// Two actors were linked.
    Linked {
        /// By whom.
        by: usize,
        /// With whom.
        to: usize,
        /// Before the call.
        call: Seq,
    },
    /// And parted.
    Unlinked {
        /// By whom.
        by: usize,
        /// From whom.
        to: usize,
    },
    /// From now on, or no longer, the actor is told of the ends of those it is linked with.
    Traps(usize),
    /// It was told.
    Exited {
        /// Who was told.
        to: usize,
        /// Who has ended.
        from: usize,
        /// Why.
        reason: EndReason,
    },
    /// Nothing goes on any more, and addresses are kept. Whether the actor has ended.
    AtRest(usize, Option<EndReason>),
    /// The harness drops its addresses, and ends supervisors.
    LetGo,
    /// The runtime is shut down from now on, in the middle of whatever goes on.
    ShutDown,
    /// Nothing is left. Whether the actor has ended.
    AtEnd(usize, Option<EndReason>),
}
