//! When snapshots are stored, and how.

use coact_persist::{Event, Format, FormatError, Seq, read, write};

/// When snapshots of an entity are stored, and how a state becomes one. A store keeps the two
/// latest.
///
/// Besides, a decision can [have one stored](crate::Durable::snapshot).
#[derive(Debug)]
pub struct Snapshots<E> {
    every: Option<u64>,
    every_bytes: Option<u64>,
    trims: bool,
    pub(crate) write: fn(&E) -> Result<Event, FormatError>,
    pub(crate) read: fn(&Event) -> Result<E, FormatError>,
}

impl<E: Format> Snapshots<E> {
    /// One each time that there are `events` more, of a state that is stored as it is.
    ///
    /// # Panics
    /// If it is 0.
    #[must_use]
    pub fn every(events: u64) -> Self {
        Self::by(write, read).and_every(events)
    }

    /// One each time that there are events with `bytes` more bytes, of a state that is stored as it
    /// is.
    ///
    /// # Panics
    /// If it is 0.
    #[must_use]
    pub fn every_bytes(bytes: u64) -> Self {
        Self::by(write, read).and_every_bytes(bytes)
    }
}

impl<E> Snapshots<E> {
    /// None but those that decisions want, by functions that write a state and read it again.
    #[must_use]
    pub fn by(
        write: fn(&E) -> Result<Event, FormatError>,
        read: fn(&Event) -> Result<E, FormatError>,
    ) -> Self {
        Self { every: None, every_bytes: None, trims: false, write, read }
    }

    /// Also one each time that there are `events` more.
    ///
    /// # Panics
    /// If it is 0.
    #[must_use]
    pub fn and_every(self, events: u64) -> Self {
        assert!(events > 0, "a snapshot with every 0 events");
        Self { every: Some(events), ..self }
    }

    /// Also one each time that there are events with `bytes` more bytes.
    ///
    /// # Panics
    /// If it is 0.
    #[must_use]
    pub fn and_every_bytes(self, bytes: u64) -> Self {
        assert!(bytes > 0, "a snapshot with every 0 bytes");
        Self { every_bytes: Some(bytes), ..self }
    }

    /// Removes events which both of the two latest snapshots contain. They are missing
    /// from [logs](crate::Journal::log) then, for those who have not read them yet.
    #[must_use]
    pub fn trimming(self) -> Self {
        Self { trims: true, ..self }
    }

    /// Whether one is due, given the events and their bytes since the last.
    pub(crate) fn is_due(&self, events: u64, bytes: u64) -> bool {
        let is_due = |most: Option<u64>, now| most.is_some_and(|most| now >= most);
        is_due(self.every, events) || is_due(self.every_bytes, bytes)
    }

    /// Up to which event they are removed with one that follows another.
    pub(crate) fn trims(&self, before: Seq) -> Option<Seq> {
        (self.trims && before > Seq::ZERO).then_some(before)
    }
}
