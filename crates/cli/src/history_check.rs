//! Whether the history of an entity is as it was written: a check that reads each event once, and
//! keeps none.
//!
//! Each event has a hash over it and those before it. If one does not fit, either the event was
//! changed, or what is stored as its hash: the next hash tells which, so a finding waits for it.

use coact_persist::{EntitySummary, EventHash, Position, RowChecksum, Seq, Snapshot, StoredEvent};

use crate::finding::{Finding, FindingCode};

/// The largest position and epoch: stores keep them as integers with a sign.
const LARGEST: u64 = i64::MAX.cast_unsigned();

/// The check of one entity.
pub struct HashChain<'a> {
    summary: &'a EntitySummary,
    snapshots: &'a [Snapshot],
    last: Option<LastEvent>,
    findings: Vec<Finding>,
}

/// The last event that was seen.
struct LastEvent {
    seq: Seq,
    /// Its commit, or that of an event before it if its own cannot be.
    position: Position,
    /// What is stored as its hash.
    stored: EventHash,
    /// What it should be, if that is something else.
    other: Option<EventHash>,
}

impl<'a> HashChain<'a> {
    /// That of an entity, before its events.
    pub fn new(summary: &'a EntitySummary, snapshots: &'a [Snapshot]) -> Self {
        Self { summary, snapshots, last: None, findings: Vec::new() }
    }

    /// Checks one more event.
    pub fn add(&mut self, event: &StoredEvent) {
        let position = self.check_position(event);
        let with = |hash: EventHash| hash.with(event.seq, &event.event);
        let other = match self.last.take() {
            None => self.begin(event),
            Some(last) => {
                if event.seq == last.seq.next() {
                    let is_next = |hash| with(hash) == event.hash;
                    let is_hash = last.other.is_some_and(is_next);
                    self.tell_hash(&last, is_hash);
                    // What was changed is told once: behind it, it goes on with what is stored.
                    (!is_hash && !is_next(last.stored)).then(|| with(last.stored))
                } else {
                    self.tell_hash(&last, false);
                    self.missing(last.seq.next(), event.seq);
                    // Nothing tells what its hash should be.
                    None
                }
            }
        };
        self.compare_snapshots(event.seq, event.hash, other);
        let (seq, stored) = (event.seq, event.hash);
        self.last = Some(LastEvent { seq, position, stored, other });
    }

    /// Compares an event's commit with the one before. Returns the latest that can be.
    fn check_position(&mut self, event: &StoredEvent) -> Position {
        let before = self.last.as_ref().map_or(Position::ZERO, |last| last.position);
        let (seq, now) = (event.seq, event.position);
        // The first commit is 1.
        if !(1..=LARGEST).contains(&now.get()) {
            let what = format!("event {seq} is of commit {now}, which cannot be");
            self.find(seq, FindingCode::Position, what);
            return before;
        }
        if now < before {
            let what = format!("event {seq} is of commit {now}, but one before it of {before}");
            self.find(seq, FindingCode::PositionOrder, what);
        }
        now
    }

    /// The first event: what its hash should be, if that is something else than what is stored.
    fn begin(&mut self, event: &StoredEvent) -> Option<EventHash> {
        let before = Seq::new(event.seq.get().saturating_sub(1));
        let base = if before == Seq::ZERO {
            Some(EventHash::of(&self.summary.id))
        } else {
            if !self.snapshots.iter().any(|snapshot| snapshot.seq >= before) {
                self.missing(Seq::new(1), event.seq);
            }
            self.snapshots.iter().find(|snapshot| snapshot.seq == before).map(|it| it.hash)
        };
        let expected = base?.with(event.seq, &event.event);
        (expected != event.hash).then_some(expected)
    }

    /// Ends with the entity's row.
    pub fn end(mut self) -> Vec<Finding> {
        let EntitySummary { last, hash, .. } = self.summary;
        match self.last.take() {
            None => self.end_without_events(),
            Some(end) => {
                self.tell_hash(&end, end.seq == *last && end.other == Some(*hash));
                if end.seq < *last {
                    self.missing(end.seq.next(), last.next());
                } else if end.seq > *last {
                    let what = format!(
                        "its row says that event {last} is the last, but it has event {}",
                        end.seq
                    );
                    self.find(end.seq, FindingCode::EntityRow, what);
                } else if *hash != end.stored && Some(*hash) != end.other {
                    let what = format!(
                        "its row has hash {hash}, but its last event, {last}, has {}",
                        end.stored
                    );
                    self.find(end.seq, FindingCode::EntityRow, what);
                }
            }
        }
        self.check_snapshots_behind();
        self.check_sums();
        self.check_epoch();
        self.findings
    }

