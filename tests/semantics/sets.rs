//! Sets may be tuples of up to eight, slices, arrays and `Vec`s of cowns, in any mix.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use coact::cown::{AsCown, ReadAll};
use coact::internals::SealedHandle;
use coact::prelude::*;
use coact_tests::{Faults, everywhere, panic_of, runtime};

fn cowns(count: usize) -> Vec<Cown<usize>> {
    (0..count).map(Cown::new).collect()
}

/// A test for tuples of one length: each member is that which the set names at its place.
macro_rules! tuple {
    ($name:ident, $($member:ident = $index:tt),*) => {
        #[test]
        fn $name() {
            everywhere(|| {
                let all = cowns(8);
                when(($(&all[$index],)*), |($($member,)*)| { $(*$member = *$member * 10 + $index;)* });
                let seen = call(($(all[$index].read(),)*), |($($member,)*)| vec![$(*$member),*]);
                assert_eq!(seen.wait().unwrap(), vec![$($index * 11),*]);
                // Not in the order of their addresses.
                let seen = call(($(&all[7 - $index],)*), |($($member,)*)| vec![$(*$member % 10),*]);
                assert_eq!(seen.wait().unwrap(), vec![$(7 - $index),*]);
            });
        }
    };
}

tuple!(a_tuple_of_1, a = 0);
tuple!(a_tuple_of_2, a = 0, b = 1);
tuple!(a_tuple_of_3, a = 0, b = 1, c = 2);
tuple!(a_tuple_of_4, a = 0, b = 1, c = 2, d = 3);
tuple!(a_tuple_of_5, a = 0, b = 1, c = 2, d = 3, e = 4);
tuple!(a_tuple_of_6, a = 0, b = 1, c = 2, d = 3, e = 4, f = 5);
tuple!(a_tuple_of_7, a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6);
tuple!(a_tuple_of_8, a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7);

#[test]
fn s2_the_members_of_a_tuple_may_be_of_different_types() {
    everywhere(|| {
        let (text, number) = (Cown::new(String::from("n = ")), Cown::new(7_u8));
        let list = Cown::new(vec![1.5]);
        when((&text, number.read(), &list), |(text, number, list)| {
            text.push_str(&number.to_string());
            list.push(f64::from(*number));
        });
        assert_eq!(call(&text, |text| text.clone()).wait().unwrap(), "n = 7");
        assert_eq!(call(&list, |list| list.clone()).wait().unwrap(), [1.5, 7.0]);
    });
}

#[test]
fn s2_slices_vecs_and_arrays() {
    everywhere(|| {
        let all = cowns(5);
        let array: [Cown<usize>; 2] = [all[4].clone(), all[0].clone()];
        when(&all, |mut all| all.iter_mut().for_each(|n| *n += 10));
        when(&all[1..3], |mut some| some[1] = 0);
        when(&array, |mut two| {
            let first = two[0];
            two[1] += first;
        });
        when([&all[3], &all[1]], |[three, one]| std::mem::swap(three, one));
        let seen = call(read_all(&all[..]), |all| all.iter().copied().collect::<Vec<_>>());
        assert_eq!(seen.wait().unwrap(), [24, 13, 0, 11, 14]);
    });
}

#[test]
fn s2_members_of_a_slice() {
    everywhere(|| {
        let seen = call(&cowns(3), |mut all| {
            assert_eq!((all.len(), all.is_empty()), (3, false));
            assert_eq!((all.get(2), all.get(3)), (Some(&2), None));
            assert_eq!(all.get_mut(3), None);
            all[0] = 5;
            *all.get_mut(1).unwrap() += 5;
            assert_eq!(all.iter().len(), 3);
            assert_eq!(all.iter_mut().len(), 3);
            // All of them at the same time.
            let together: Vec<&mut usize> = all.iter_mut().collect();
            together.into_iter().map(|n| *n).collect::<Vec<_>>()
        });
        assert_eq!(seen.wait().unwrap(), [5, 6, 2]);

        let seen = call(read_all(&cowns(3)), |all| {
            assert_eq!((all.len(), all.is_empty()), (3, false));
            assert_eq!((all.get(2), all.get(3), all[1]), (Some(&2), None, 1));
            (all.clone().iter().sum::<usize>(), panic_of(|| all[3]))
        });
        assert_eq!(
            seen.wait().unwrap(),
            (3, "index 3 is out of range for a slice of 3 cowns".into())
        );
    });
}

