//! The state word of a cown's header, of type `Flags`: the cown's home and its flags, with the
//! transitions of both.

use coact_sync::shim::atomic::{AtomicEnd, AtomicU32, Ordering};

use crate::runtime_ids::{Birthplace, RuntimeId};
use crate::task::RunContext;

/// The position of the flags in the word.
const SHIFT: u32 = 16;
/// The other bits: the home.
const HOME: u32 = (1 << SHIFT) - 1;

/// Flags at their position in the word.
const fn in_word(flags: u16) -> u32 {
    (flags as u32) << SHIFT
}

/// The flags of a cown, each with its own owner and meaning, and in the low half of the same word
/// the cown's home: one load tells whether a behaviour may proceed there without further checks.
pub(crate) struct Flags {
    word: AtomicU32,
    /// In a model the bits that senders read have a word of their own. loom tries every value that
    /// a load may see, and the other bits change often: one model took an hour instead of seconds.
    /// Two words order less than one, so no behaviour of the single word is lost.
    #[cfg(loom)]
    for_senders: AtomicU32,
}

/// What an [interrupt](Flags::interrupt) finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InterruptOutcome {
    /// An earlier interrupt is pending: the call that follows it serves this one as well.
    Pending,
    /// The token was parked; now the caller has it.
    TookToken,
    /// Neither: unless a request comes to the head of the queue anyway, the caller must append one.
    NeedsRequest,
}

/// What [closing](Flags::close) a cown finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CloseOutcome {
    /// The cown was closed before.
    Again,
    /// Its gate is open.
    GateOpen,
    /// Its gate is shut, and opens with the next interrupt.
    GateShut,
}

const _: () = assert!(RunContext::REFUSAL == in_word(Flags::POISONED | Flags::CLOSED));
const _: () = assert!(RunContext::WATCHED & !RunContext::REFUSAL > in_word(Flags::READ));
const _: () = assert!(Birthplace::PINNED == in_word(Flags::PINNED));

impl Flags {
    /// A behaviour panicked while it held the cown exclusively.
    pub(crate) const POISONED: u16 = 1;
    /// The state is gone for good: behaviours are refused, except [unchecked](crate::interrupt)
    /// ones.
    pub(crate) const CLOSED: u16 = 1 << 1;
    /// An [`InterruptGuard`](crate::queue::interrupt_header::InterruptGuard) precedes the header.
    /// Constant.
    pub(crate) const INTERRUPTIBLE: u16 = 1 << 2;
    /// The state must be interrupted before the next behaviour.
    pub(crate) const INTERRUPT: u16 = 1 << 3;
    /// The token is in the guard: nothing is granted until the next interrupt.
    pub(crate) const PARKED: u16 = 1 << 4;
    /// In an interruptible cown, for the layer above: senders must take the slow path.
    pub(crate) const SLOW_PATH: u16 = 1 << 5;
    /// In any other cown: its block has the minimal length. Constant.
    pub(crate) const PACKED: u16 = Self::SLOW_PATH;
    /// Only one thread accesses the state, that of its home's pump. Constant, as is the home.
    pub(crate) const PINNED: u16 = 1 << 6;
    /// The cown is a member of a [group](crate::group). Constant. On a header with a queue, which a
    /// member does not have, it says that this is the group's leader.
    pub(crate) const GROUPED: u16 = 1 << 7;
    /// A step has been made over this queue: a behaviour was appended to it together with other
    /// queues, or for reading. Never cleared. A single that may be behind a step cannot miss the
    /// flag: its exchange of the tail has acquired the exchange of every earlier step, and with
    /// that the flag.
    pub(crate) const STEPPED: u16 = 1 << 8;
    /// In a member of a group, which has no queue: it is in its leader's line. Owned by the token
    /// holder.
    pub(crate) const IN_LINE: u16 = Self::STEPPED;
    /// Many requests were waiting for the cown when its worker last counted, and its queue has not
    /// been found empty since. A hint for senders: see `sched/README.md`, "Giving way".
    pub(crate) const OVERLOADED: u16 = 1 << 9;

    /// The cown may have been read: until this is set, the count of readers is 0. Never cleared.
    /// The token holder sets it before it first raises the count.
    pub(crate) const READ: u16 = 1 << 10;

    /// An appender has waited for its place in this queue for long: more threads append to it than
    /// have processors, and they wait in front of it. A hint: see
    /// [`turnstile`](super::turnstile).
    pub(crate) const CROWDED: u16 = 1 << 11;
    /// In an interruptible cown: its state may say on which worker messages are handled. Never
    /// cleared.
    pub(crate) const PLACED: u16 = 1 << 12;

    /// The bits that senders read.
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

    /// The flags of a new cown; only constant ones.
    #[inline]
    pub(super) fn of_fresh(place: Birthplace, flags: u16) -> Self {
        Self {
            word: AtomicU32::new(place.word() | in_word(flags)),
            #[cfg(loom)]
            for_senders: AtomicU32::new(0),
        }
    }

    /// The cown is unreachable from here on; a model checks that.
    #[inline]
    pub(super) fn end(&mut self) {
        self.word.end();
        #[cfg(loom)]
        self.for_senders.end();
    }

