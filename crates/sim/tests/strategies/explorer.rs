//! Explorations end when they should, and their reports lead back to the failure.

use std::error::Error;

use coact_sim::{
    Bounds, Config, Explorer, Failure, Method, RunDivergence, SchedulingStrategy, Seed,
};

use crate::toy::{Program, place, tasks};

/// Fails if task 1's step 2 comes between steps 1 and 2 of task 0.
fn interrupted(explorer: &mut Explorer) -> Result<(), &'static str> {
    let run = tasks(&Program::steps(2, 4).run(explorer));
    match place(&run, 0, 1) < place(&run, 1, 2) && place(&run, 1, 2) < place(&run, 0, 2) {
        true => Err("interrupted"),
        false => Ok(()),
    }
}

fn first_failure(method: Method) -> Failure {
    let config = Config::new().method(method).seed(Seed::new(3));
    config.explorer().explore(interrupted).unwrap_err()
}

#[test]
fn every_method_finds_a_failure_that_replays() {
    for method in [Method::Random, Method::Pct { depth: 2 }, Method::Dfs(Bounds::new())] {
        let failure = first_failure(method.clone());
        assert_eq!(failure.cause(), "interrupted");
        assert_eq!(failure.method(), &method);
        assert_eq!(failure.divergence(), None);
        let again = first_failure(Method::Replay(failure.schedule().clone()));
        assert_eq!(again.schedule(), failure.schedule());
        assert_eq!((again.cause(), again.run()), ("interrupted", 1));
    }
}

#[test]
fn the_exploration_up_to_a_failure_repeats() {
    let failure = first_failure(Method::Pct { depth: 2 });
    let up_to_it =
        Config::new().method(failure.method().clone()).seed(failure.seed()).runs(failure.run());
    assert_eq!(
        up_to_it.explorer().explore(interrupted).unwrap_err().schedule(),
        failure.schedule()
    );
}

#[test]
fn a_report_of_a_replay_says_how_to_replay() {
    let failure = first_failure(Method::Random);
    let replayed = first_failure(Method::Replay(failure.schedule().clone()));
    let (text, schedule) = (replayed.to_string(), failure.schedule());
    assert!(
        text.ends_with(&format!("to replay this run:\n  COACT_SIM_SCHEDULE={schedule}")),
        "{text}"
    );
    assert!(text.contains("strategy  replay"), "{text}");
    assert_eq!(format!("{replayed:?}"), text);
}

#[test]
fn no_more_runs_are_made_than_asked_for() {
    let mut explorer = Config::new().runs(5).explorer();
    assert_eq!(explorer.explore(|_| Ok::<_, String>(())).unwrap(), 5);
    assert!(!explorer.begin_run());
    assert_eq!(explorer.runs(), 5);
}

#[test]
fn a_search_cut_off_by_the_number_of_runs_is_not_exhaustive() {
    let search = Config::new().method(Method::Dfs(Bounds::new()));
    for (runs, exhaustive) in [(5, false), (6, true), (7, true)] {
        let mut explorer = search.clone().runs(runs).explorer();
        let made = explorer.explore(|explorer| {
            Program::steps(2, 2).run(explorer);
            Ok::<_, String>(())
        });
        assert_eq!(made.unwrap(), runs.min(6));
        assert_eq!(explorer.is_exhaustive(), exhaustive, "{runs} runs");
    }
}

#[test]
fn a_program_that_is_not_deterministic_fails() {
    let mut explorer = Config::new().method(Method::Dfs(Bounds::new())).explorer();
    let mut hidden = 2;
    let failure = explorer.explore(|explorer| {
        hidden += 1;
        explorer.choose_value(hidden);
        Ok::<_, String>(())
    });
    let failure = failure.unwrap_err();
    assert_eq!(failure.run(), 2);
    assert!(matches!(failure.divergence(), Some(RunDivergence::Offer { at: 0, .. })));
    assert!(failure.to_string().contains("not deterministic"), "{failure}");
}

#[test]
fn a_replay_that_fails_after_diverging_says_both() {
    let schedule = first_failure(Method::Random).schedule().clone();
    let mut replay = Config::new().method(Method::Replay(schedule)).explorer();
    let failure = replay.explore(|explorer| {
        explorer.choose_value(2);
        Err("changed")
    });
    let failure = failure.unwrap_err();
    assert_eq!(failure.cause(), "changed");
    assert!(failure.to_string().contains("note      the run diverged at choice 0"), "{failure}");
    let source = failure.source().expect("the divergence");
    assert_eq!(source.downcast_ref(), failure.divergence());
}

#[test]
#[should_panic(expected = "the run diverged")]
fn an_unread_divergence_panics_at_the_limit_too() {
    let schedule = first_failure(Method::Random).schedule().clone();
    let mut replay = Config::new().method(Method::Replay(schedule)).explorer();
    replay.begin_run();
    replay.begin_run();
}

#[test]
fn an_explorer_can_move_to_another_thread() {
    fn assert_send<T: Send>() {}
    assert_send::<Explorer>();
    assert_send::<Failure>();
}

/// Chooses two values by turns.
fn long_run(choices: u64, method: Method) -> Failure {
    let mut explorer = Config::new().method(method).seed(Seed::new(7)).explorer();
    explorer
        .explore(|explorer| {
            (0..choices).for_each(|_| _ = explorer.choose_value(1_000));
            Err("no end")
        })
        .unwrap_err()
}

#[test]
fn the_report_of_a_long_run_is_short() {
    let failure = long_run(100_000, Method::Random);
    let report = failure.to_string();
    assert!(report.len() < 1_000, "{report}");
    assert!(
        report.contains("schedule  100000 choices (`{:#}` prints them all), the last: value "),
        "{report}"
    );
    assert!(!report.contains("COACT_SIM_SCHEDULE"), "{report}");
    let again = "to repeat the exploration up to it:\n  COACT_SIM_STRATEGY=random COACT_SIM_SEED=0x7 COACT_SIM_RUNS=1";
    assert!(report.ends_with(again), "{report}");
    assert_eq!(report, format!("{failure:?}"));
    let replay = long_run(100_000, Method::Replay(failure.schedule().clone()));
    assert_eq!(replay.schedule(), failure.schedule());
    assert!(replay.to_string().len() < 1_000, "{replay}");
}

#[test]
fn the_whole_schedule_of_a_long_run_can_be_printed() {
    let failure = long_run(10_000, Method::Random);
    let whole = format!("{failure:#}");
    let (_, schedule) = whole.split_once("COACT_SIM_SCHEDULE=").unwrap();
    let schedule = schedule.lines().next().unwrap().parse().unwrap();
    assert_eq!(failure.schedule(), &schedule);
}

#[test]
fn a_short_schedule_is_printed_whole() {
    let failure = long_run(1_000, Method::Random);
    assert!(failure.to_string().contains(&format!("COACT_SIM_SCHEDULE={}\n", failure.schedule())));
}