    /// All were trimmed, or it has a state instead.
    fn end_without_events(&mut self) {
        let EntitySummary { last, hash, .. } = self.summary;
        match self.snapshots.iter().find(|snapshot| snapshot.seq == *last) {
            None if *last > Seq::ZERO => self.missing(Seq::new(1), last.next()),
            Some(snapshot) if snapshot.hash != *hash => {
                let what = format!(
                    "snapshot {last} has hash {}, but the entity has {hash}",
                    snapshot.hash
                );
                self.find(*last, FindingCode::StateHash, what);
            }
            _ => {}
        }
    }

    fn compare_snapshots(&mut self, seq: Seq, stored: EventHash, other: Option<EventHash>) {
        for snapshot in self.snapshots.iter().filter(|snapshot| snapshot.seq == seq) {
            if snapshot.hash != stored && Some(snapshot.hash) != other {
                let what = format!(
                    "snapshot {seq} has hash {}, but event {seq} has {stored}",
                    snapshot.hash
                );
                self.find(seq, FindingCode::SnapshotHash, what);
            }
        }
    }

    fn check_snapshots_behind(&mut self) {
        let last = self.summary.last;
        for snapshot in self.snapshots.iter().filter(|snapshot| snapshot.seq > last) {
            let what =
                format!("snapshot {} is ahead of the entity's last event, {last}", snapshot.seq);
            self.find(snapshot.seq, FindingCode::SnapshotAhead, what);
        }
    }

    /// What the snapshots say. (Of one that does not fit its event, that was told.)
    fn check_sums(&mut self) {
        let codes = [FindingCode::SnapshotHash, FindingCode::StateHash, FindingCode::SnapshotAhead];
        let is_told = |finding: &Finding, seq| {
            codes.contains(&finding.code) && finding.seq == Some(Seq::get(seq))
        };
        for snapshot in self.snapshots {
            if self.findings.iter().any(|finding| is_told(finding, snapshot.seq)) {
                continue;
            }
            let Snapshot { seq, hash, ref state, sum: Some(sum) } = *snapshot else { continue };
            let right = RowChecksum::of_snapshot(seq, hash, state);
            if sum != right {
                let what = format!(
                    "snapshot {seq} was changed or moved (its check sum is {sum}, and should be {right})"
                );
                self.find(seq, FindingCode::SnapshotSum, what);
            }
        }
    }

    /// Whether some claim can have left the epoch. An entity that was never claimed may have notes
    /// from others, but no events.
    fn check_epoch(&mut self) {
        let EntitySummary { ref id, epoch, last, .. } = *self.summary;
        let what = match epoch.get() {
            0 if last > Seq::ZERO => {
                "its epoch is 0, as if it was never claimed, but it has events or a state"
                    .to_owned()
            }
            0..=LARGEST => return,
            epoch => format!("its epoch is {epoch}, more than claims can count"),
        };
        self.findings.push(Finding::of(id, None, FindingCode::Epoch, what));
    }

    fn tell_hash(&mut self, last: &LastEvent, is_hash: bool) {
        let Some(expected) = last.other else { return };
        let stored = last.stored;
        if is_hash {
            let what = format!(
                "the hash of event {} is {stored}, and should be {expected}, while its content is sound",
                last.seq
            );
            self.find(last.seq, FindingCode::HashField, what);
        } else {
            let what = format!(
                "event {} was changed or moved (its hash is {stored}, and should be {expected})",
                last.seq
            );
            self.find(last.seq, FindingCode::EventHash, what);
        }
    }

    /// Events from the one to before the other.
    fn missing(&mut self, from: Seq, behind: Seq) {
        let what = match behind.get() - from.get() {
            1 => format!("event {from} is missing"),
            _ => format!("events {from} to {} are missing", behind.get() - 1),
        };
        self.find(from, FindingCode::Missing, what);
    }

