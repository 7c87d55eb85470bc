//! What the senders, the tickets and the views of one mailbox share.

use std::any::TypeId;
use std::sync::atomic::{AtomicU64, Ordering};

use coact_core::{Credits, Permit};
use parking_lot::Mutex;

use super::count::Count;
use super::lanes::{Added, Lanes, Number};
use super::letter::Letter;
use super::settings::{Lane, Mailbox, Policy};
use crate::events::{self, DropCause};
use crate::front::Front;

/// The mailbox of an actor that was spawned with settings for it.
pub(crate) struct Queue {
    pub(super) gates: Box<[Gate]>,
    assigned: Box<[(TypeId, usize)]>,
    /// `None` if messages stand in the queue of the cown itself.
    pub(super) sorted: Option<Sorted>,
    pub(crate) stash: usize,
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

/// Messages that lie in lanes.
pub(super) struct Sorted {
    /// Counts what tells apart what stands before, and after, a behaviour.
    epoch: AtomicU64,
    lanes: Mutex<Lanes<Parcel>>,
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
        })
    }

    /// The lane of messages of type `M`.
    pub(super) fn lane_of<M: 'static>(&self) -> usize {
        let assigned = self.assigned.iter().rev().find(|(of, _)| *of == TypeId::of::<M>());
        assigned.map_or(self.gates.len() - 1, |(_, lane)| *lane)
    }

    /// The lane that a sender means.
    pub(super) fn lane_at(&self, lane: usize) -> usize {
        lane.min(self.gates.len() - 1)
    }

    /// How many messages wait in a lane.
    pub(super) fn len(&self, lane: usize) -> usize {
        match (&self.sorted, &self.gates[lane].credits) {
            (Some(sorted), _) => sorted.lanes.lock().len(lane),
            (None, Some(credits)) => credits.limit().saturating_sub(credits.available()),
            (None, None) => 0,
        }
    }

    /// A behaviour is about to be queued, or has been.
    pub(crate) fn step(&self) {
        if let Some(sorted) = &self.sorted {
            sorted.step();
        }
    }

    /// Drops what had to make room in a lane, if there is such a message.
    pub(super) fn drop_oldest(&self, front: &Front, lane: usize, parcel: Option<Parcel>) {
        let Some(Parcel { letter, .. }) = parcel else { return };
        self.gates[lane].dropped.rise();
        events::message_dropped(front.id(), letter.drop_for_room(), DropCause::Policy);
    }

    /// The actor has ended: nobody waits for room any more.
    pub(crate) fn open(&self) {
        self.gates.iter().filter_map(|gate| gate.credits.as_ref()).for_each(Credits::lift);
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
        Self { epoch: AtomicU64::new(0), lanes: Mutex::new(lanes) }
    }

    fn step(&self) {
        // ORDERING: Release. Pairs with `now`: whoever sees the step that follows the queueing of a
        // behaviour makes its ticket after that.
        self.epoch.fetch_add(1, Ordering::Release);
    }

    fn now(&self) -> u64 {
        // ORDERING: Acquire, see `step`.
        self.epoch.load(Ordering::Acquire)
    }

    pub(super) fn add(&self, lane: usize, parcel: Parcel) -> Added<Parcel> {
        let mut lanes = self.lanes.lock();
        lanes.add(lane, parcel, self.now())
    }

    pub(super) fn arrive(&self, ticket: Number) -> Option<Parcel> {
        let mut lanes = self.lanes.lock();
        lanes.arrive(ticket, self.now())
    }

    pub(super) fn take(&self, ticket: Number) -> (Option<Parcel>, Option<Parcel>) {
        let mut lanes = self.lanes.lock();
        lanes.take(ticket, self.now())
    }
}
