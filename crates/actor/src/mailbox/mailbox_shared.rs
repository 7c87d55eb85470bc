//! The part of a mailbox that senders, tickets and views share: admission, and the lanes.

use std::any::TypeId;

use coact_core::credits::{Credits, Permit};
use coact_core::internals::QueuePosition;
use coact_core::runtime::RuntimeHandle;
use coact_sync::shim::process::Mutex;

use super::envelope::Envelope;
use super::lanes::{AddOutcome, Lanes, TicketNumber};
use super::moments::Moments;
use super::settings::{FullLanePolicy, Lane, Mailbox};
use super::unhandled_counter::DropCounter;
use crate::cycle::{QueueBlockage, SortedMailbox};
use crate::id::ActorId;

/// The mailbox of an actor that was spawned with mailbox settings.
pub(crate) struct SharedMailbox {
    pub(crate) lanes: Box<[AdmissionControl]>,
    assigned: Box<[(TypeId, usize)]>,
    /// `None` if messages wait in the queue of the cown itself.
    pub(crate) sorted: Option<SortedMessages>,
    pub(crate) stash: usize,
    /// The admission of behaviours, if they are bounded.
    behaviours: Option<AdmissionControl>,
}

/// Admission to a lane: its limit, its policy, and the counts of what it kept out.
pub(crate) struct AdmissionControl {
    pub(crate) capacity: Option<usize>,
    policy: FullLanePolicy,
    /// A credit for each message for which there is room; `None` if there is always room, or room
    /// is made.
    pub(crate) credits: Option<Credits>,
    pub(crate) dropped: DropCounter,
    pub(crate) refused: DropCounter,
}

/// The decision of one lane on a message.
pub(crate) enum LaneDecision {
    Admit(Option<Permit>),
    Refuse,
    Drop,
}

/// Where a message goes.
pub(crate) enum Admission {
    /// Into the queue of the cown.
    Unsorted(Option<Permit>),
    /// Into this lane.
    Sorted(usize, Option<Permit>),
    Refuse,
    Drop,
}

/// Messages kept in lanes.
pub(crate) struct SortedMessages {
    /// Distinguishes what is before a behaviour from what is behind it.
    moments: Moments,
    lanes: Mutex<Lanes<QueuedMessage>>,
    /// The tickets that are in the queue of the cown, by their indices. Locked after `lanes`.
    places: Mutex<Vec<Option<QueuedTicket>>>,
}

/// A ticket in a queue, and its place there.
#[derive(Clone, Copy)]
struct QueuedTicket {
    ticket: TicketNumber,
    place: Option<QueuePosition>,
}

/// A message in a lane, and its credit.
pub(crate) struct QueuedMessage {
    pub(crate) envelope: Box<dyn Envelope>,
    pub(crate) permit: Option<Permit>,
}

impl SharedMailbox {
    /// Creates the mailbox for these settings. `None` if they request nothing.
    pub(crate) fn new(settings: &Mailbox) -> Option<Self> {
        if !settings.concerns_senders() && settings.stash == usize::MAX {
            return None;
        }
        Some(Self {
            lanes: settings.lanes.iter().map(AdmissionControl::new).collect(),
            assigned: settings.assigned.as_slice().into(),
            sorted: settings.needs_sorting().then(|| SortedMessages::new(settings)),
            stash: settings.stash,
            behaviours: settings
                .behaviours
                .map(|limit| AdmissionControl::new(&Lane::bounded(limit).fail())),
        })
    }

    /// Returns whether a behaviour may be refused.
    pub(crate) fn bounds_behaviours(&self) -> bool {
        self.behaviours.is_some()
    }

    /// Returns a permit for one more behaviour, if one is needed; `None` if there is no room.
    pub(crate) fn admit_behaviour(&self) -> Option<Option<Permit>> {
        let Some(control) = &self.behaviours else { return Some(None) };
        match control.admit() {
            LaneDecision::Admit(permit) => Some(permit),
            LaneDecision::Refuse | LaneDecision::Drop => {
                control.refused.increment();
                None
            }
        }
    }

    /// Returns how many behaviours wait, how many may, and how many were refused; `None` if they
    /// are not bounded.
    pub(crate) fn behaviours(&self) -> Option<(usize, usize, u64)> {
        let control = self.behaviours.as_ref()?;
        let credits = control.credits.as_ref()?;
        let limit = credits.limit();
        Some((limit.saturating_sub(credits.available()), limit, control.refused.get()))
    }

    /// Admits a message to the given lane, or to that of its type.
    pub(crate) fn admit(&self, lane: Option<usize>, message: TypeId) -> Admission {
        let lane = match lane {
            None => self.lane_of(message),
            // A lane that does not exist means the last one.
            Some(lane) => lane.min(self.lanes.len() - 1),
        };
        let control = &self.lanes[lane];
        match control.admit() {
            LaneDecision::Admit(permit) if self.sorted.is_some() => Admission::Sorted(lane, permit),
            LaneDecision::Admit(permit) => Admission::Unsorted(permit),
            LaneDecision::Drop => {
                control.dropped.increment();
                Admission::Drop
            }
            LaneDecision::Refuse => {
                control.refused.increment();
                Admission::Refuse
            }
        }
    }

    /// Returns the lane of messages of a type.
    pub(crate) fn lane_of(&self, message: TypeId) -> usize {
        let assigned = self.assigned.iter().rev().find(|(of, _)| *of == message);
        assigned.map_or(self.lanes.len() - 1, |(_, lane)| *lane)
    }

