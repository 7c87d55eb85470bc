//! Decides whether a worker gains time by sharing its tasks, by measuring the cost of a behaviour
//! with and without sharing. README.md, "What sharing costs". All times are in nanoseconds.

/// A worker shares at most once per this many tasks that it takes, or puts aside: short ones are
/// run sooner than moved (and long ones are taken by workers that find it stuck).
pub(super) const SHARE_EVERY: i32 = 64;
/// The minimal length of a measured stretch: shorter ones depend too much on which behaviours
/// happen to run.
const STRETCH: u64 = 20_000;
/// Behaviours that take this long are worth moving, whatever they touch.
const LONG: u64 = 1_000;
/// The first pause after sharing has made behaviours slower; each one that follows without a gain
/// is twice as long.
const FIRST_PAUSE: u64 = 50_000;
/// The longest pause: a task may wait this long although another worker is idle.
const LONGEST_PAUSE: u64 = 2_000_000;
/// The cost without sharing is measured again after this time.
const STALE: u64 = 10_000_000;
/// The same for long behaviours, which take longer to measure.
const LONG_STALE: u64 = 10 * STALE;

/// A worker's knowledge of sharing. All times are nanoseconds on the runtime's clock.
#[derive(Debug, Default)]
pub(super) struct SharingPolicy {
    /// The stretch being measured.
    stretch: Option<MeasuredStretch>,
    /// The cost of a behaviour when the worker last did not share, and the time of that
    /// measurement.
    alone: Option<(BehaviourCost, u64)>,
    /// How long the worker kept its tasks after the last loss; halved by each gain.
    pause: u64,
    /// The time until which it keeps them.
    keeps_until: u64,
}

/// What a worker does about an idle one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ShareDecision {
    /// Shares half of its tasks, at most this many.
    Share(usize),
    /// Does nothing for a moment.
    Wait,
    /// Does nothing until it has as many tasks again as make it consider sharing.
    Keep,
}

#[derive(Clone, Copy, Debug)]
struct MeasuredStretch {
    began: u64,
    /// The count of behaviours at its start.
    ran: u32,
    /// Whether the worker shares during it.
    shared: bool,
    /// Whether others have taken what it shared.
    helped: bool,
}

impl MeasuredStretch {
    fn new(began: u64, ran: u32, shared: bool) -> Self {
        Self { began, ran, shared, helped: false }
    }
}

/// The cost of a behaviour in sixteenths of a nanosecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct BehaviourCost(u64);

impl BehaviourCost {
    fn of(time: u64, behaviours: u32) -> Self {
        Self(time.saturating_mul(16) / u64::from(behaviours))
    }

    fn is_long(self) -> bool {
        self >= Self(LONG * 16)
    }

    /// Returns whether this cost is more than two sharing workers can make up for. With twice the
    /// cost each they would be as fast as one alone; slightly less is not worth a second processor.
    fn is_loss(self, alone: Self) -> bool {
        self.0 > alone.0 + alone.0 / 4 * 3
    }
}

impl SharingPolicy {
    /// Decides whether to share with an idle worker now, given the time and the number of
    /// behaviours that this worker has run, modulo 2^32. The caller acts on the result. `helped`
    /// says whether others have taken what was shared last.
    pub(super) fn decide(&mut self, now: u64, ran: u32, helped: bool) -> ShareDecision {
        let Some(stretch) = &mut self.stretch else { return self.begin(now, ran) };
        stretch.helped |= helped;
        let stretch = *stretch;
        let took = now.saturating_sub(stretch.began);
        let behaviours = ran.wrapping_sub(stretch.ran);
        if took < STRETCH {
            // A helper keeps getting tasks while that is being measured.
            let goes_on = stretch.shared && helped && behaviours > 0;
            return if goes_on { ShareDecision::Share(self.most()) } else { ShareDecision::Wait };
        }
        let cost = BehaviourCost::of(took, behaviours.max(1));
        let share = if behaviours == 0 {
            // Nothing can be measured in the middle of a behaviour.
            now >= self.keeps_until
        } else if !stretch.shared {
            self.note_alone(cost, now)
        } else {
            !stretch.helped || self.judge(cost, now)
        };
        self.stretch = Some(MeasuredStretch::new(now, ran, share));
        if share { ShareDecision::Share(self.most()) } else { ShareDecision::Keep }
    }

    /// Excludes the time that sharing took: the time to wake a worker says nothing about the cost
    /// of behaviours.
    pub(super) fn leave_out(&mut self, took: u64) {
        if let Some(stretch) = &mut self.stretch {
            stretch.began += took;
        }
    }

    /// Ends the current measurement: the worker has been idle.
    pub(super) fn interrupt(&mut self) {
        self.stretch = None;
    }

    /// Returns the time until which the worker keeps its tasks because sharing did not pay.
    pub(super) fn keeps_until(&self) -> u64 {
        self.keeps_until
    }

    /// Starts to measure, with sharing unless that did not pay before: what was made ready may be
    /// long.
    fn begin(&mut self, now: u64, ran: u32) -> ShareDecision {
        let share = self.pause == 0;
        self.stretch = Some(MeasuredStretch::new(now, ran, share));
        if share { ShareDecision::Share(self.most()) } else { ShareDecision::Wait }
    }

    /// Returns how many tasks to share: after a loss as many as can be run while the next stretch
    /// is measured.
    fn most(&self) -> usize {
        match self.alone {
            Some((BehaviourCost(alone), _)) if self.pause > 0 => {
                (STRETCH * 16 / alone.max(1)) as usize
            }
            _ => usize::MAX,
        }
    }

    fn knows_alone(&self, now: u64) -> bool {
        let stale = |cost: BehaviourCost| if cost.is_long() { LONG_STALE } else { STALE };
        self.alone.is_some_and(|(cost, when)| now - when < stale(cost))
    }

    /// Records the cost of a behaviour without sharing. Returns whether to share from here on.
    fn note_alone(&mut self, cost: BehaviourCost, now: u64) -> bool {
        self.alone = Some((cost, now));
        cost.is_long() || now >= self.keeps_until
    }

    /// Judges the cost of a behaviour after sharing. Returns whether to continue sharing.
    fn judge(&mut self, cost: BehaviourCost, now: u64) -> bool {
        // Slow ones may be long by themselves, or because of the helpers.
        let Some((alone, _)) = self.alone else { return false };
        if !alone.is_long() && cost.is_loss(alone) {
            self.pause = (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
            self.keeps_until = now + self.pause;
            return false;
        }
        self.pause /= 2;
        self.knows_alone(now)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