    /// Returns which of these are set. Exact for a behaviour that holds the cown.
    #[inline]
    pub(crate) fn get(&self, of: u16) -> u16 {
        // ORDERING: Relaxed. The queue itself orders a holder after the thread that set a flag
        // (release of `tail` or `next`, acquire by the next holder); for other threads the result
        // is a hint.
        #[cfg(loom)]
        if of & Self::FOR_SENDERS != 0 && of & !Self::FOR_SENDERS != 0 {
            return self.get(of & Self::FOR_SENDERS) | self.get(of & !Self::FOR_SENDERS);
        }
        (self.word_of(of).load(Ordering::Relaxed) >> SHIFT) as u16 & of
    }

    /// Returns whether any of these is set. See [`get`](Self::get).
    #[inline]
    pub(crate) fn has(&self, one_of: u16) -> bool {
        self.get(one_of) != 0
    }

    /// The word that contains these bits, which are either all for senders or all not.
    #[inline]
    fn word_of(&self, bits: u16) -> &AtomicU32 {
        #[cfg(loom)]
        if bits & Self::FOR_SENDERS != 0 {
            return &self.for_senders;
        }
        let _ = bits;
        &self.word
    }

    /// The cown's home. Exact for a behaviour that holds the cown.
    #[inline]
    pub(super) fn home(&self) -> RuntimeId {
        // ORDERING: Relaxed, see `get`.
        RuntimeId::from_raw(self.word.load(Ordering::Relaxed) as u16)
    }

    /// The home, or `None` for a member of a group, whose home is that of the group.
    #[inline]
    pub(super) fn home_of_its_own(&self) -> Option<RuntimeId> {
        // ORDERING: Relaxed, see `get`.
        let word = self.word.load(Ordering::Relaxed);
        (word & in_word(Self::GROUPED) == 0).then_some(RuntimeId::from_raw(word as u16))
    }

