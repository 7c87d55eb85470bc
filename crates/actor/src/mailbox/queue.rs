//! What the senders, the tickets and the views of one mailbox share.

use std::any::TypeId;

use coact_core::{Credits, Home, Permit, Place};
use parking_lot::Mutex;

use super::count::Count;
use super::lanes::{Added, Lanes, Number};
use super::letter::Letter;
use super::moment::Moments;
use super::settings::{Lane, Mailbox, Policy};
use crate::ActorId;
use crate::events::{self, DropCause};

/// The mailbox of an actor that was spawned with settings for it.
pub(crate) struct Queue {
    pub(super) gates: Box<[Gate]>,
    assigned: Box<[(TypeId, usize)]>,
    /// `None` if messages stand in the queue of the cown itself.
    pub(super) sorted: Option<Sorted>,
    pub(crate) stash: usize,
    /// For behaviours, if they are bounded.
    behaviours: Option<Gate>,
}

/// What stands at the entrance of a lane.
pub(super) struct Gate {
    pub(super) capacity: Option<usize>,
    policy: Policy,
    /// A credit for each message there is room for; `None` if there is always room, or is made.
    pub(super) credits: Option<Credits>,
    pub(super) dropped: Count,
    pub(super) refused: Count,
}

/// What becomes of a message at the gate.
pub(super) enum Verdict {
    Enter(Option<Permit>),
    Refuse,
    Drop,
}

/// What becomes of a message.
pub(super) enum Admission {
    /// It goes into the queue of the cown.
    Unsorted(Option<Permit>),
    /// It goes into this lane.
    Sorted(usize, Option<Permit>),
    Refuse,
    Drop,
}

/// Messages that lie in lanes.
pub(super) struct Sorted {
    /// What tells apart what stands before, and after, a behaviour.
    moments: Moments,
    lanes: Mutex<Lanes<Parcel>>,
    /// The tickets that are in the queue of the cown, by their indices. Locked after `lanes`.
    places: Mutex<Vec<Option<Queued>>>,
}

/// A ticket in a queue, and where it stands there.
#[derive(Clone, Copy)]
struct Queued {
    ticket: Number,
    place: Option<Place>,
}

/// Whether something waits for what certain places in queues wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Blocked {
    No,
    Yes,
    /// It may, now or soon.
    Unclear,
}

/// A message in a lane, and its credit.
pub(super) struct Parcel {
    pub(super) letter: Box<dyn Letter>,
    pub(super) permit: Option<Permit>,
}

impl Queue {
    /// The mailbox for these settings. `None` if they ask for nothing.
    pub(crate) fn new(settings: &Mailbox) -> Option<Self> {
        if !settings.concerns_senders() && settings.stash == usize::MAX {
            return None;
        }
        Some(Self {
            gates: settings.lanes.iter().map(Gate::new).collect(),
            assigned: settings.assigned.as_slice().into(),
            sorted: settings.needs_sorting().then(|| Sorted::new(settings)),
            stash: settings.stash,
            behaviours: settings.behaviours.map(|limit| Gate::new(&Lane::bounded(limit).fail())),
        })
    }

    /// Whether a behaviour may be refused.
    pub(crate) fn bounds_behaviours(&self) -> bool {
        self.behaviours.is_some()
    }

    /// A permit for one more behaviour, if one is needed; `None` if there is no room.
    pub(crate) fn admit_behaviour(&self) -> Option<Option<Permit>> {
        let Some(gate) = &self.behaviours else { return Some(None) };
        match gate.pass() {
            Verdict::Enter(permit) => Some(permit),
            Verdict::Refuse | Verdict::Drop => {
                gate.refused.rise();
                None
            }
        }
    }

    /// How many behaviours wait, how many may, and how many were refused; `None` if they are not bounded.
    pub(super) fn behaviours(&self) -> Option<(usize, usize, u64)> {
        let gate = self.behaviours.as_ref()?;
        let credits = gate.credits.as_ref()?;
        let limit = credits.limit();
        Some((limit.saturating_sub(credits.available()), limit, gate.refused.get()))
    }

    /// What is to become of a message of this type, in the lane that is given or in that of its type.
    pub(super) fn admit(&self, lane: Option<usize>, message: TypeId) -> Admission {
        let lane = match lane {
            None => self.lane_of(message),
            // That which a sender means.
            Some(lane) => lane.min(self.gates.len() - 1),
        };
        let gate = &self.gates[lane];
        match gate.pass() {
            Verdict::Enter(permit) if self.sorted.is_some() => Admission::Sorted(lane, permit),
            Verdict::Enter(permit) => Admission::Unsorted(permit),
            Verdict::Drop => {
                gate.dropped.rise();
                Admission::Drop
            }
            Verdict::Refuse => {
                gate.refused.rise();
                Admission::Refuse
            }
        }
    }

    /// The lane of messages of a type.
    pub(super) fn lane_of(&self, message: TypeId) -> usize {
        let assigned = self.assigned.iter().rev().find(|(of, _)| *of == message);
        assigned.map_or(self.gates.len() - 1, |(_, lane)| *lane)
    }

