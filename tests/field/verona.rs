//! Behaviours: after the functional tests of verona-rt.
//!
//! | theirs (`test/func`) | here |
//! | --- | --- |
//! | `lambdabehaviour`, `when-transfer` | `a_handle_given_away_is_dropped_with_its_behaviour`, `a_handle_that_is_kept_keeps_the_state` |
//! | `simp_read`, `readonly`, `readonly_cascade` | `readers_that_attach_while_a_writer_leaves_are_let_in` |
//! | `dynamic-cownset` | `slices_are_members_of_sets`, `a_slice_and_its_members_one_by_one_stand_in_one_order` |
//! | `dynamic-cownset-readonly` | the same two, which mix readers and writers |
//! | `when-repeated-cown` | `a_slice_that_names_a_cown_twice_is_refused` |
//! | `multimessage` | `messages_to_one_and_to_both` |
//! | `cown_weak_ref`, `simp_weak1` | `a_weak_handle_does_not_keep_the_state` |
//! | `simp_weak2`, `simp_weak3` | `a_weak_handle_breaks_a_circle` |
//! | `weak_leak_bug` | `a_tree_goes_away_while_it_is_walked` |
//! | `promise` | `a_promise_has_one_end_or_the_other` |
//! | `external_threading` | `a_thread_of_the_program_is_the_runtime` |
//! | `external_event_source` | `threads_outside_bring_work_while_the_runtime_is_held_open` |
//! | `backpressure` | `two_overloaded_pairs_do_not_block_each_other` |
//! | `cownchain` | `a_long_chain_of_cowns_goes_away` |
//! | `diningphilosophers` | `philosophers_dine` |
//! | `atomic-sched`, `dynamic-atomic-sched` | `batches_are_atomic` |
//! | `work`, `steal` | `a_behaviour_may_leave_any_amount_of_work` |
//! | `forkjoin` | `work_is_forked_and_joined` |
//! | `coro` | `a_future_takes_turns` |
//! | `quiescence-work` | `quiescence_is_the_end_of_all_that_was_left` |
//! | `fair`, `fair_variance` | `fairness` |
//!
//! Their other tests are of what Coact does not have: regions, a collector, noticeboards.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coact::WeakCown;
use coact::behaviour::Refusal;
use coact::cown::{Held, ReadMembers};
use coact::prelude::*;
use coact::runtime::{RuntimeHandle, spawn_future};
use coact_tests::{Journal, Log};

use crate::run::{Count, Counted, check, everywhere, of_many, outside};

mod fairness;

