//! Tests of the plan, with events by hand.

use super::*;
use crate::supervise::Shutdown;
use crate::supervise::strategy::StopMode;

const NOW: Duration = Duration::ZERO;

fn spec(restart: Restart) -> ChildSpec {
    ChildSpec { restart, shutdown: Shutdown::stop(), backoff: None, significant: false }
}

/// Creates a plan with permanent children, all of which are up.
fn plan_of(strategy: Strategy, children: &[ActorId]) -> SupervisionPlan {
    let mut plan = SupervisionPlan::new(strategy, RestartIntensity::default(), Backoff::none());
    for &child in children {
        plan.declare(child, spec(Restart::Permanent));
    }
    plan.on_start(NOW);
    for &child in children {
        plan.on_up(child, 1, NOW);
    }
    plan.take_actions();
    plan
}

fn children<const N: usize>() -> [ActorId; N] {
    std::array::from_fn(|_| ActorId::next())
}

fn failure() -> ExitReason {
    ExitReason::Failed("so".into())
}

#[test]
fn children_start_one_after_the_other() {
    let [a, b] = children();
    let mut plan =
        SupervisionPlan::new(Strategy::OneForOne, RestartIntensity::default(), Backoff::none());
    plan.declare(a, spec(Restart::Permanent));
    plan.declare(b, spec(Restart::Permanent));
    plan.on_start(NOW);
    assert_eq!(plan.take_actions(), [PlanAction::Start { child: a, run: 1 }]);
    plan.on_up(a, 1, NOW);
    assert_eq!(plan.take_actions(), [PlanAction::Start { child: b, run: 1 }]);
}

#[test]
fn reports_of_earlier_runs_are_void() {
    let [a] = children();
    let mut plan = plan_of(Strategy::OneForOne, &[a]);
    plan.on_down(a, 1, failure(), NOW);
    plan.take_actions();
    plan.on_down(a, 1, failure(), NOW);
    plan.on_up(a, 1, NOW);
    plan.on_down(ActorId::next(), 1, failure(), NOW);
    assert_eq!(plan.take_actions(), []);
    assert_eq!(plan.view().next().unwrap().state, ChildState::Starting);
}

#[test]
fn a_failure_while_siblings_are_stopped_is_not_counted() {
    let [a, b, c] = children();
    let mut plan = plan_of(Strategy::OneForAll, &[a, b, c]);
    plan.set_intensity(RestartIntensity::new(1, Duration::MAX));
    plan.on_down(a, 1, failure(), NOW);
    // `c` must stop; `b`, whose turn is next, fails meanwhile on its own.
    plan.on_down(b, 1, failure(), NOW);
    plan.on_down(c, 1, ExitReason::Shutdown, NOW);
    let starts =
        |action: &PlanAction| matches!(action, PlanAction::Start { child, .. } if *child == a);
    assert!(plan.take_actions().iter().any(starts));
}

#[test]
fn a_child_that_does_not_stop_in_time_is_killed_and_not_waited_for() {
    let [a, b] = children();
    let mut plan = plan_of(Strategy::OneForOne, &[a, b]);
    plan.on_stop(ExitReason::Shutdown, true, NOW);
    plan.take_actions();
    let deadline = plan.next_alarm().unwrap();
    assert_eq!(deadline, Duration::from_secs(5));
    plan.on_time(deadline);
    let actions = plan.take_actions();
    assert_eq!(actions[0], PlanAction::Kill { child: b });
    let stop = PlanAction::Stop { child: a, run: 1, mode: StopMode::Stop, last: true };
    assert_eq!(actions.last(), Some(&stop));
    plan.on_down(a, 1, ExitReason::Shutdown, deadline);
    plan.on_ended(a, deadline);
    assert_eq!(plan.take_actions().last(), Some(&PlanAction::Exit(ExitReason::Shutdown)));
    assert_eq!(plan.next_alarm(), None);
}

/// It may be held by a behaviour that waits for a sibling which is down.
#[test]
fn a_child_that_has_not_stopped_in_time_holds_up_no_other_start() {
    let [a, b, c] = children();
    let mut plan = plan_of(Strategy::OneForAll, &[a, b, c]);
    plan.on_down(c, 1, failure(), NOW);
    plan.on_down(b, 1, ExitReason::Shutdown, NOW);
    plan.take_actions();
    let late = plan.next_alarm().unwrap();
    plan.on_time(late);
    let start = |child, run| PlanAction::Start { child, run };
    assert_eq!(plan.take_actions(), [PlanAction::Kill { child: a }, start(a, 2), start(b, 2)]);
    plan.on_up(b, 2, late);
    assert_eq!(plan.take_actions(), [start(c, 2)]);
    // Once it is up it is like the others.
    plan.on_up(a, 2, late);
    plan.on_up(c, 2, late);
    for child in [c, b, a] {
        plan.on_down(child, 2, failure(), late);
    }
    let starts =
        plan.take_actions().into_iter().filter(|did| matches!(did, PlanAction::Start { .. }));
    assert_eq!(starts.collect::<Vec<_>>(), [start(a, 3)]);
}

