//! Messages in lanes, and the tickets by which they are called: a plain structure, which knows
//! neither actors nor runtimes. `README.md` describes the protocol and why it keeps the order.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use super::moments::Moment;

/// The messages of one mailbox, by lane.
pub(crate) struct Lanes<T> {
    lanes: Box<[LaneQueue]>,
    entries: StableSlots<LaneEntry<T>>,
    tickets: StableSlots<PendingTicket>,
    serial: u64,
    /// How many behaviours had begun, and were all in the queue, at the last quiet moment.
    settled: u64,
    /// The most that a ticket that has come covers.
    reached: u64,
    /// When the last message arrived, and its era.
    last: Moment,
    era: u64,
    turn: LaneTurn,
}

/// The messages of a lane in order of arrival: their eras do not decrease.
struct LaneQueue {
    /// Indices into `entries`.
    order: VecDeque<usize>,
    /// How many of them are due.
    due: usize,
    /// How many may wait; the oldest makes room for one more.
    keep: Option<usize>,
}

struct LaneEntry<T> {
    item: T,
    lane: usize,
    /// Its ticket. `None` once the ticket has come: the message is due.
    ticket: Option<usize>,
    /// When the ticket was made.
    made: Moment,
    /// The era of its arrival: messages of an earlier one come first. `None` until it arrives.
    era: Option<u64>,
}

/// A ticket that has not come yet.
struct PendingTicket {
    serial: u64,
    /// Its message, unless that is gone.
    entry: Option<usize>,
}

/// The right to take one message when the ticket comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TicketNumber {
    ticket: usize,
    serial: u64,
    /// At least this many behaviours, the first that began, are ahead of it in the queue.
    covers: u64,
}

impl TicketNumber {
    /// Returns a small number, unique among the tickets that have not come yet.
    pub(crate) fn index(self) -> usize {
        self.ticket
    }

    /// Returns whether they are the same ticket.
    pub(crate) fn is(self, other: Self) -> bool {
        (self.ticket, self.serial) == (other.ticket, other.serial)
    }
}

/// The result of adding a message.
pub(crate) enum AddOutcome<T> {
    /// Its ticket must be queued, followed by a call of [`Lanes::arrive`].
    Ticket(TicketNumber),
    /// It takes the place, and the ticket, of the oldest message, which is dropped.
    InPlaceOf(T),
}

impl<T> Lanes<T> {
    /// Creates lanes, the most urgent first, each with the number of messages that it keeps. Every
    /// `every`th message is taken from a lane other than the first.
    pub(crate) fn new(keep: impl Iterator<Item = Option<usize>>, every: u32) -> Self {
        let lane = |keep| LaneQueue { order: VecDeque::new(), due: 0, keep };
        let lanes: Box<[LaneQueue]> = keep.map(lane).collect();
        let turn = LaneTurn::new(lanes.len(), every);
        let (entries, tickets) = (StableSlots::default(), StableSlots::default());
        let last = Moment { begun: 0, is_quiet: true };
        Self { lanes, entries, tickets, serial: 0, settled: 0, reached: 0, last, era: 0, turn }
    }

    /// Returns how many messages have arrived in a lane and wait.
    pub(crate) fn len(&self, lane: usize) -> usize {
        self.lanes[lane].order.len()
    }

    /// Adds a message.
    pub(crate) fn add(&mut self, lane: usize, item: T, now: Moment) -> AddOutcome<T> {
        if let Some(oldest) = self.replaceable(lane, now) {
            self.lanes[lane].order.rotate_left(1);
            let era = Some(self.era(now));
            let oldest = self.entries.get_mut(oldest);
            oldest.era = era;
            return AddOutcome::InPlaceOf(std::mem::replace(&mut oldest.item, item));
        }
        if now.is_quiet {
            self.settled = now.begun;
        }
        self.serial += 1;
        let (serial, covers) = (self.serial, self.settled);
        let ticket = self.tickets.put(PendingTicket { serial, entry: None });
        let entry = LaneEntry { item, lane, ticket: Some(ticket), made: now, era: None };
        self.tickets.get_mut(ticket).entry = Some(self.entries.put(entry));
        AddOutcome::Ticket(TicketNumber { ticket, serial, covers })
    }