#[test]
fn an_option_is_a_slice_of_one_or_none() {
    everywhere(|| {
        let (first, second) = (Cown::new(1), Some(Cown::new(2)));
        for (other, sum) in [(second, 3), (None, 1)] {
            let seen = call((&first, other.as_slice()), |(first, other)| {
                *first + other.iter().sum::<i32>()
            });
            assert_eq!(seen.wait(), Ok(sum));
        }
    });
}

#[test]
fn s2_mixes() {
    everywhere(|| {
        let (many, few) = (cowns(4), cowns(2));
        let (a, b) = (Cown::new(100_usize), Cown::new(String::new()));
        let seen = call(
            (&a, (&b, read_all(&many)), [few[0].read(), few[1].read()], a_pair(&many[..0])),
            |(a, (b, many), [zero, one], (none, also_none))| {
                *a += many.iter().sum::<usize>() + zero + one;
                *b = a.to_string();
                none.len() + also_none.len()
            },
        );
        assert_eq!(seen.wait(), Ok(0));
        assert_eq!(call(&b, |b| b.clone()).wait().unwrap(), "107");
    });

    fn a_pair(slice: &[Cown<usize>]) -> (&[Cown<usize>], ReadAll<'_, usize>) {
        (slice, read_all(slice))
    }
}

#[test]
fn arrays_of_sets() {
    everywhere(|| {
        let all = cowns(6);
        let pairs = [(&all[0], all[1].read()), (&all[2], all[3].read()), (&all[4], all[5].read())];
        when(pairs, |pairs| pairs.into_iter().for_each(|(to, from)| *to += *from));
        when([all[0].checked(), all[2].checked()], |[a, b]| std::mem::swap(a.unwrap(), b.unwrap()));
        let seen = call(&all, |all| all.iter().copied().collect::<Vec<_>>());
        assert_eq!(seen.wait().unwrap(), [5, 1, 1, 3, 9, 5]);
    });
}

