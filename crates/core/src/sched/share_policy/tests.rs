//! A worker whose behaviours cost what the test says, with and without help, on the test's own
//! clock.

use super::{LONGEST_PAUSE, STRETCH, ShareDecision, SharingPolicy};

/// The number of behaviours from one decision to the next.
const STEP: u32 = 64;

/// A worker beside one that is idle at every decision.
struct Worker {
    sharing: SharingPolicy,
    now: u64,
    ran: u32,
    /// The cost of a behaviour with help, and without.
    costs: [u64; 2],
    helped: bool,
    /// Nanoseconds spent with help, and without.
    times: [u64; 2],
    /// The longest time that it has kept its tasks.
    longest: u64,
    kept: u64,
}

impl Worker {
    fn new(with_help: u64, alone: u64) -> Self {
        Self {
            sharing: SharingPolicy::default(),
            now: 1,
            ran: u32::MAX - 100,
            costs: [with_help, alone],
            helped: false,
            times: [0; 2],
            longest: 0,
            kept: 0,
        }
    }

    fn costs(&mut self, with_help: u64, alone: u64) {
        self.costs = [with_help, alone];
    }

    fn step(&mut self) -> ShareDecision {
        let took = self.costs[usize::from(!self.helped)] * u64::from(STEP);
        self.times[usize::from(!self.helped)] += took;
        self.now += took;
        self.ran = self.ran.wrapping_add(STEP);
        self.kept = if self.helped { 0 } else { self.kept + took };
        self.longest = self.longest.max(self.kept);
        let decision = self.sharing.decide(self.now, self.ran, self.helped);
        self.helped = matches!(decision, ShareDecision::Share(_));
        decision
    }

    /// Works for this many milliseconds; returns the part of that in which it had help.
    fn work(&mut self, milliseconds: u64) -> f64 {
        self.times = [0; 2];
        while self.times[0] + self.times[1] < milliseconds * 1_000_000 {
            self.step();
        }
        self.times[0] as f64 / (self.times[0] + self.times[1]) as f64
    }
}

#[test]
fn what_costs_no_more_with_help_is_shared() {
    for cost in [8, 50, 300, 900] {
        let mut worker = Worker::new(cost * 13 / 10, cost);
        let part = worker.work(100);
        assert!(part > 0.95, "{cost} ns: {part:.3} of the time");
    }
}

#[test]
fn what_costs_more_than_two_workers_make_up_for_is_kept() {
    for (with_help, alone) in [(60, 20), (200, 50), (2_500, 500), (400, 41)] {
        let mut worker = Worker::new(with_help, alone);
        worker.work(20);
        let part = worker.work(100);
        assert!(part < 0.1, "{with_help} and {alone} ns: {part:.3} of the time");
    }
}

/// Whatever they cost alone, and with help.
#[test]
fn long_behaviours_are_shared() {
    for with_help in [1_200, 2_000, 20_000] {
        let mut worker = Worker::new(with_help, 1_100);
        let part = worker.work(1_000);
        assert!(part > 0.5, "{with_help} ns: {part:.3} of the time");
    }
}

/// The bound of P3. A decision comes every 64 behaviours of the test, and a stretch ends with one.
#[test]
fn nothing_is_kept_for_longer_than_the_longest_pause_and_a_stretch() {
    for (with_help, alone) in [(60, 20), (200, 50), (900, 100), (100_000, 900)] {
        let mut worker = Worker::new(with_help, alone);
        worker.work(500);
        let bound = LONGEST_PAUSE + STRETCH + u64::from(STEP) * alone;
        assert!(worker.longest <= bound, "{with_help} and {alone} ns: {} ns", worker.longest);
        assert!(worker.longest > bound / 2, "the longest pause is reached: {} ns", worker.longest);
    }
}

#[test]
fn a_program_that_changes_is_measured_anew() {
    let mut worker = Worker::new(300, 50);
    worker.work(20);
    worker.costs(50, 50);
    worker.work(20);
    assert!(worker.work(100) > 0.95, "from one that loses to one that gains");
    worker.costs(300, 50);
    worker.work(20);
    assert!(worker.work(100) < 0.1, "and back");
    // Slower behaviours are not a loss if they are as slow without help.
    worker.costs(330, 300);
    worker.work(20);
    assert!(worker.work(100) > 0.95, "to one whose behaviours do more");
}

/// A sleeper that is woken arrives late: what is measured until then is meaningless.
#[test]
fn nothing_is_judged_before_somebody_helps() {
    let mut worker = Worker::new(500, 50);
    let mut shares = 0;
    for _ in 0..10_000 {
        let decision = worker.step();
        worker.helped = false;
        shares += u32::from(decision != ShareDecision::Wait);
        assert_ne!((decision, shares > 1), (ShareDecision::Keep, true), "it was not helped yet");
    }
    assert!(shares > 100, "it goes on to share: {shares}");
}

/// Nothing can be measured behind a long behaviour; and what waits there is not kept for long.
#[test]
fn what_waits_behind_a_long_behaviour_is_shared_after_a_moment() {
    let mut sharing = SharingPolicy::default();
    assert_eq!(sharing.decide(1, 7, false), ShareDecision::Share(usize::MAX), "it may be long");
    assert_eq!(sharing.decide(STRETCH, 7, true), ShareDecision::Wait);
    assert_eq!(sharing.decide(STRETCH + 1, 7, false), ShareDecision::Share(usize::MAX));
    assert_eq!(sharing.decide(STRETCH + 2, 7, true), ShareDecision::Wait);
    assert_eq!(sharing.decide(2 * STRETCH + 1, 7, true), ShareDecision::Share(usize::MAX));
}

#[test]
fn after_a_loss_no_more_is_shared_than_is_run_in_a_stretch() {
    let mut worker = Worker::new(300, 50);
    worker.work(20);
    let most = loop {
        if let ShareDecision::Share(most) = worker.step() {
            break most;
        }
    };
    assert!((300..=STRETCH as usize / 50).contains(&most), "{most}");
}
