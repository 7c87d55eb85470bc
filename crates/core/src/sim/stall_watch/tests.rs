//! Tests of the decision, with looks by hand.

use super::*;

const WAITING: ThreadStatus = ThreadStatus { is_waiting: true, time: (3, 30) };

#[test]
fn a_blocked_thread_is_reported_once_after_ten_looks() {
    let mut looks = BlockedLooks::default();
    assert!(!looks.look(7, true, WAITING), "the first look has nothing to compare with");
    let reports = (0..100).filter(|_| looks.look(7, true, WAITING)).count();
    assert_eq!((reports, looks.count), (1, 100));
    // Once it has gone on, it can be reported again.
    assert!(!looks.look(8, true, WAITING));
    assert_eq!((0..10).map(|_| looks.look(8, true, WAITING)).filter(|now| *now).count(), 1);
}

#[test]
fn whatever_moves_is_not_blocked() {
    let computing = ThreadStatus { is_waiting: false, ..WAITING };
    let mut looks = BlockedLooks::default();
    for look in 0..1_000 {
        let used = ThreadStatus { time: (3, 30 + look), ..WAITING };
        // It computes; it waits and computes; it makes steps; the engine runs, and no task.
        let all =
            [(7, true, computing), (7, true, used), (look, true, WAITING), (7, false, WAITING)];
        let (steps, runs, status) = all[usize::try_from(look / 250).unwrap()];
        assert!(!looks.look(steps, runs, status), "{look}");
    }
}

#[test]
fn the_files_of_a_thread_are_read() {
    let stat = "71 (a) S (b) S 1 2 3 0 -1 4194304 97 0 0 0 12 30 0 0 20 0 1 0 72986 3133440";
    let status = parse(stat, Some("58497 12 1\n"));
    assert_eq!(status, Some(ThreadStatus { is_waiting: true, time: (42, 58497) }));
    let running = parse(&stat.replace(") S 1", ") R 1"), None);
    assert_eq!(running, Some(ThreadStatus { is_waiting: false, time: (42, 0) }));
    assert_eq!(parse("nonsense", None), None);
    assert_eq!(parse("71 (a) S 1", None), None);
}

#[test]
#[cfg(target_os = "linux")]
fn this_thread_runs() {
    let status = StatusFiles::of_this_thread().expect("Linux has these files");
    assert!(!status.read().expect("they can be read").is_waiting);
}