#[test]
fn one_that_is_restarted_keeps_its_messages_and_is_not_drained() {
    let [a, b] = children();
    let mut plan =
        SupervisionPlan::new(Strategy::OneForAll, RestartIntensity::default(), Backoff::none());
    let drain = ChildSpec { shutdown: Shutdown::drain(), ..spec(Restart::Permanent) };
    plan.declare(a, drain);
    plan.declare(b, drain);
    plan.on_start(NOW);
    plan.on_up(a, 1, NOW);
    plan.on_up(b, 1, NOW);
    plan.take_actions();
    plan.on_down(a, 1, failure(), NOW);
    let stop = PlanAction::Stop { child: b, run: 1, mode: StopMode::Stop, last: false };
    assert!(plan.take_actions().contains(&stop));
}

#[test]
fn a_streak_ends_when_a_child_was_up_for_long() {
    let [a] = children();
    let second = Duration::from_secs(1);
    let mut plan = plan_of(Strategy::OneForOne, &[a]);
    plan.set_backoff(Backoff::exponential(second, 4 * second));
    plan.set_intensity(RestartIntensity::new(100, NOW));
    let mut now = NOW;
    let mut fall_after = |uptime: Duration, run| {
        plan.on_up(a, run, now);
        now += uptime;
        plan.on_down(a, run, failure(), now);
        let due = plan.next_alarm().expect("it backs off");
        let delay = due - now;
        now = due;
        plan.on_time(now);
        delay
    };
    assert_eq!(fall_after(NOW, 1), second);
    assert_eq!(fall_after(second, 2), 2 * second);
    assert_eq!(fall_after(4 * second, 3), 4 * second);
    assert_eq!(fall_after(5 * second, 4), second);
}

#[test]
fn one_that_never_comes_up_backs_off_longer_and_longer() {
    let [a] = children();
    let hour = Duration::from_secs(3600);
    let mut plan = plan_of(Strategy::OneForOne, &[a]);
    plan.set_backoff(Backoff::exponential(hour, 4 * hour));
    plan.set_intensity(RestartIntensity::new(100, NOW));
    let (mut now, mut delays) = (NOW, Vec::new());
    for run in 1..=4 {
        plan.on_down(a, run, failure(), now);
        let due = plan.next_alarm().expect("it backs off");
        delays.push((due - now).as_secs() / 3600);
        now = due;
        plan.on_time(now);
    }
    assert_eq!(delays, [1, 2, 4, 4]);
}

#[test]
fn after_a_reset_all_that_was_declared_can_start_again() {
    let [a, b, added] = children();
    let mut plan = plan_of(Strategy::OneForOne, &[a, b]);
    plan.on_add(added, spec(Restart::Permanent), NOW).unwrap();
    plan.take_actions();
    let end = PlanAction::End { child: added, reason: ExitReason::Shutdown };
    let expected = [end, PlanAction::Halt { child: b }, PlanAction::Halt { child: a }];
    assert_eq!(plan.reset(), expected);
    plan.on_start(NOW);
    assert_eq!(plan.take_actions(), [PlanAction::Start { child: a, run: 2 }]);
}

#[test]
fn a_child_that_ends_with_its_runtime_is_removed() {
    let [a, b] = children();
    for strategy in [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne] {
        let mut plan = plan_of(strategy, &[a, b]);
        plan.on_ended(a, NOW);
        let told = PlanAction::Tell { child: a, what: ChildOutcome::Gone };
        let end = PlanAction::End { child: a, reason: ExitReason::Shutdown };
        assert_eq!(plan.take_actions(), [end, told]);
        assert_eq!(plan.view().map(|view| view.child).collect::<Vec<_>>(), [b]);
        // The other does not wait for it, neither when it stops nor when it starts again.
        plan.on_down(b, 1, failure(), NOW);
        assert!(plan.take_actions().contains(&PlanAction::Start { child: b, run: 2 }));
        plan.on_up(b, 2, NOW);
        plan.on_stop(ExitReason::Shutdown, true, NOW);
        plan.on_down(b, 2, ExitReason::Shutdown, NOW);
        plan.on_ended(b, NOW);
        assert!(plan.take_actions().contains(&PlanAction::Exit(ExitReason::Shutdown)));
    }
}