type Body = (Counted, Log<&'static str>);

/// A cown whose state is counted, with a log of who has held it.
fn body(count: &Count) -> (Cown<Body>, Log<&'static str>) {
    let log = Log::new();
    (Cown::new((count.one(), log.clone())), log)
}

/// A handle that is given to its behaviour goes with it: alone, behind another one, in batches.
#[test]
fn a_handle_given_away_is_dropped_with_its_behaviour() {
    fn write(name: &'static str) -> impl for<'a> FnOnce(Held<'a, Body>) + Send + 'static {
        move |held| held.1.push(name)
    }
    everywhere(
        || {
            let count = Count::default();
            let logs: Vec<_> = [false, true]
                .into_iter()
                .flat_map(|busy| {
                    let (one, log) = body(&count);
                    let (two, far) = body(&count);
                    let twin = two.clone();
                    if busy {
                        when(&one, |body| body.1.push("busy"));
                        when(&two, |body| body.1.push("busy"));
                    }
                    when(one, write("given"));
                    Batch::new().when(two, write("first")).when(twin, write("second")).spawn();
                    [(busy, vec!["given"], log), (busy, vec!["first", "second"], far)]
                })
                .collect();
            (count, logs)
        },
        |(count, logs)| {
            assert_eq!(count.now(), 0, "a state is left");
            for (busy, expected, log) in logs {
                let before = busy.then_some("busy");
                assert_eq!(log.take(), before.into_iter().chain(expected).collect::<Vec<_>>());
            }
        },
    );
}

/// One handle of two is given away, and the other is kept: the state stays.
#[test]
fn a_handle_that_is_kept_keeps_the_state() {
    check(|| {
        let count = Count::default();
        let (kept, log) = body(&count);
        Batch::new()
            .when(&kept, |body| body.1.push("lent"))
            .when(kept.clone(), |held| {
                held.1.push("given");
            })
            .spawn();
        assert_eq!(call(&kept, |body| body.1.take()).wait().unwrap(), ["lent", "given"]);
        assert_eq!((count.now(), log.len()), (1, 0));
    });
}

/// Readers attach to a writer while it leaves, and a writer to them.
#[test]
fn readers_that_attach_while_a_writer_leaves_are_let_in() {
    everywhere(
        || {
            let ran = Arc::new(AtomicUsize::new(0));
            let chains: Vec<_> = (0..4).map(|_| Cown::new(0_usize)).collect();
            for cown in &chains {
                for step in 0..5 {
                    let (cown, ran) = (cown.clone(), Arc::clone(&ran));
                    // In whatever order these come.
                    when((), move |()| {
                        let ran = move || _ = ran.fetch_add(1, Ordering::Relaxed);
                        match step {
                            0 | 4 => when(&cown, move |n| {
                                *n += 1;
                                ran();
                            }),
                            _ => when(cown.read(), move |n| {
                                assert!(*n <= 2);
                                ran();
                            }),
                        }
                    });
                }
            }
            (ran, chains)
        },
        |(ran, chains)| {
            assert_eq!(ran.load(Ordering::Relaxed), 20);
            chains.into_iter().for_each(|cown| assert_eq!(cown.into_inner().unwrap(), 2));
        },
    );
}

/// Sets that are known at run time only: empty, of one, of several, for reading, mixed and nested.
#[test]
fn slices_are_members_of_sets() {
    check(|| {
        let cowns: Vec<_> = (0..5_u32).map(Cown::new).collect();
        let (some, rest) = cowns.split_at(2);
        fn sum(read: ReadMembers<'_, u32>) -> u32 {
            read.iter().sum()
        }
        let none: &[Cown<u32>] = &[];
        assert_eq!(call(read_all(none), sum).wait(), Ok(0));
        assert_eq!(call(read_all(&some[..1]), sum).wait(), Ok(0));
        assert_eq!(call(read_all(&cowns), sum).wait(), Ok(10));
        let two =
            call((read_all(some), read_all(rest)), move |(some, rest)| (sum(some), sum(rest)));
        assert_eq!(two.wait(), Ok((1, 9)));
        let mixed =
            call((read_all(some), &rest[0], read_all(&rest[1..])), move |(some, n, rest)| {
                *n += 10;
                (sum(some), *n, sum(rest))
            });
        assert_eq!(mixed.wait(), Ok((1, 12, 7)));
        let mixed = call((some[0].read(), rest, some[1].read()), |(a, mut all, b)| {
            all.iter_mut().for_each(|n| *n += 1);
            (*a, all.iter().sum::<u32>(), *b)
        });
        assert_eq!(mixed.wait(), Ok((0, 22, 1)));
    });
}

/// What a reader of a slice spawns on one of its cowns comes after it, and the other way round.
#[test]
fn a_slice_and_its_members_one_by_one_stand_in_one_order() {
    everywhere(
        || {
            let journal = Journal::new();
            let cowns = [Cown::new(0), Cown::new(0)];
            let (one, both, note) = (cowns[0].clone(), cowns.clone(), journal.clone());
            when(read_all(&cowns), move |_| {
                note.note("readers");
                let far = note.clone();
                when(&one, move |_| {
                    far.note("writer");
                    let far = far.clone();
                    when(&both, move |_| far.note("both"));
                });
            });
            journal
        },
        |journal| journal.assert_chain(&["readers", "writer", "both"]),
    );
}

#[test]
fn a_slice_that_names_a_cown_twice_is_refused() {
    check(|| {
        let cown = Cown::new(0);
        let twice = [cown.clone(), cown.clone()];
        let refused = |error: Refusal| assert!(matches!(error, Refusal::Overlap(_)), "{error}");
        refused(try_when(read_all(&twice), |_| ()).unwrap_err().refusal);
        refused(try_when(&twice, |_| ()).unwrap_err().refusal);
        refused(try_when((&cown, read_all(&twice[..1])), |_| ()).unwrap_err().refusal);
        // Nothing was queued: the cown is free.
        assert!(cown.clone().into_inner().is_err(), "there are other handles");
        drop(twice);
        assert_eq!(cown.into_inner().unwrap(), 0);
    });
}

/// A behaviour on one cown, then on it and another, with the last handles gone.
#[test]
fn messages_to_one_and_to_both() {
    everywhere(
        || {
            let (count, log) = (Count::default(), Log::new());
            let one = Cown::new((3, count.one()));
            let told = log.clone();
            when(&one, move |(n, _)| told.push(*n));
            let two = Cown::new((5, count.one()));
            let told = log.clone();
            when((one, two), move |(a, b)| told.push(a.0 + b.0));
            (count, log)
        },
        |(count, log)| assert_eq!((log.take(), count.now()), (vec![3, 8], 0)),
    );
}

/// A weak handle finds the state as long as there is a strong one, and does not keep it.
#[test]
fn a_weak_handle_does_not_keep_the_state() {
    everywhere(
        || {
            let count = Count::default();
            let cown = Cown::new(count.one());
            let weak = cown.downgrade();
            let again = weak.upgrade().expect("there is a handle");
            drop(cown);
            assert!(weak.upgrade().is_some());
            // A behaviour has none of its own, and yet runs.
            let ran = call(&again, |_| ());
            drop(again);
            ran.wait().unwrap();
            assert!(weak.upgrade().is_none());
            // The weak handle may stay for good.
            (count, weak)
        },
        |(count, weak)| assert_eq!((count.now(), weak.upgrade().is_none()), (0, true)),
    );
}

struct Subject {
    observer: Option<WeakCown<Observer>>,
    _count: Counted,
}

struct Observer {
    subject: Option<Cown<Subject>>,
    _count: Counted,
}

/// Two that know each other, one of them weakly.
#[test]
fn a_weak_handle_breaks_a_circle() {
    everywhere(
        || {
            let (count, seen) = (Count::default(), Log::new());
            let subject = Cown::new(Subject { observer: None, _count: count.one() });
            let observer = Cown::new(Observer { subject: None, _count: count.one() });
            let weak = observer.downgrade();
            when(&subject, move |subject| subject.observer = Some(weak));
            let far = subject.clone();
            when(&observer, move |observer| observer.subject = Some(far));
            let seen_by = seen.clone();
            when(&subject, move |subject| {
                let observer = subject.observer.as_ref().expect("was set before");
                match observer.upgrade() {
                    None => seen_by.push("gone"),
                    Some(observer) => when(&observer, move |observer| {
                        assert!(observer.subject.is_some(), "it was told before");
                        seen_by.push("there");
                    }),
                }
            });
            (count, seen)
        },
        |(count, seen)| assert_eq!((count.now(), seen.len()), (0, 1)),
    );
}

struct Node {
    parent: Option<WeakCown<Node>>,
    children: Vec<Cown<Node>>,
    _count: Counted,
}

fn grow(node: &Cown<Node>, depth: usize, count: Count) {
    if depth == 0 {
        return;
    }
    let this = node.downgrade();
    when(node, move |node| {
        for _ in 0..2 {
            let parent = Some(this.clone());
            let child = Cown::new(Node { parent, children: vec![], _count: count.one() });
            grow(&child, depth - 1, count.clone());
            node.children.push(child);
        }
    });
}

fn climb(node: &Cown<Node>) {
    when(node, |node| {
        if let Some(parent) = node.parent.as_ref().and_then(WeakCown::upgrade) {
            climb(&parent);
        }
    });
}

fn descend(node: &Cown<Node>, visited: Arc<AtomicUsize>) {
    when(node, {
        let visited = Arc::clone(&visited);
        move |node| {
            visited.fetch_add(1, Ordering::Relaxed);
            node.children.iter().for_each(|child| descend(child, Arc::clone(&visited)));
        }
    });
    climb(node);
}

/// A tree with weak handles upwards is walked up and down while it goes away.
#[test]
fn a_tree_goes_away_while_it_is_walked() {
    everywhere(
        || {
            let (count, visited) = (Count::default(), Arc::default());
            let root = Cown::new(Node { parent: None, children: vec![], _count: count.one() });
            grow(&root, 3, count.clone());
            descend(&root, Arc::clone(&visited));
            (count, visited)
        },
        |(count, visited)| {
            assert_eq!(visited.load(Ordering::Relaxed), 15);
            assert_eq!(count.now(), 0, "nodes are left");
        },
    );
}

/// A promise with a reader, without one, without a writer, and of a value that can only be moved.
#[test]
fn a_promise_has_one_end_or_the_other() {
    check(|| {
        let (resolver, promise) = Promise::channel();
        when((), move |()| resolver.resolve(Box::new(42)));
        assert_eq!(promise.then((), |(), value| *value.unwrap() + 1).wait(), Ok(43));
        // Without readers.
        let (resolver, promise) = Promise::channel();
        drop(promise);
        when((), move |()| resolver.resolve(42));
        // Without writers.
        let (resolver, promise) = Promise::<u32>::channel();
        when((), move |()| drop(resolver));
        let broken = promise.then((), |(), value| value.is_err());
        assert_eq!(broken.wait(), Ok(true));
        // Without either.
        drop(Promise::<u32>::channel());
    });
}

/// The runtime on a thread that the program has already.
#[test]
fn a_thread_of_the_program_is_the_runtime() {
    check(|| {
        let pump = Runtime::builder().build_pumped().unwrap();
        let (here, there) = (pump.run(|| Cown::new(0)), Cown::new(0));
        for n in 0..10 {
            let far = there.clone();
            when(&here, move |sum| {
                *sum += n;
                when(&far, move |sum| *sum += n);
            });
        }
        pump.run_until_idle(&[RuntimeHandle::current()]);
        when((&here, &there), |(a, b)| *a += *b);
        pump.run_until_idle(&[RuntimeHandle::current()]);
        assert_eq!(here.into_inner().unwrap_or_default(), 90);
    });
}

/// Between what one thread brings and what the next does the workers have nothing to do; the run
/// ends with the last thread all the same.
#[test]
fn threads_outside_bring_work_while_the_runtime_is_held_open() {
    everywhere(
        || {
            let rounds = of_many(50, 3);
            let [sum, ended] = [(); 2].map(|()| Cown::new(0));
            for _ in 0..3 {
                let (sum, ended, busy) =
                    (sum.clone(), ended.clone(), RuntimeHandle::current().hold_open());
                outside(move || {
                    for _ in 0..rounds {
                        // When it is answered, nothing of it is left.
                        call(&sum, |sum| *sum += 1).wait().unwrap();
                    }
                    when(ended, |mut ended| *ended += 1);
                    // Before the guard: what is left of the runtime afterwards is its handle's.
                    drop(sum);
                    drop(busy);
                });
            }
            (3 * rounds, sum, ended)
        },
        |(all, sum, ended)| {
            let read = |cown: Cown<usize>| cown.into_inner().expect("all others have ended");
            assert_eq!((read(sum), read(ended)), (all, 3));
        },
    );
}

fn overload(from: &Cown<usize>, to: &Cown<usize>, times: usize) {
    let (from, to) = (from.clone(), to.clone());
    when((), move |()| {
        for _ in 0..times {
            let to = to.clone();
            when(&from, move |sent| {
                *sent += 1;
                when(&to, |received| *received += 1);
            });
        }
    });
}

/// Two pairs of senders and receivers that are too fast, and a behaviour over one of each.
#[test]
fn two_overloaded_pairs_do_not_block_each_other() {
    check(|| {
        let [from, to, other_from, other_to] = [(); 4].map(|()| Cown::new(0));
        let times = of_many(1000, 20);
        overload(&from, &to, times);
        overload(&other_from, &other_to, times);
        call((&from, &other_to), |_| ()).wait().unwrap();
        Runtime::wait_idle_all(&[RuntimeHandle::current()]);
        let all = [from, to, other_from, other_to].map(|cown| cown.into_inner().unwrap());
        assert_eq!(all, [times; 4]);
    });
}

struct Link {
    _next: Option<Cown<Link>>,
    _count: Counted,
}

/// A long chain of cowns that own one another goes away link by link.
#[test]
fn a_long_chain_of_cowns_goes_away() {
    everywhere(
        || {
            let count = Count::default();
            let mut head = None;
            for _ in 0..of_many(100_000, 500) {
                head = Some(Cown::new(Link { _next: head, _count: count.one() }));
            }
            drop(head);
            count
        },
        |count| assert_eq!(count.now(), 0),
    );
}

/// Forks: each philosopher eats as often as he is hungry, whatever his neighbours do.
#[test]
fn philosophers_dine() {
    #[derive(Default)]
    struct Fork {
        uses: usize,
    }
    fn eat(left: Cown<Fork>, right: Cown<Fork>, hunger: usize) {
        let next = (left.clone(), right.clone());
        when((&left, &right), move |(a, b)| {
            a.uses += 1;
            b.uses += 1;
            if hunger > 1 {
                eat(next.0, next.1, hunger - 1);
            }
        });
    }
    everywhere(
        || {
            let hunger = of_many(200, 5);
            let forks: Vec<_> = (0..5).map(|_| Cown::new(Fork::default())).collect();
            for seat in 0..5 {
                eat(forks[seat].clone(), forks[(seat + 1) % 5].clone(), hunger);
            }
            (hunger, forks)
        },
        |(hunger, forks)| {
            for fork in forks {
                assert_eq!(fork.into_inner().ok().map(|fork| fork.uses), Some(2 * hunger));
            }
        },
    );
}

/// Batches over several cowns from several threads do not come between each other.
#[test]
fn batches_are_atomic() {
    everywhere(
        || {
            let cowns: [Cown<Vec<usize>>; 3] = [(); 3].map(|()| Cown::new(Vec::new()));
            for number in 0..6 {
                let cowns = cowns.clone();
                when((), move |()| {
                    let write = move |list: &mut Vec<usize>| list.push(number);
                    Batch::new()
                        .when(&cowns[0], write)
                        .when(&cowns[1], write)
                        .when(&cowns[2], write)
                        .spawn();
                });
            }
            cowns
        },
        |cowns| {
            let [a, b, c] = cowns.map(|cown| cown.into_inner().unwrap());
            assert_eq!(a.len(), 6);
            assert_eq!((&a, &a), (&b, &c), "one order on all");
        },
    );
}

/// Work that one behaviour leaves is done by all.
#[test]
fn a_behaviour_may_leave_any_amount_of_work() {
    everywhere(
        || {
            let sum = Arc::new(AtomicUsize::new(0));
            let many = of_many(2000, 50);
            let far = Arc::clone(&sum);
            when((), move |()| {
                for n in 0..many {
                    let (cown, sum) = (Cown::new(n), Arc::clone(&far));
                    when(cown, move |n| _ = sum.fetch_add(*n, Ordering::Relaxed));
                }
            });
            (many, sum)
        },
        |(many, sum)| assert_eq!(sum.load(Ordering::Relaxed), many * (many - 1) / 2),
    );
}

/// Work is split, and its parts are joined.
#[test]
fn work_is_forked_and_joined() {
    fn sum(from: usize, to: usize) -> Promise<usize> {
        if to - from == 1 {
            return call((), move |()| from);
        }
        let middle = from.midpoint(to);
        let (left, right) = (sum(from, middle), sum(middle, to));
        spawn_future(async move { left.await.unwrap() + right.await.unwrap() })
    }
    check(|| {
        let many = of_many(1024, 16);
        assert_eq!(sum(0, many).wait(), Ok(many * (many - 1) / 2));
    });
}

/// A future takes cowns in turns, and others come between.
#[test]
fn a_future_takes_turns() {
    everywhere(
        || {
            let cown = Cown::new(Vec::new());
            for name in ["a", "b"] {
                let cown = cown.clone();
                drop(spawn_future(async move {
                    for turn in 0..4 {
                        call(&cown, move |list| list.push((name, turn))).await.unwrap();
                    }
                }));
            }
            cown
        },
        |cown| {
            let list = cown.into_inner().unwrap();
            for name in ["a", "b"] {
                let turns: Vec<_> =
                    list.iter().filter(|(by, _)| *by == name).map(|it| it.1).collect();
                assert_eq!(turns, [0, 1, 2, 3]);
            }
        },
    );
}

/// A runtime that has come to rest is set to work again, over and over.
#[test]
fn quiescence_is_the_end_of_all_that_was_left() {
    check(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let done = Arc::new(AtomicUsize::new(0));
        for round in 1..=3 {
            let far = Arc::clone(&done);
            runtime.run(move || {
                when((), move |()| {
                    for _ in 0..32 {
                        let done = Arc::clone(&far);
                        when((), move |()| _ = done.fetch_add(1, Ordering::Relaxed));
                    }
                });
            });
            assert_eq!(done.load(Ordering::Relaxed), 32 * round);
        }
    });
}