    /// Returns how many messages wait in a lane.
    pub(crate) fn len(&self, lane: usize) -> usize {
        match (&self.sorted, &self.lanes[lane].credits) {
            // Those that an actor keeps for later have their room, too.
            (_, Some(credits)) => credits.limit().saturating_sub(credits.available()),
            (Some(sorted), None) => sorted.lanes.lock().len(lane),
            (None, None) => 0,
        }
    }

    /// Notes that a behaviour is about to be queued.
    pub(crate) fn begin_behaviour(&self) {
        if let Some(sorted) = &self.sorted {
            sorted.moments.begin();
        }
    }

    /// Notes that it has been queued, or will not be.
    pub(crate) fn end_behaviour(&self) {
        if let Some(sorted) = &self.sorted {
            sorted.moments.end();
        }
    }

    /// Drops the message that had to make room in a lane, if there is one.
    pub(crate) fn drop_oldest(
        &self,
        home: RuntimeHandle,
        actor: ActorId,
        lane: usize,
        queued: Option<QueuedMessage>,
    ) {
        let Some(QueuedMessage { envelope, .. }) = queued else { return };
        self.lanes[lane].dropped.increment();
        envelope.drop_for_room(home, actor);
    }

    /// Stops waits for room: the actor has ended.
    pub(crate) fn open(&self) {
        let lanes = self.lanes.iter().chain(&self.behaviours);
        lanes.filter_map(|control| control.credits.as_ref()).for_each(Credits::lift);
    }
}

impl SortedMailbox for SharedMailbox {
    fn is_stuck(&self, is_blocked: &dyn Fn(QueuePosition) -> bool) -> QueueBlockage {
        self.sorted.as_ref().map_or(QueueBlockage::No, |sorted| sorted.is_stuck(is_blocked))
    }
}

impl AdmissionControl {
    fn new(lane: &Lane) -> Self {
        let Lane { capacity, policy } = *lane;
        let counts = policy != FullLanePolicy::DropOldest;
        let credits = capacity.filter(|_| counts).map(Credits::new);
        Self {
            capacity,
            policy,
            credits,
            dropped: DropCounter::default(),
            refused: DropCounter::default(),
        }
    }

    /// Decides on a message; does not wait.
    pub(crate) fn admit(&self) -> LaneDecision {
        let Some(credits) = &self.credits else { return LaneDecision::Admit(None) };
        match credits.try_acquire(1) {
            Some(permit) => LaneDecision::Admit(Some(permit)),
            None if self.policy == FullLanePolicy::DropNewest => LaneDecision::Drop,
            None => LaneDecision::Refuse,
        }
    }

    /// Returns the limit, if the oldest message is dropped for one above it.
    pub(crate) fn drops_oldest(&self) -> Option<usize> {
        self.capacity.filter(|_| self.policy == FullLanePolicy::DropOldest)
    }

    /// Returns the credits to wait for, if senders wait.
    pub(crate) fn to_wait_for(&self) -> Option<&Credits> {
        self.credits.as_ref().filter(|_| self.policy == FullLanePolicy::Wait)
    }
}

impl SortedMessages {
    fn new(settings: &Mailbox) -> Self {
        let keep =
            |lane: &Lane| lane.capacity.filter(|_| lane.policy == FullLanePolicy::DropOldest);
        let lanes = Lanes::new(settings.lanes.iter().map(keep), settings.every);
        Self { moments: Moments::default(), lanes: Mutex::new(lanes), places: Mutex::default() }
    }

    pub(crate) fn add(&self, lane: usize, queued: QueuedMessage) -> AddOutcome<QueuedMessage> {
        let mut lanes = self.lanes.lock();
        lanes.add(lane, queued, self.moments.now())
    }

    /// Notes that the ticket is in the cown's queue; with its place there, unless it shares that
    /// place with other cowns.
    pub(crate) fn arrive(
        &self,
        ticket: TicketNumber,
        place: Option<QueuePosition>,
    ) -> Option<QueuedMessage> {
        let mut lanes = self.lanes.lock();
        if lanes.is_pending(ticket) {
            let mut places = self.places.lock();
            if places.len() <= ticket.index() {
                places.resize(ticket.index() + 1, None);
            }
            places[ticket.index()] = Some(QueuedTicket { ticket, place });
        }
        lanes.arrive(ticket, self.moments.now())
    }

    /// Returns whether the messages wait for something that certain places wait for, too. A message
    /// is called by any of the tickets that were made about when its own was: so it certainly waits
    /// if all do.
    fn is_stuck(&self, is_blocked: &dyn Fn(QueuePosition) -> bool) -> QueueBlockage {
        let lanes = self.lanes.lock();
        let places = self.places.lock();
        let (mut some, mut all) = (false, true);
        for ticket in lanes.pending() {
            // A ticket that is just being queued may end up anywhere.
            let queued = places.get(ticket.index()).and_then(|queued| *queued);
            let place =
                queued.filter(|queued| queued.ticket.is(ticket)).and_then(|queued| queued.place);
            let is_blocked = place.is_some_and(is_blocked);
            some |= is_blocked;
            all &= is_blocked;
        }
        match (some, all) {
            (false, _) => QueueBlockage::No,
            (true, true) => QueueBlockage::Yes,
            (true, false) => QueueBlockage::Unclear,
        }
    }

    pub(crate) fn take(
        &self,
        ticket: TicketNumber,
    ) -> (Option<QueuedMessage>, Option<QueuedMessage>) {
        let mut lanes = self.lanes.lock();
        lanes.take(ticket, self.moments.now())
    }
}
