//! The word of a cown's header that says where the cown is at home and what condition it is in, and the ways in which
//! it changes.

use coact_sync::shim::atomic::{AtomicU32, End, Ordering};

use crate::ids::{Birthplace, RuntimeId};
use crate::task::RunContext;

/// Where the flags begin in the word.
const SHIFT: u32 = 16;
/// The rest of it.
const HOME: u32 = (1 << SHIFT) - 1;

/// Flags as they lie in the word.
const fn in_word(flags: u16) -> u32 {
    (flags as u32) << SHIFT
}

/// The condition of a cown: bits, each with an owner and a meaning of its own; in the low half of the same word the
/// cown's home, so that one look tells whether a behaviour may go on there with nothing more ado.
pub(crate) struct Flags {
    word: AtomicU32,
    /// In a model the bits that senders look at have a word of their own. loom tries every value that a load may see, and
    /// those of the others change often: one model took an hour in place of seconds. Two words order less than one, so
    /// nothing that can happen is left out.
    #[cfg(loom)]
    for_senders: AtomicU32,
}

const _: () = assert!(RunContext::REFUSAL == in_word(Flags::POISONED | Flags::CLOSED));
const _: () = assert!(Birthplace::PINNED == in_word(Flags::PINNED));

impl Flags {
    /// A behaviour panicked while it held the cown exclusively.
    pub(crate) const POISONED: u16 = 1;
    /// The state is gone for good: behaviours are refused, but for those that come
    /// [unchecked](crate::interrupt).
    pub(crate) const CLOSED: u16 = 1 << 1;
    /// A [`Guard`](crate::queue::interruptible::Guard) lies in front of the header. Constant.
    pub(crate) const INTERRUPTIBLE: u16 = 1 << 2;
    /// The state wants to be interrupted before the next behaviour.
    pub(crate) const INTERRUPT: u16 = 1 << 3;
    /// The token lies in the guard: nothing is granted until the next interrupt.
    pub(crate) const PARKED: u16 = 1 << 4;
    /// Of an interruptible cown, for the layer above: something that a sender must look at.
    pub(crate) const SLOW_PATH: u16 = 1 << 5;
    /// Of any other: its block is no longer than it must be. Constant.
    pub(crate) const PACKED: u16 = Self::SLOW_PATH;
    /// The state is touched by one thread only, that of its home's pump. Constant, as is the home.
    pub(crate) const PINNED: u16 = 1 << 6;
    /// The cown is a member of a [group](crate::group). Constant. On a header that has a queue, which
    /// a member's has not, it says that this is the group's leader.
    pub(crate) const GROUPED: u16 = 1 << 7;
    /// The queue once was one of several that a behaviour was appended to, or of one that reads. Never taken back. Whose
    /// request may stand behind such a one may not miss it: if one came before, his exchange of the tail has acquired
    /// that one's, and with it the flag.
    pub(crate) const STEPPED: u16 = 1 << 8;
    /// Of a member of a group, which has no queue: it stands in its leader's line. The token holder's.
    pub(crate) const IN_LINE: u16 = Self::STEPPED;
    /// Many waited for the cown when its worker last looked, and nobody has found its queue empty since. A hint for
    /// those who send to it: `sched/README.md`, "Giving way".
    pub(crate) const OVERLOADED: u16 = 1 << 9;

    /// The cown may have been read: as long as this is not set, the count of readers is 0. Never taken back. Set by
    /// the token holder, before it first raises the count.
    pub(crate) const READ: u16 = 1 << 10;

    /// What who sends looks at.
    #[cfg(loom)]
    const FOR_SENDERS: u16 = Self::STEPPED | Self::OVERLOADED;

    pub(crate) fn new(home: RuntimeId, flags: u16) -> Self {
        #[cfg(loom)]
        let (flags, for_senders) = (flags & !Self::FOR_SENDERS, flags & Self::FOR_SENDERS);
        Self {
            word: AtomicU32::new(home.extended() | in_word(flags)),
            #[cfg(loom)]
            for_senders: AtomicU32::new(in_word(for_senders)),
        }
    }

    /// Those of a fresh cown. The flags are constant ones.
    #[inline]
    pub(super) fn of_fresh(place: Birthplace, flags: u16) -> Self {
        Self {
            word: AtomicU32::new(place.word() | in_word(flags)),
            #[cfg(loom)]
            for_senders: AtomicU32::new(0),
        }
    }

    /// Nobody reaches the cown any more; a model checks that.
    #[inline]
    pub(super) fn end(&mut self) {
        self.word.end();
        #[cfg(loom)]
        self.for_senders.end();
    }