#[test]
fn a_stop_does_not_wait_for_a_child_that_ends_with_its_runtime() {
    let [a, b] = children();
    let mut plan = plan_of(Strategy::OneForOne, &[a, b]);
    plan.on_stop(ExitReason::Shutdown, true, NOW);
    // `b` is told to stop; its runtime was faster.
    plan.on_ended(b, NOW);
    plan.on_ended(a, NOW);
    assert!(plan.take_actions().contains(&PlanAction::Exit(ExitReason::Shutdown)));
    assert_eq!(plan.next_alarm(), None);
}

/// Creates a plan with significant transient children, all of which are up.
fn significant_plan(auto_shutdown: AutoShutdown, children: &[ActorId]) -> SupervisionPlan {
    let mut plan =
        SupervisionPlan::new(Strategy::OneForOne, RestartIntensity::default(), Backoff::none());
    plan.set_auto_shutdown(auto_shutdown);
    for &child in children {
        plan.declare(child, ChildSpec { significant: true, ..spec(Restart::Transient) });
    }
    plan.on_start(NOW);
    for &child in children {
        plan.on_up(child, 1, NOW);
    }
    plan.take_actions();
    plan
}

#[test]
fn the_last_significant_child_ends_the_supervisor_whatever_was_terminated() {
    let [a, b, c] = children();
    let mut plan = significant_plan(AutoShutdown::AllSignificant, &[a, b, c]);
    plan.on_down(b, 1, ExitReason::Normal, NOW);
    plan.on_ended(b, NOW);
    plan.on_terminate(c, NOW).unwrap();
    assert!(plan.is_running());
    // `c` is still stopping, by a command.
    plan.on_down(a, 1, ExitReason::Normal, NOW);
    assert!(!plan.is_running());
    plan.on_ended(a, NOW);
    plan.on_down(c, 1, ExitReason::Shutdown, NOW);
    plan.on_ended(c, NOW);
    assert_eq!(plan.take_actions().last(), Some(&PlanAction::Exit(ExitReason::Shutdown)));
}

#[test]
fn a_significant_child_that_ends_with_its_runtime_ends_the_supervisor() {
    let [a, b] = children();
    let mut plan = significant_plan(AutoShutdown::AnySignificant, &[a, b]);
    plan.on_ended(a, NOW);
    plan.on_down(b, 1, ExitReason::Shutdown, NOW);
    plan.on_ended(b, NOW);
    assert_eq!(plan.take_actions().last(), Some(&PlanAction::Exit(ExitReason::Shutdown)));
}

#[test]
fn the_child_that_ended_a_supervisor_ends_for_its_own_reason_or_starts_again() {
    let [a] = children();
    let mut plan = significant_plan(AutoShutdown::AnySignificant, &[a]);
    plan.set_child();
    plan.on_down(a, 1, ExitReason::Normal, NOW);
    assert_eq!(plan.take_actions(), [PlanAction::Exit(ExitReason::Shutdown)]);
    assert_eq!(plan.end_reasons().collect::<Vec<_>>(), [(a, ExitReason::Normal)]);
    assert_eq!(plan.reset(), []);
    plan.on_start(NOW);
    assert_eq!(plan.take_actions(), [PlanAction::Start { child: a, run: 2 }]);
    assert_eq!(plan.end_reasons().collect::<Vec<_>>(), [(a, ExitReason::Shutdown)]);
}

/// In whatever order they come up, and go down again.
#[test]
fn all_are_up_once_none_is_missing() {
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
        let all: [ActorId; 4] = children();
        let mut plan =
            SupervisionPlan::new(Strategy::Dynamic, RestartIntensity::default(), Backoff::none());
        for child in all {
            plan.declare(child, spec(Restart::Permanent));
        }
        assert!(!plan.are_all_up(), "it has not started");
        plan.on_start(NOW);
        for child in order.map(|place| all[place]) {
            assert!(!plan.are_all_up());
            plan.on_up(child, 1, NOW);
        }
        assert!(plan.are_all_up());
        let before = plan.changes();
        plan.on_down(all[1], 1, failure(), NOW);
        assert!(!plan.are_all_up() && plan.changes() > before);
        plan.on_up(all[1], 2, NOW);
        assert!(plan.are_all_up());
        plan.on_terminate(all[0], NOW).unwrap();
        assert!(plan.are_all_up(), "it is not to be up");
    }
}