    /// Returns the oldest message of a full lane, if no behaviour can be between its ticket and
    /// now.
    fn replaceable(&self, lane: usize, now: Moment) -> Option<usize> {
        let LaneQueue { order, keep, .. } = &self.lanes[lane];
        let oldest = *order.front().filter(|_| *keep == Some(order.len()))?;
        let entry = self.entries.get(oldest);
        (entry.ticket.is_some() && now.is_quiet && entry.made == now).then_some(oldest)
    }

    /// Returns the era of a message that arrives now: that of the one before if no behaviour can
    /// have come between.
    fn era(&mut self, now: Moment) -> u64 {
        if !now.is_quiet || now != self.last {
            self.era += 1;
        }
        self.last = now;
        self.era
    }

    /// Notes that the ticket of a message has been queued: the message is in its lane from now on.
    /// Returns a message that must make room for it.
    pub(crate) fn arrive(&mut self, number: TicketNumber, now: Moment) -> Option<T> {
        let ticket = self.tickets.find(number.ticket)?;
        let own = ticket.entry.filter(|_| ticket.serial == number.serial)?;
        let lane = self.stand(own, now)?;
        self.shorten(lane)
    }

    /// Puts a message into its lane, which it returns, unless it is there already.
    fn stand(&mut self, entry: usize, now: Moment) -> Option<usize> {
        if self.entries.get(entry).era.is_some() {
            return None;
        }
        let now = self.era(now);
        let LaneEntry { era, lane, .. } = self.entries.get_mut(entry);
        *era = Some(now);
        self.lanes[*lane].order.push_back(entry);
        Some(*lane)
    }

    /// Removes the oldest message of a lane that has too many.
    fn shorten(&mut self, lane: usize) -> Option<T> {
        let LaneQueue { order, keep, .. } = &self.lanes[lane];
        let too_many = keep.is_some_and(|keep| order.len() > keep);
        too_many.then(|| self.remove(lane, 0))
    }

    /// Returns whether a ticket has not come yet.
    pub(crate) fn is_pending(&self, number: TicketNumber) -> bool {
        self.tickets.find(number.ticket).is_some_and(|ticket| ticket.serial == number.serial)
    }

    /// Returns the tickets that have not come yet, with `covers` set to 0.
    pub(crate) fn pending(&self) -> impl Iterator<Item = TicketNumber> {
        let tickets = self.tickets.slots.iter().enumerate();
        tickets.filter_map(|(index, ticket)| {
            let serial = ticket.as_ref()?.serial;
            Some(TicketNumber { ticket: index, serial, covers: 0 })
        })
    }

    /// Handles a ticket that has come: returns the message whose turn it is, and one that has to
    /// make room. (The second is present only if the ticket has come before the arrival of its
    /// message was noted.)
    pub(crate) fn take(&mut self, number: TicketNumber, now: Moment) -> (Option<T>, Option<T>) {
        self.reached = self.reached.max(number.covers);
        let own = self.tickets.take(number.ticket).entry;
        let late = own.and_then(|own| self.stand(own, now));
        if let Some(own) = own {
            let entry = self.entries.get_mut(own);
            entry.ticket = None;
            self.lanes[entry.lane].due += 1;
        }
        let chosen = self.choose();
        if let (Some(own), Some((lane, at))) = (own, chosen) {
            self.exchange(own, self.lanes[lane].order[at]);
        }
        let taken = chosen.map(|(lane, at)| self.remove(lane, at));
        (taken, late.and_then(|lane| self.shorten(lane)))
    }