    /// Which of these are set. Exact for a behaviour that holds the cown.
    #[inline]
    pub(crate) fn get(&self, of: u16) -> u16 {
        // ORDERING: Relaxed. A holder is ordered after the one that set a flag by the queue itself
        // (release of `tail` or `next`, acquire by the next holder); for others it is a hint.
        #[cfg(loom)]
        if of & Self::FOR_SENDERS != 0 && of & !Self::FOR_SENDERS != 0 {
            return self.get(of & Self::FOR_SENDERS) | self.get(of & !Self::FOR_SENDERS);
        }
        (self.word_of(of).load(Ordering::Relaxed) >> SHIFT) as u16 & of
    }

    /// Whether one of these is set, at least. As [`get`](Self::get).
    #[inline]
    pub(crate) fn has(&self, one_of: u16) -> bool {
        self.get(one_of) != 0
    }

    /// The word that has these bits, which are all for senders, or none of them.
    #[inline]
    fn word_of(&self, bits: u16) -> &AtomicU32 {
        #[cfg(loom)]
        if bits & Self::FOR_SENDERS != 0 {
            return &self.for_senders;
        }
        let _ = bits;
        &self.word
    }

    /// Where the cown is at home. Exact for a behaviour that holds the cown.
    #[inline]
    pub(super) fn home(&self) -> RuntimeId {
        // ORDERING: Relaxed, as in `get`.
        RuntimeId::from_raw(self.word.load(Ordering::Relaxed) as u16)
    }

    /// The home, unless the cown is in a group: then it is that of the group.
    #[inline]
    pub(super) fn home_of_its_own(&self) -> Option<RuntimeId> {
        // ORDERING: Relaxed, as in `get`.
        let word = self.word.load(Ordering::Relaxed);
        (word & in_word(Self::GROUPED) == 0).then_some(RuntimeId::from_raw(word as u16))
    }

