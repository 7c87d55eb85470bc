//! Readers of one cown run in parallel when they stand next to each other in its order; writers
//! exclude all others.

use coact::prelude::*;
use coact_tests::{Faults, Journal, Meeting, everywhere, fail, runtime};

/// Spawns a reader that must meet others in the middle of its body.
fn reader(cown: &Cown<u32>, meeting: &Meeting) -> Promise<bool> {
    let meeting = meeting.clone();
    call(cown.read(), move |_| meeting.wait())
}

#[test]
fn o6_readers_run_at_the_same_time() {
    let runtime = runtime(4, &Faults::new());
    let met = runtime.run(|| {
        let (cown, all) = (Cown::new(0), Meeting::of(4));
        [(); 4].map(|()| reader(&cown, &all))
    });
    assert_eq!(met.map(Promise::wait), [(); 4].map(|()| Ok(true)));
}

/// Readers whom a writer lets go together.
#[test]
fn o6_readers_behind_a_writer_run_at_the_same_time() {
    let runtime = runtime(2, &Faults::new());
    let met = runtime.run(|| {
        let (cown, both) = (Cown::new(0), Meeting::of(2));
        let again = cown.clone();
        // Spawned while the cown is held: they stand in its queue.
        call(&cown, move |_| [reader(&again, &both), reader(&again, &both)])
    });
    assert_eq!(met.wait().unwrap().map(Promise::wait), [Ok(true), Ok(true)]);
}

/// A reader that comes while another one is at work does not wait for it.
#[test]
fn o6_a_late_reader_joins() {
    let runtime = runtime(2, &Faults::new());
    let met = runtime.run(|| {
        let (cown, both) = (Cown::new(0), Meeting::of(2));
        let (late, again) = (both.clone(), cown.clone());
        call(cown.read(), move |_| {
            let joined = reader(&again, &late);
            (both.wait(), joined)
        })
    });
    let (met, joined) = met.wait().unwrap();
    assert_eq!((met, joined.wait()), (true, Ok(true)));
}

/// Readers of several cowns, which share one of them only.
#[test]
fn o6_readers_with_other_cowns_run_at_the_same_time() {
    let runtime = runtime(2, &Faults::new());
    let met = runtime.run(|| {
        let (shared, a, b) = (Cown::new(0), Cown::new(0), Cown::new(0));
        let both = Meeting::of(2);
        let other = both.clone();
        [
            call((&a, shared.read()), move |_| both.wait()),
            call((shared.read(), &b), move |_| other.wait()),
        ]
    });
    assert_eq!(met.map(Promise::wait), [Ok(true), Ok(true)]);
}

#[test]
fn a5_a_reader_sees_what_was_written_before_it_and_nothing_later() {
    everywhere(|| {
        let cown = Cown::new(0);
        let mut seen = Vec::new();
        for n in 1..50 {
            when(&cown, move |state| *state = n);
            seen.push((n, call(cown.read(), |state| *state)));
            seen.push((n, call(read_all(std::slice::from_ref(&cown)), |all| all[0])));
        }
        for (n, seen) in seen {
            assert_eq!(seen.wait(), Ok(n));
        }
    });
}

#[test]
fn o1_a_writer_waits_for_the_readers_before_it_and_holds_up_those_behind() {
    everywhere(|| {
        let (journal, cown) = (Journal::new(), Cown::new(0));
        let body = |name| {
            let journal = journal.clone();
            move || journal.body(name, std::thread::yield_now)
        };
        let [r1, r2, w1, r3, r4, w2] = ["r1", "r2", "w1", "r3", "r4", "w2"].map(body);
        when(cown.read(), move |_| r1());
        when(cown.read(), move |_| r2());
        when(&cown, move |_| w1());
        when(cown.read(), move |_| r3());
        when(cown.read(), move |_| r4());
        when(&cown, move |_| w2());
        call(&cown, |_| ()).wait().unwrap();
        for reader in ["r1", "r2"] {
            journal.assert_chain(&[reader, "w1"]);
        }
        for reader in ["r3", "r4"] {
            journal.assert_chain(&["w1", reader, "w2"]);
        }
    });
}

/// A writer is not starved: readers that come after it do not overtake it.
#[test]
fn readers_do_not_overtake_a_writer() {
    everywhere(|| {
        let (journal, cown) = (Journal::new(), Cown::new(0));
        let (reader, writer, late, again) =
            (journal.clone(), journal.clone(), journal.clone(), cown.clone());
        let done = call(cown.read(), move |_| {
            reader.body("reader", || {
                when(&again, move |_| writer.note("writer"));
                call(again.read(), move |_| late.note("late reader"))
            })
        });
        done.wait().unwrap().wait().unwrap();
        journal.assert_chain(&["reader", "writer", "late reader"]);
    });
}

#[test]
fn a_behaviour_may_read_some_and_write_others() {
    everywhere(|| {
        let (config, total) = (Cown::new(3), Cown::new(0));
        (0..50).for_each(|_| when((config.read(), &total), |(step, total)| *total += *step));
        assert_eq!(call(total.read(), |total| *total).wait(), Ok(150));
    });
}

/// Readers that end in any order, with writers between them: each hand-over must find its way.
#[test]
fn a4_readers_and_writers_by_turns_lose_nothing() {
    everywhere(|| {
        let (a, b) = (Cown::new(0_u64), Cown::new(0_u64));
        let reads = Cown::new(0_u64);
        for n in 0..300 {
            match n % 5 {
                0 => when(&a, |a| *a += 1),
                1 => when((a.read(), &b), |(_, b)| *b += 1),
                2 => when((&a, b.read()), |(a, _)| *a += 1),
                _ => when((a.read(), b.read(), &reads), |(_, _, reads)| *reads += 1),
            }
        }
        let all = call((a.read(), b.read(), reads.read()), |(a, b, reads)| (*a, *b, *reads));
        assert_eq!(all.wait(), Ok((120, 60, 120)));
    });
}

#[test]
fn f2_a_reader_that_panics_leaves_the_cown_as_it_is() {
    coact_tests::everywhere_with_faults(|_| {
        let cown = Cown::new(5);
        let failed = call(cown.read(), |_| fail("while reading"));
        when(&cown, |state| *state += 1);
        assert_eq!(failed.wait(), Err::<(), _>(Broken::Panicked("while reading".into())));
        assert_eq!(call(cown.read(), |state| *state).wait(), Ok(6));
        assert!(!cown.is_poisoned());
    });
}
