//! A replay is the same run, or says where it is not.

use coact_sim::{
    Choice, FifoOrder, Pct, RandomWalk, RunDivergence, Schedule, ScheduleRecorder, ScheduleReplay,
    SchedulingStrategy, Seed, TaskId,
};
use proptest::prelude::*;

use crate::toy::{Program, programs, tasks};

fn task(id: u32) -> Choice {
    Choice::Task(TaskId(id))
}

fn replay(choices: impl IntoIterator<Item = Choice>) -> ScheduleReplay {
    let mut replay = ScheduleReplay::new(choices.into_iter().collect());
    assert!(replay.begin_run());
    replay
}

#[test]
fn there_is_one_run() {
    let mut replay = replay([]);
    assert_eq!(replay.end_run(), Ok(()));
    assert!(!replay.begin_run());
}

#[test]
fn after_the_end_of_the_schedule_the_run_goes_on_in_order() {
    let mut replay = replay([task(1), task(2)]);
    let run = Program::steps(3, 2).run(&mut replay);
    assert_eq!(tasks(&run), [1, 2, 2, 0, 0, 1]);
    assert_eq!(replay.end_run(), Ok(()));
}

#[test]
fn a_task_that_cannot_run_is_a_divergence() {
    let mut replay = replay([task(0), task(0), task(0), task(1)]);
    let run = Program::steps(2, 2).run(&mut replay);
    assert_eq!(run.len(), 4, "the run is finished nevertheless");
    let divergence = replay.end_run().unwrap_err();
    assert_eq!(
        divergence.to_string(),
        "the run diverged at choice 2: the schedule says task 0, the program offers runnable tasks \
         [1] with none running; it is not deterministic, or not the program that was recorded"
    );
    assert_eq!(replay.end_run(), Ok(()), "it is reported once");
    assert!(!replay.begin_run());
}

#[test]
fn a_value_out_of_bounds_or_of_another_kind_is_a_divergence() {
    for recorded in [Choice::Value(3), task(0)] {
        let mut replay = replay([Choice::Value(2), recorded]);
        assert_eq!(replay.choose_value(3), 2);
        assert_eq!(replay.choose_value(3), 0);
        let divergence = replay.end_run();
        assert!(
            matches!(divergence, Err(RunDivergence::Unavailable { at: 1, recorded: r, .. }) if r == recorded),
            "{divergence:?}"
        );
    }
}

#[test]
fn an_early_end_is_a_divergence() {
    let mut replay = replay([task(0), task(0), task(0)]);
    Program::steps(1, 2).run(&mut replay);
    let ended = RunDivergence::EndedEarly { at: 2, expected: 3 };
    assert_eq!(replay.end_run(), Err(ended));
}

#[test]
#[should_panic(expected = "the run diverged: it was over after 0 choices")]
fn an_unread_divergence_panics() {
    replay([task(0)]).begin_run();
}

fn recorded(strategy: impl SchedulingStrategy, program: &Program) -> (Vec<Choice>, Schedule) {
    let mut recorder = ScheduleRecorder::new(strategy);
    // The third run, so that earlier ones have had their chance to leave something behind.
    for _ in 0..3 {
        recorder.begin_run();
        program.run(&mut recorder);
    }
    recorder.begin_run();
    let run = program.run(&mut recorder);
    (run, recorder.schedule().clone())
}

proptest! {
    #[test]
    fn a_replay_of_the_printed_schedule_is_the_same_run(program in programs(), seed: u64) {
        let seed = Seed::new(seed);
        for (run, schedule) in [recorded(RandomWalk::new(seed), &program), recorded(Pct::new(seed, 3), &program)] {
            prop_assert!(schedule.iter().eq(run.iter().copied()));
            let mut replay = ScheduleRecorder::new(ScheduleReplay::new(schedule.to_string().parse().unwrap()));
            replay.begin_run();
            prop_assert_eq!(program.run(&mut replay), run);
            prop_assert_eq!(replay.end_run(), Ok(()));
            prop_assert_eq!(replay.schedule(), &schedule);
        }
    }

    #[test]
    fn any_schedule_brings_any_program_to_its_end(program in programs(), seed: u64, other in programs()) {
        let (_, schedule) = recorded(RandomWalk::new(Seed::new(seed)), &other);
        let mut replay = ScheduleReplay::new(schedule.clone());
        replay.begin_run();
        let run = program.run(&mut replay);
        let runs = program.every_run();
        prop_assert!(runs.iter().any(|(possible, _)| *possible == run));
        // It diverged unless the run begins with the schedule.
        prop_assert_eq!(replay.end_run().is_ok(), run.len() as u64 >= schedule.len() && schedule.iter().eq(run.into_iter().take(schedule.len() as usize)));
    }

    #[test]
    fn an_empty_schedule_is_fifo(program in programs()) {
        let mut fifo = FifoOrder::new();
        fifo.begin_run();
        prop_assert_eq!(program.run(&mut replay([])), program.run(&mut fifo));
    }
}