    /// How many messages wait in a lane.
    pub(super) fn len(&self, lane: usize) -> usize {
        match (&self.sorted, &self.gates[lane].credits) {
            (Some(sorted), _) => sorted.lanes.lock().len(lane),
            (None, Some(credits)) => credits.limit().saturating_sub(credits.available()),
            (None, None) => 0,
        }
    }

    /// A behaviour is about to be queued.
    pub(crate) fn begin_behaviour(&self) {
        if let Some(sorted) = &self.sorted {
            sorted.moments.begin();
        }
    }

    /// It has been, or will not be.
    pub(crate) fn end_behaviour(&self) {
        if let Some(sorted) = &self.sorted {
            sorted.moments.end();
        }
    }

    /// Whether messages that are sorted wait for something: see [`Sorted::is_stuck`].
    pub(crate) fn is_stuck(&self, is_blocked: &dyn Fn(Place) -> bool) -> Blocked {
        self.sorted.as_ref().map_or(Blocked::No, |sorted| sorted.is_stuck(is_blocked))
    }

    /// Drops what had to make room in a lane, if there is such a message.
    pub(super) fn drop_oldest(
        &self,
        home: Home,
        actor: ActorId,
        lane: usize,
        parcel: Option<Parcel>,
    ) {
        let Some(Parcel { letter, .. }) = parcel else { return };
        self.gates[lane].dropped.rise();
        events::message_dropped(home, actor, letter.drop_for_room(), DropCause::Policy);
    }

    /// The actor has ended: nobody waits for room any more.
    pub(crate) fn open(&self) {
        let gates = self.gates.iter().chain(&self.behaviours);
        gates.filter_map(|gate| gate.credits.as_ref()).for_each(Credits::lift);
    }
}

impl Gate {
    fn new(lane: &Lane) -> Self {
        let Lane { capacity, policy } = *lane;
        let counts = policy != Policy::DropOldest;
        let credits = capacity.filter(|_| counts).map(Credits::new);
        Self { capacity, policy, credits, dropped: Count::default(), refused: Count::default() }
    }

    /// Decides on a message, now.
    pub(super) fn pass(&self) -> Verdict {
        let Some(credits) = &self.credits else { return Verdict::Enter(None) };
        match credits.try_acquire(1) {
            Some(permit) => Verdict::Enter(Some(permit)),
            None if self.policy == Policy::DropNewest => Verdict::Drop,
            None => Verdict::Refuse,
        }
    }

    /// The credits to wait for, if this is what senders are to do.
    pub(super) fn to_wait_for(&self) -> Option<&Credits> {
        self.credits.as_ref().filter(|_| self.policy == Policy::Wait)
    }
}

impl Sorted {
    fn new(settings: &Mailbox) -> Self {
        let keep = |lane: &Lane| lane.capacity.filter(|_| lane.policy == Policy::DropOldest);
        let lanes = Lanes::new(settings.lanes.iter().map(keep), settings.every);
        Self { moments: Moments::default(), lanes: Mutex::new(lanes), places: Mutex::default() }
    }

    pub(super) fn add(&self, lane: usize, parcel: Parcel) -> Added<Parcel> {
        let mut lanes = self.lanes.lock();
        lanes.add(lane, parcel, self.moments.now())
    }

    /// The ticket stands in the cown's queue: there, if it is in none that it shares with others' cowns.
    pub(super) fn arrive(&self, ticket: Number, place: Option<Place>) -> Option<Parcel> {
        let mut lanes = self.lanes.lock();
        if lanes.is_pending(ticket) {
            let mut places = self.places.lock();
            if places.len() <= ticket.index() {
                places.resize(ticket.index() + 1, None);
            }
            places[ticket.index()] = Some(Queued { ticket, place });
        }
        lanes.arrive(ticket, self.moments.now())
    }

    /// Whether the messages wait for something that certain places wait for, too. A message is called by
    /// any of the tickets that were made about when its own was: so it waits for certain if all do.
    fn is_stuck(&self, is_blocked: &dyn Fn(Place) -> bool) -> Blocked {
        let lanes = self.lanes.lock();
        let places = self.places.lock();
        let (mut some, mut all) = (false, true);
        for ticket in lanes.pending() {
            // One that is just being queued may come to stand anywhere.
            let queued = places.get(ticket.index()).and_then(|queued| *queued);
            let place =
                queued.filter(|queued| queued.ticket.is(ticket)).and_then(|queued| queued.place);
            let is_blocked = place.is_some_and(is_blocked);
            some |= is_blocked;
            all &= is_blocked;
        }
        match (some, all) {
            (false, _) => Blocked::No,
            (true, true) => Blocked::Yes,
            (true, false) => Blocked::Unclear,
        }
    }

    pub(super) fn take(&self, ticket: Number) -> (Option<Parcel>, Option<Parcel>) {
        let mut lanes = self.lanes.lock();
        lanes.take(ticket, self.moments.now())
    }
}