    /// Makes another runtime the home. For a behaviour that holds the cown.
    pub(super) fn set_home(&self, home: RuntimeId) {
        let moved = |word: u32| Some(word & !HOME | home.extended());
        // ORDERING: Relaxed, both, as in `get`.
        let _ = self.word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, moved);
    }

    /// Whether this is the home, and none of these flags is set. Exact for a behaviour that holds the cown.
    #[inline(always)]
    pub(crate) fn is_plain(&self, home: RuntimeId, but_for: u16) -> bool {
        #[cfg(loom)]
        if but_for & Self::FOR_SENDERS != 0 {
            let rest = but_for & !Self::FOR_SENDERS;
            return self.get(but_for & Self::FOR_SENDERS) == 0 && self.is_plain(home, rest);
        }
        // ORDERING: Relaxed, as in `get`.
        let word = self.word.load(Ordering::Relaxed) & (in_word(but_for) | HOME);
        word == home.extended()
    }

    /// Whether a behaviour is to be refused, or at least to be run with care: the state is poisoned or gone, or the
    /// context says so.
    #[inline(always)]
    pub(crate) fn may_be_refused(&self, context: &RunContext) -> bool {
        debug_assert!(
            self.home() != RuntimeId::NONE,
            "a context that refuses all looks for the home"
        );
        // ORDERING: Relaxed, as in `get`.
        self.word.load(Ordering::Relaxed) & context.refusal() != 0
    }

    /// The same of a behaviour on this cown and another one.
    #[inline(always)]
    pub(crate) fn may_be_refused_with(&self, other: &Self, context: &RunContext) -> bool {
        // ORDERING: Relaxed, both, as in `get`.
        let words = self.word.load(Ordering::Relaxed) | other.word.load(Ordering::Relaxed);
        words & context.refusal() != 0
    }

    /// Sets or clears a flag that is not part of a protocol.
    pub(super) fn set(&self, flag: u16, on: bool) {
        // ORDERING: Relaxed, both, as in `get`.
        let word = self.word_of(flag);
        if on {
            word.fetch_or(in_word(flag), Ordering::Relaxed);
        } else {
            word.fetch_and(!in_word(flag), Ordering::Relaxed);
        }
    }

    /// Sets INTERRUPT. Returns what was set before of INTERRUPT and PARKED: who finds PARKED alone has the token.
    pub(crate) fn interrupt(&self) -> u16 {
        // ORDERING: AcqRel. Release publishes what the caller did to whoever clears the bit (`begin_interrupt`).
        // Acquire pairs with the release in `park`: the token, the state. Release also for `interrupt::is_ungated`.
        let before = self.word.fetch_or(in_word(Self::INTERRUPT), Ordering::AcqRel);
        (before >> SHIFT) as u16 & (Self::INTERRUPT | Self::PARKED)
    }

    /// Sets INTERRUPT for the caller's own later look. It has the token.
    pub(crate) fn remember_interrupt(&self) {
        // ORDERING: Relaxed. For the holder itself. (The next interrupt may find the bit, and leaves the rest to
        // it: what that one brings is published by other means, and taken by whoever clears the bit.)
        self.word.fetch_or(in_word(Self::INTERRUPT), Ordering::Relaxed);
    }

    /// Sets INTERRUPT of a cown that nobody else knows.
    pub(crate) fn begin_interrupted(&self) {
        // ORDERING: Relaxed, both. Published with the first handle.
        self.word
            .store(self.word.load(Ordering::Relaxed) | in_word(Self::INTERRUPT), Ordering::Relaxed);
    }

    /// Clears INTERRUPT and PARKED: whoever interrupts from here on is interrupted once more.
    pub(crate) fn begin_interrupt(&self) {
        // ORDERING: AcqRel. Acquire pairs with the release in `interrupt`. (Release: the next interrupt may find the bits as
        // this leaves them, and continues from here.)
        self.word.fetch_and(!in_word(Self::INTERRUPT | Self::PARKED), Ordering::AcqRel);
    }

    /// Leaves the token with the word, unless there is an interrupt or the cown is closed. Returns whether it does.
    pub(crate) fn park(&self) -> bool {
        let quiet = |word: u32| {
            let is_quiet = word & in_word(Self::INTERRUPT | Self::CLOSED) == 0;
            is_quiet.then_some(word | in_word(Self::PARKED))
        };
        // ORDERING: Release publishes the state, and the head, to whoever takes the token (acquire in
        // `interrupt` and `unpark`). Relaxed where nothing is given away.
        self.word.fetch_update(Ordering::Release, Ordering::Relaxed, quiet).is_ok()
    }

    /// Takes the token that lies there, unless an interrupt has come, which takes it. Returns whether it does.
    pub(crate) fn unpark(&self) -> bool {
        let parked = |word: u32| {
            let is_parked = word & in_word(Self::PARKED | Self::INTERRUPT) == in_word(Self::PARKED);
            is_parked.then_some(word & !in_word(Self::PARKED))
        };
        // ORDERING: Acquire pairs with the release in `park`: the token, and with it the head.
        self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, parked).is_ok()
    }

    /// Marks a member's gate as shut, unless it is closed. Returns whether it does. The token holder's.
    pub(crate) fn shut(&self) -> bool {
        let unless_closed =
            |word| (word & in_word(Self::CLOSED) == 0).then_some(word | in_word(Self::PARKED));
        // ORDERING: AcqRel, as in `close`.
        self.word.fetch_update(Ordering::AcqRel, Ordering::Relaxed, unless_closed).is_ok()
    }

    /// Marks it as open. The token holder's.
    pub(crate) fn open(&self) {
        self.set(Self::PARKED, false);
    }

    /// Sets CLOSED. Returns what was set before of CLOSED and PARKED.
    pub(crate) fn close(&self) -> u16 {
        // ORDERING: AcqRel. Whoever shuts the gate changes the same word, of the member if it is in a group: one of
        // us sees the other.
        let before = self.word.fetch_or(in_word(Self::CLOSED), Ordering::AcqRel);
        (before >> SHIFT) as u16 & (Self::CLOSED | Self::PARKED)
    }

    /// Sets STEPPED, once. The caller is about to put its request into the queue.
    #[inline]
    pub(super) fn note_step(&self) {
        if self.get(Self::STEPPED) == 0 {
            // ORDERING: Relaxed. Published by the exchange of the tail that follows. So is a bit that was found set: who
            // acquires that exchange reads the word after us, and what it reads is no older than what we have read.
            self.set(Self::STEPPED, true);
        }
    }

    /// Sets READ, if it is not. The token holder's, who is about to let a reader in.
    pub(crate) fn note_reader(&self) {
        // ORDERING: Relaxed, as in `get`.
        if self.get(Self::READ) == 0 {
            self.set(Self::READ, true);
        }
    }

    /// Sets OVERLOADED, if it is not.
    pub(crate) fn note_overload(&self) {
        if self.get(Self::OVERLOADED) == 0 {
            self.set(Self::OVERLOADED, true);
        }
    }

    /// Clears it, if it is set.
    pub(crate) fn end_overload(&self) {
        if self.get(Self::OVERLOADED) != 0 {
            self.set(Self::OVERLOADED, false);
        }
    }
}