/// More than eight cowns: nested tuples.
#[test]
fn nested_tuples() {
    everywhere(|| {
        let all = cowns(10);
        let at = |n: usize| &all[n];
        let set = ((at(0), at(1), at(2), at(3), at(4)), (at(5), (at(6), (at(7), (at(8), at(9))))));
        let sum = call(set, |((a, b, c, d, e), (f, (g, (h, (i, j)))))| {
            [a, b, c, d, e, f, g, h, i, j].map(|n| *n)
        });
        assert_eq!(sum.wait().unwrap(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    });
}

#[test]
fn s3_empty_sets_run() {
    everywhere(|| {
        let none: [Cown<u8>; 0] = [];
        let ran = [
            call((), |()| true),
            call(&none[..], |none| none.is_empty()),
            call(read_all(&none), |none| none.is_empty()),
            call(&Vec::<Cown<u8>>::new(), |none| none.iter().next().is_none()),
            call([(); 0], |[]| true),
            call(((), [(), ()]), |((), [(), ()])| true),
        ];
        assert!(ran.into_iter().all(|ran| ran.wait() == Ok(true)));
        assert!(when_here((), |()| ()));
    });
}

/// As often as one likes: a set without cowns is ordered with nothing, and nothing is lost.
#[test]
fn s3_empty_sets_are_in_no_order() {
    everywhere(|| {
        let sum = Cown::new(0);
        for n in 0..100 {
            let sum = sum.clone();
            when((), move |()| when(&sum, move |sum| *sum += n));
        }
        coact_tests::finally(move || assert_eq!(sum.into_inner().unwrap(), 4950));
    });
}

#[test]
fn a_set_of_a_thousand() {
    everywhere(|| {
        let all = cowns(1000);
        when(&all, |mut all| all.iter_mut().for_each(|n| *n *= 2));
        let sum = call((read_all(&all[..500]), &all[500..]), |(low, high)| {
            low.iter().sum::<usize>() + high.iter().sum::<usize>()
        });
        assert_eq!(sum.wait(), Ok(999_000));
    });
}

#[test]
fn slices_of_references() {
    everywhere(|| {
        let all = cowns(6);
        let even: Vec<&Cown<usize>> = all.iter().step_by(2).collect();
        when(&even, |mut even| even.iter_mut().for_each(|n| *n += 10));
        when(&even[1..], |mut two| two[0] += 100);
        when(&[even[2], even[0]], |mut two| two[0] += two[1]);
        when([even[0], &all[1]], |[zero, one]| std::mem::swap(zero, one));
        let seen = call((read_all(&even), &all[1]), |(even, one)| {
            (even.iter().copied().collect::<Vec<_>>(), *one)
        });
        assert_eq!(seen.wait(), Ok((vec![1, 112, 24], 10)));
        Batch::new().when(&even, |mut even| even[0] = 0).spawn();
        let first = Promise::ready(()).then(&even, |even, _| even[0]);
        assert_eq!(first.wait(), Ok(0));
        assert!(try_when(&[even[0], even[0]], |_| ()).is_err());
    });
}

#[test]
fn members_are_iterators() {
    everywhere(|| {
        let all = cowns(4);
        when(&all, |all| {
            for n in all {
                *n += 1;
            }
        });
        let seen = call(&all, |mut all| {
            for n in &mut all {
                *n *= 2;
            }
            let mut ends = all.iter_mut();
            assert_eq!(
                (ends.next(), ends.next_back(), ends.len()),
                (Some(&mut 2), Some(&mut 8), 2)
            );
            assert_eq!(
                (ends.next_back(), ends.next_back(), ends.next()),
                (Some(&mut 6), Some(&mut 4), None)
            );
            let mut sum = 0;
            for n in &all {
                sum += *n;
            }
            // The states outlive the members.
            let mut states: Vec<&mut usize> = all.into_iter().rev().collect();
            *states[0] = sum;
            states.into_iter().map(|n| *n).collect::<Vec<_>>()
        });
        assert_eq!(seen.wait().unwrap(), [20, 6, 4, 2]);
        let seen = call(read_all(&all), |all| {
            let (mut sum, twice) = (0, all.clone().into_iter().chain(&all));
            for n in twice {
                sum += *n;
            }
            (sum, all.into_iter().rev().clone().next().copied())
        });
        assert_eq!(seen.wait(), Ok((64, Some(20))));
    });
}

/// Counts how often it is cloned or dropped; a handle of a cown, too.
struct Counted {
    cown: Cown<u32>,
    calls: Arc<AtomicUsize>,
}

impl Counted {
    fn new(cown: &Cown<u32>, calls: &Arc<AtomicUsize>) -> Self {
        Self { cown: cown.clone(), calls: Arc::clone(calls) }
    }

    fn count(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.count();
        Self::new(&self.cown, &self.calls)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.count();
    }
}

impl SealedHandle for Counted {}

impl AsCown for Counted {
    type State = u32;
    type View = u32;

    fn as_cown(&self) -> &Cown<u32> {
        &self.cown
    }

    fn view(state: &u32) -> &u32 {
        state
    }

    fn view_mut(state: &mut u32) -> &mut u32 {
        state
    }
}

/// The one worker is busy until all has been looked at: whatever is done is done by spawning.
#[test]
fn s4_spawning_clones_no_handle_and_runs_no_code_of_the_user() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let (go, gate) = mpsc::channel::<()>();
    when(&Cown::new(()), move |()| gate.recv().unwrap());
    let (a, b, c) = (Cown::new(0), Cown::new(0), Cown::new(0));
    let calls = Arc::new(AtomicUsize::new(0));
    let handle = Counted::new(&c, &calls);
    let (one, two, many, slice) =
        (handle.clone(), handle.clone(), handle.clone(), [handle.clone()]);
    let before = (calls.load(Ordering::Relaxed), [&a, &b, &c].map(Cown::strong_count));
    when(&a, move |_| one.count());
    let sum = call((&a, &b, &handle), move |(a, b, c)| {
        two.count();
        *a + *b + *c
    });
    when((read_all(&[&a, &b]), &slice), move |_| many.count());
    let after = (calls.load(Ordering::Relaxed), [&a, &b, &c].map(Cown::strong_count));
    go.send(()).unwrap();
    drop(sum);
    assert_eq!(after, before);
}