    /// Exchanges tickets: the ticket of one message has come and calls another one, so the first
    /// gets the other one's ticket.
    fn exchange(&mut self, own: usize, taken: usize) {
        let Some(ticket) = self.entries.get_mut(taken).ticket.take() else { return };
        self.tickets.get_mut(ticket).entry = Some(own);
        let (from, to) = (self.entries.get(own).lane, self.entries.get(taken).lane);
        self.entries.get_mut(own).ticket = Some(ticket);
        self.lanes[from].due -= 1;
        self.lanes[to].due += 1;
    }

    /// Returns the message whose turn it is: of the earliest era, and within it of the lane whose
    /// turn it is.
    fn choose(&mut self) -> Option<(usize, usize)> {
        let ready = (0..self.lanes.len()).filter_map(|lane| self.ready(lane));
        let earliest = ready.map(|(_, era)| era).min()?;
        let is_ready = |lane: usize| self.ready(lane).is_some_and(|(_, era)| era == earliest);
        let favoured = self.turn.favours().filter(|lane| is_ready(*lane));
        let lane = favoured.or_else(|| (0..self.lanes.len()).find(|lane| is_ready(*lane)))?;
        self.turn.pass();
        self.ready(lane).map(|(at, _)| (lane, at))
    }

    /// Returns the first message of a lane that may be taken now: its index, and its era.
    fn ready(&self, lane: usize) -> Option<(usize, u64)> {
        let LaneQueue { order, due, .. } = &self.lanes[lane];
        for (at, entry) in order.iter().enumerate() {
            let entry = self.entries.get(*entry);
            if entry.ticket.is_none() || entry.made.begun <= self.reached {
                return entry.era.map(|era| (at, era));
            }
            // Behind a message that must wait there may be one that need not, but only if it is
            // due.
            if *due == 0 {
                return None;
            }
        }
        None
    }

    fn remove(&mut self, lane: usize, at: usize) -> T {
        let entry = self.lanes[lane].order.remove(at).expect("the caller has found it there");
        let LaneEntry { item, ticket, .. } = self.entries.take(entry);
        match ticket {
            Some(ticket) => self.tickets.get_mut(ticket).entry = None,
            None => self.lanes[lane].due -= 1,
        }
        item
    }
}

/// Chooses the lane whose turn it is: the first, except that every `every`th message comes from
/// another lane, in rotation.
struct LaneTurn {
    lanes: usize,
    every: u32,
    /// How many messages were taken since the last such turn.
    taken: u32,
    next: usize,
}

impl LaneTurn {
    fn new(lanes: usize, every: u32) -> Self {
        Self { lanes, every, taken: 0, next: lanes - 1 }
    }

    /// Returns the lane whose turn it is out of order.
    fn favours(&self) -> Option<usize> {
        (self.lanes > 1 && self.taken + 1 >= self.every).then_some(self.next)
    }

    fn pass(&mut self) {
        if self.favours().is_none() {
            self.taken += u32::from(self.lanes > 1);
            return;
        }
        self.taken = 0;
        self.next = if self.next == 1 { self.lanes - 1 } else { self.next - 1 };
    }
}

/// A collection whose items keep their index until they are taken.
struct StableSlots<T> {
    slots: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Default for StableSlots<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> StableSlots<T> {
    fn put(&mut self, thing: T) -> usize {
        if let Some(at) = self.free.pop() {
            self.slots[at] = Some(thing);
            return at;
        }
        self.slots.push(Some(thing));
        self.slots.len() - 1
    }

    fn find(&self, at: usize) -> Option<&T> {
        self.slots[at].as_ref()
    }

    fn get(&self, at: usize) -> &T {
        self.slots[at].as_ref().expect(PRESENT)
    }

    fn get_mut(&mut self, at: usize) -> &mut T {
        self.slots[at].as_mut().expect(PRESENT)
    }

    fn take(&mut self, at: usize) -> T {
        self.free.push(at);
        self.slots[at].take().expect(PRESENT)
    }
}

const PRESENT: &str = "an index is known only while its item is present";