    fn find(&mut self, seq: Seq, code: FindingCode, what: String) {
        self.findings.push(Finding::of(&self.summary.id, Some(seq), code, what));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coact_persist::{EntityId, Epoch, Event, Tags};

    struct History {
        summary: EntitySummary,
        events: Vec<StoredEvent>,
        snapshots: Vec<Snapshot>,
    }

    fn history() -> History {
        let id = EntityId::new("kind", "key");
        let (mut hash, mut events) = (EventHash::of(&id), Vec::new());
        for n in 1..=5 {
            let (seq, event) = (Seq::new(n), Event::new("e", 1, vec![n as u8]));
            hash = hash.with(seq, &event);
            let (position, tags) = (Position::new(2 * n), Tags::NONE);
            events.push(StoredEvent { seq, event, hash, position, tags });
        }
        let state = Event::new("s", 1, []);
        let snapshots = [4, 2]
            .map(|n: usize| Snapshot::new(Seq::new(n as u64), events[n - 1].hash, state.clone()));
        let summary = EntitySummary { id, epoch: Epoch::new(1), last: Seq::new(5), hash };
        History { summary, events, snapshots: snapshots.into() }
    }

    /// What is found after a change, as code and event.
    fn found(change: impl FnOnce(&mut History)) -> Vec<(FindingCode, u64)> {
        let mut history = history();
        change(&mut history);
        let mut chain = HashChain::new(&history.summary, &history.snapshots);
        history.events.iter().for_each(|event| chain.add(event));
        chain.end().iter().map(|it| (it.code, it.seq.expect("it has one"))).collect()
    }

    fn other() -> EventHash {
        EventHash::from_stored(1)
    }

    #[test]
    fn what_is_sound_is_found_sound() {
        assert_eq!(found(|_| {}), []);
        assert_eq!(found(|it| it.snapshots.clear()), []);
        // Trimmed: up to either snapshot, between them, and all.
        for trimmed in [2, 3, 4] {
            assert_eq!(found(|it| drop(it.events.drain(..trimmed))), [], "{trimmed}");
        }
        let all_trimmed = |it: &mut History| {
            it.snapshots[0] = Snapshot::new(Seq::new(5), it.summary.hash, Event::new("s", 1, []));
            it.events.clear();
        };
        assert_eq!(found(all_trimmed), []);
    }

    #[test]
    fn each_event_that_was_changed_is_found_alone() {
        for n in 1..=5 {
            let content = |it: &mut History| it.events[n - 1].event.payload = [99].into();
            assert_eq!(found(content), [(FindingCode::EventHash, n as u64)]);
            let name = |it: &mut History| it.events[n - 1].event.name = "f".into();
            assert_eq!(found(name), [(FindingCode::EventHash, n as u64)]);
            let version = |it: &mut History| it.events[n - 1].event.version = 2;
            assert_eq!(found(version), [(FindingCode::EventHash, n as u64)]);
            let hash = |it: &mut History| it.events[n - 1].hash = other();
            assert_eq!(found(hash), [(FindingCode::HashField, n as u64)]);
        }
    }

    #[test]
    fn changes_of_neighbours_are_found_both() {
        let both = |it: &mut History| {
            it.events[1].event.payload = [99].into();
            it.events[2].event.payload = [98].into();
        };
        assert_eq!(found(both), [(FindingCode::EventHash, 2), (FindingCode::EventHash, 3)]);
        let behind = |it: &mut History| {
            it.events.drain(..2);
            it.events[0].event.payload = [99].into();
        };
        assert_eq!(found(behind), [(FindingCode::EventHash, 3)]);
    }

    #[test]
    fn gaps_are_found() {
        for n in 1..=5 {
            let gone = |it: &mut History| {
                it.snapshots.clear();
                it.events.remove(n - 1);
            };
            assert_eq!(found(gone), [(FindingCode::Missing, n as u64)]);
        }
        assert_eq!(found(|it| drop(it.events.drain(1..3))), [(FindingCode::Missing, 2)]);
        assert_eq!(found(|it| it.events.truncate(2)), [(FindingCode::Missing, 3)]);
        assert_eq!(found(|it| it.events.clear()), [(FindingCode::Missing, 1)]);
    }

    #[test]
    fn rows_and_snapshots_that_do_not_fit_are_found() {
        assert_eq!(found(|it| it.summary.hash = other()), [(FindingCode::EntityRow, 5)]);
        assert_eq!(found(|it| it.summary.last = Seq::new(4)), [(FindingCode::EntityRow, 5)]);
        assert_eq!(found(|it| it.summary.last = Seq::new(7)), [(FindingCode::Missing, 6)]);
        assert_eq!(found(|it| it.snapshots[0].hash = other()), [(FindingCode::SnapshotHash, 4)]);
        assert_eq!(
            found(|it| it.snapshots[0].seq = Seq::new(9)),
            [(FindingCode::SnapshotAhead, 9)]
        );
        assert_eq!(found(|it| it.snapshots[0].seq = Seq::new(3)), [(FindingCode::SnapshotHash, 3)]);
        assert_eq!(
            found(|it| it.events[3].position = Position::new(1)),
            [(FindingCode::PositionOrder, 4)]
        );
        let state = |it: &mut History| {
            it.events.clear();
            it.snapshots.truncate(1);
            it.snapshots[0].seq = Seq::new(5);
        };
        assert_eq!(found(state), [(FindingCode::StateHash, 5)]);
    }

    #[test]
    fn an_event_of_another_entity_is_found() {
        let moved = |it: &mut History| it.summary.id = EntityId::new("kind", "other");
        assert_eq!(found(moved), [(FindingCode::EventHash, 1)]);
    }
}