    /// Sets the home. For a behaviour that holds the cown.
    pub(super) fn set_home(&self, home: RuntimeId) {
        let moved = |word: u32| Some(word & !HOME | home.extended());
        // ORDERING: Relaxed, both; see `get`.
        let _ = self.word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, moved);
    }

    /// Returns whether `home` is the home and no flag of `but_for` is set. Exact for a behaviour
    /// that holds the cown.
    #[inline(always)]
    pub(crate) fn is_plain(&self, home: RuntimeId, but_for: u16) -> bool {
        #[cfg(loom)]
        if but_for & Self::FOR_SENDERS != 0 {
            let rest = but_for & !Self::FOR_SENDERS;
            return self.get(but_for & Self::FOR_SENDERS) == 0 && self.is_plain(home, rest);
        }
        // ORDERING: Relaxed, see `get`.
        let word = self.word.load(Ordering::Relaxed) & (in_word(but_for) | HOME);
        word == home.extended()
    }

    /// The same for two cowns, of which only this one must be at home there.
    #[inline(always)]
    pub(crate) fn is_plain_beside(&self, other: &Self, home: RuntimeId, but_for: u16) -> bool {
        // ORDERING: Relaxed, both; see `get`.
        let flags = other.word.load(Ordering::Relaxed) & !HOME;
        let word = (self.word.load(Ordering::Relaxed) | flags) & (in_word(but_for) | HOME);
        word == home.extended()
    }

    /// Returns whether a behaviour must be refused or needs further checks: the state is poisoned
    /// or gone, or the context says so.
    #[inline(always)]
    pub(crate) fn may_be_refused(&self, context: &RunContext) -> bool {
        debug_assert!(
            self.home() != RuntimeId::NONE,
            "a context that refuses all looks for the home"
        );
        // ORDERING: Relaxed, see `get`.
        self.word.load(Ordering::Relaxed) & context.refusal() != 0
    }

    /// The same for a behaviour on this cown and another one.
    #[inline(always)]
    pub(crate) fn may_be_refused_with(&self, other: &Self, context: &RunContext) -> bool {
        // ORDERING: Relaxed, both; see `get`.
        let words = self.word.load(Ordering::Relaxed) | other.word.load(Ordering::Relaxed);
        words & context.refusal() != 0
    }

    /// Sets or clears a flag that is not part of a protocol.
    pub(super) fn set(&self, flag: u16, on: bool) {
        // ORDERING: Relaxed, both; see `get`.
        let word = self.word_of(flag);
        if on {
            word.fetch_or(in_word(flag), Ordering::Relaxed);
        } else {
            word.fetch_and(!in_word(flag), Ordering::Relaxed);
        }
    }

    /// Sets INTERRUPT.
    #[inline]
    #[must_use = "the caller may have the token now"]
    pub(crate) fn interrupt(&self) -> InterruptOutcome {
        // ORDERING: AcqRel. Release publishes what the caller did before to the thread that clears
        // the bit (`begin_interrupt`), and is relied on by `interruptible::is_ungated`. Acquire
        // pairs with the Release in `try_park`: the token and the state.
        let before = self.word.fetch_or(in_word(Self::INTERRUPT), Ordering::AcqRel);
        if before & in_word(Self::INTERRUPT) != 0 {
            InterruptOutcome::Pending
        } else if before & in_word(Self::PARKED) != 0 {
            InterruptOutcome::TookToken
        } else {
            InterruptOutcome::NeedsRequest
        }
    }

    /// Sets INTERRUPT for a later check by the caller, which has the token.
    pub(crate) fn remember_interrupt(&self) {
        // ORDERING: Relaxed. For the holder itself. (The next interrupt may find the bit set and
        // leave the rest to the holder: what it brings is published by other means, and acquired by
        // the thread that clears the bit.)
        self.word.fetch_or(in_word(Self::INTERRUPT), Ordering::Relaxed);
    }

    /// Sets INTERRUPT in a cown that no other thread knows.
    pub(crate) fn begin_interrupted(&self) {
        // ORDERING: Relaxed, both. Published with the first handle.
        self.word
            .store(self.word.load(Ordering::Relaxed) | in_word(Self::INTERRUPT), Ordering::Relaxed);
    }

    /// Clears INTERRUPT and PARKED: an interrupt from here on leads to another call.
    pub(crate) fn begin_interrupt(&self) {
        // ORDERING: AcqRel. Acquire pairs with the Release in `interrupt`. (Release: the next
        // interrupt may find the bits as this leaves them, and continues from here.)
        self.word.fetch_and(!in_word(Self::INTERRUPT | Self::PARKED), Ordering::AcqRel);
    }

    /// Leaves the token in the word, unless there is an interrupt or the cown is closed: then the
    /// caller keeps it. Returns whether it does.
    #[must_use = "if this fails the caller still has the token"]
    pub(crate) fn try_park(&self) -> bool {
        let quiet = |word: u32| {
            let is_quiet = word & in_word(Self::INTERRUPT | Self::CLOSED) == 0;
            is_quiet.then_some(word | in_word(Self::PARKED))
        };
        // ORDERING: Release publishes the state and the head to the thread that takes the token
        // (Acquire in `interrupt` and `try_unpark`). Relaxed on failure: nothing is given away.
        self.word.fetch_update(Ordering::Release, Ordering::Relaxed, quiet).is_ok()
    }

    /// Takes the token left by `try_park`, unless an interrupt has come, which takes it. Returns
    /// whether it does.
    #[must_use = "the caller may have the token now"]
    pub(crate) fn try_unpark(&self) -> bool {
        let parked = |word: u32| {
            let is_parked = word & in_word(Self::PARKED | Self::INTERRUPT) == in_word(Self::PARKED);
            is_parked.then_some(word & !in_word(Self::PARKED))
        };
        // ORDERING: Acquire pairs with the Release in `try_park`: the token, and with it the head.
        self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, parked).is_ok()
    }

    /// Marks a member's gate as shut, unless the member is closed. Returns whether it does. Only
    /// for the token holder.
    pub(crate) fn try_shut(&self) -> bool {
        let unless_closed =
            |word| (word & in_word(Self::CLOSED) == 0).then_some(word | in_word(Self::PARKED));
        // ORDERING: AcqRel, see `close`.
        self.word.fetch_update(Ordering::AcqRel, Ordering::Relaxed, unless_closed).is_ok()
    }

    /// Marks the gate as open. Only for the token holder.
    pub(crate) fn open(&self) {
        self.set(Self::PARKED, false);
    }

    /// Sets CLOSED.
    #[inline]
    pub(crate) fn close(&self) -> CloseOutcome {
        // ORDERING: AcqRel. Shutting the gate changes the same word (that of the member, if it is
        // in a group), so one of the two changes sees the other.
        let before = self.word.fetch_or(in_word(Self::CLOSED), Ordering::AcqRel);
        if before & in_word(Self::CLOSED) != 0 {
            CloseOutcome::Again
        } else if before & in_word(Self::PARKED) != 0 {
            CloseOutcome::GateShut
        } else {
            CloseOutcome::GateOpen
        }
    }

    /// Sets STEPPED, once. The caller is about to append its request.
    #[inline]
    pub(super) fn note_step(&self) {
        if self.get(Self::STEPPED) == 0 {
            // ORDERING: Relaxed. The exchange of the tail that follows publishes it. This also
            // covers a bit that was already set: a thread that acquires that exchange reads the
            // word after this thread did, and finds no older value.
            self.set(Self::STEPPED, true);
        }
    }

    /// Sets READ unless it is set. For the token holder, before it admits a reader.
    pub(crate) fn note_reader(&self) {
        // ORDERING: Relaxed, see `get`.
        if self.get(Self::READ) == 0 {
            self.set(Self::READ, true);
        }
    }

    /// Sets OVERLOADED unless it is set.
    pub(crate) fn note_overload(&self) {
        if self.get(Self::OVERLOADED) == 0 {
            self.set(Self::OVERLOADED, true);
        }
    }

    /// Clears OVERLOADED if it is set.
    pub(crate) fn end_overload(&self) {
        if self.get(Self::OVERLOADED) != 0 {
            self.set(Self::OVERLOADED, false);
        }
    }
}
