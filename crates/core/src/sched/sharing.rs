//! Whether a worker gains time by sharing its tasks: it measures what a behaviour costs with and without.
//! README.md, "What sharing costs". All times are in nanoseconds.

/// A worker shares tasks at most once in so many that it takes, or puts aside: short ones are done
/// sooner than moved (and long ones are taken by those who find it stuck).
pub(super) const SHARE_EVERY: i32 = 64;
/// A stretch that is measured is at least this long: shorter ones say more of what happens to be run.
const STRETCH: u64 = 20_000;
/// Behaviours that take this long are worth the move, whatever they touch.
const LONG: u64 = 1_000;
/// The first pause after sharing has made behaviours dearer; each that follows without a gain is twice as long.
const FIRST_PAUSE: u64 = 50_000;
/// The longest pause: for so long a task may wait though another worker has nothing to do.
const LONGEST_PAUSE: u64 = 2_000_000;
/// After this time the cost without sharing is measured again.
const STALE: u64 = 10_000_000;
/// The same where behaviours are long: to measure takes as much longer.
const LONG_STALE: u64 = 10 * STALE;

/// What a worker knows of sharing. All times are nanoseconds on the worker's own clock.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    /// The stretch that is being measured.
    stretch: Option<Stretch>,
    /// What a behaviour took when the worker last shared nothing, and when that was.
    alone: Option<(Cost, u64)>,
    /// How long the worker kept its tasks after the last loss; halved by each gain.
    pause: u64,
    /// Until when it keeps them.
    keeps_until: u64,
}

/// What a worker does about another one that has nothing to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    /// It shares half of its tasks, this many at the most.
    Share(usize),
    /// Nothing, for a moment.
    Wait,
    /// Nothing, until as many tasks again have come as make it think about it.
    Keep,
}

#[derive(Clone, Copy, Debug)]
struct Stretch {
    began: u64,
    /// The count of behaviours at its beginning.
    ran: u32,
    /// Whether the worker shares in it.
    shared: bool,
    /// Whether others have taken what it shared.
    helped: bool,
}

impl Stretch {
    fn new(began: u64, ran: u32, shared: bool) -> Self {
        Self { began, ran, shared, helped: false }
    }
}

/// Sixteenths of a nanosecond for each behaviour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Cost(u64);

impl Cost {
    fn of(time: u64, behaviours: u32) -> Self {
        Self(time.saturating_mul(16) / u64::from(behaviours))
    }

    fn is_long(self) -> bool {
        self >= Self(LONG * 16)
    }

    /// Whether this is more than two workers that share can make up for. With twice the cost each they would be as fast
    /// as one alone; a little less is not worth a second processor.
    fn is_loss(self, alone: Self) -> bool {
        self.0 > alone.0 + alone.0 / 4 * 3
    }
}

impl Sharing {
    /// Another worker has nothing to do: whether to share with it now, given the time and how many behaviours this
    /// worker has run, modulo 2^32. The caller does what this returns. `helped` is whether others have what was shared last.
    pub(super) fn decide(&mut self, now: u64, ran: u32, helped: bool) -> Decision {
        let Some(stretch) = &mut self.stretch else { return self.begin(now, ran) };
        stretch.helped |= helped;
        let stretch = *stretch;
        let took = now.saturating_sub(stretch.began);
        let behaviours = ran.wrapping_sub(stretch.ran);
        if took < STRETCH {
            // Who helps is kept at it while that is measured.
            let goes_on = stretch.shared && helped && behaviours > 0;
            return if goes_on { Decision::Share(self.most()) } else { Decision::Wait };
        }
        let cost = Cost::of(took, behaviours.max(1));
        let share = if behaviours == 0 {
            // In the middle of a behaviour there is nothing to be measured.
            now >= self.keeps_until
        } else if !stretch.shared {
            self.note_alone(cost, now)
        } else {
            !stretch.helped || self.judge(cost, now)
        };
        self.stretch = Some(Stretch::new(now, ran, share));
        if share { Decision::Share(self.most()) } else { Decision::Keep }
    }

    /// The worker has shared, which took so long: to wake another one up says nothing of what behaviours cost.
    pub(super) fn leave_out(&mut self, took: u64) {
        if let Some(stretch) = &mut self.stretch {
            stretch.began += took;
        }
    }

    /// The worker has had nothing to do: what it measured ends there.
    pub(super) fn interrupt(&mut self) {
        self.stretch = None;
    }

    /// Whether the worker keeps what it has, since sharing did not pay.
    pub(super) fn keeps(&self, now: u64) -> bool {
        now < self.keeps_until
    }

    /// Begins to measure, with help unless that was of none before: what was made ready may be long.
    fn begin(&mut self, now: u64, ran: u32) -> Decision {
        let share = self.pause == 0;
        self.stretch = Some(Stretch::new(now, ran, share));
        if share { Decision::Share(self.most()) } else { Decision::Wait }
    }

    /// How many tasks to share: after a loss as many as can be run while the next stretch is measured.
    fn most(&self) -> usize {
        match self.alone {
            Some((Cost(alone), _)) if self.pause > 0 => (STRETCH * 16 / alone.max(1)) as usize,
            _ => usize::MAX,
        }
    }

    fn knows_alone(&self, now: u64) -> bool {
        let stale = |cost: Cost| if cost.is_long() { LONG_STALE } else { STALE };
        self.alone.is_some_and(|(cost, when)| now - when < stale(cost))
    }

    /// What a behaviour costs that the worker has run without sharing. Whether it shares from here on.
    fn note_alone(&mut self, cost: Cost, now: u64) -> bool {
        self.alone = Some((cost, now));
        cost.is_long() || now >= self.keeps_until
    }

    /// What one costs after the worker has shared. Whether it goes on with that.
    fn judge(&mut self, cost: Cost, now: u64) -> bool {
        // Dear ones may be long, or be made so by those that help.
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
