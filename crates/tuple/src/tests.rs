//! Tuples beside what they should be. Small enough to be interpreted with all checks of memory
//! (CONTRIBUTING.md).

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use proptest::prelude::*;

use crate::{AnyTuple, CowTuple, Element, atom};

/// Counts its copies that are alive.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>, u32);

impl Counted {
    fn new(alive: &Arc<AtomicUsize>, value: u32) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(alive), value)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Self::new(&self.0, self.1)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Element for Counted {}

/// Panics when it is told to.
#[derive(Debug)]
struct Bomb {
    in_clone: bool,
    in_drop: bool,
    _kept: Box<u8>,
}

impl Clone for Bomb {
    fn clone(&self) -> Self {
        assert!(!self.in_clone, "no copies");
        Self { in_clone: false, in_drop: false, _kept: Box::new(1) }
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.in_drop, "it does not end");
    }
}

impl Element for Bomb {}

fn panics(run: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

#[test]
fn elements_are_dropped_once() {
    let alive = Arc::default();
    let tuple = AnyTuple::new((1, Counted::new(&alive, 5), "text"));
    let others = [tuple.clone(), tuple.clone()];
    assert_eq!(alive.load(Ordering::Relaxed), 1, "clones share");
    drop(tuple);
    assert_eq!(alive.load(Ordering::Relaxed), 1);
    drop(others);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn a_write_copies_only_what_is_shared() {
    let alive = Arc::default();
    let mut tuple = AnyTuple::new((Counted::new(&alive, 5),));
    tuple.get_mut::<Counted>(0).unwrap().1 += 1;
    assert_eq!(alive.load(Ordering::Relaxed), 1, "it was the only one");
    let mut other = tuple.clone();
    assert!(tuple.is_shared() && other.is_shared());
    other.get_mut::<Counted>(0).unwrap().1 += 1;
    assert_eq!(alive.load(Ordering::Relaxed), 2);
    assert!(!tuple.is_shared() && !other.is_shared());
    let values = [&tuple, &other].map(|tuple| tuple.get::<Counted>(0).unwrap().1);
    assert_eq!(values, [6, 7]);
}

#[test]
fn taking_moves_what_is_not_shared() {
    let alive = Arc::default();
    let tuple = AnyTuple::new((Counted::new(&alive, 5), 1));
    let other = tuple.clone();
    let (copy, _) = tuple.take::<(Counted, i32)>().unwrap();
    assert_eq!(alive.load(Ordering::Relaxed), 2);
    let (moved, _) = other.take::<(Counted, i32)>().unwrap();
    assert_eq!(alive.load(Ordering::Relaxed), 2);
    drop((copy, moved));
    assert_eq!(alive.load(Ordering::Relaxed), 0);
    let back = AnyTuple::new((1, 2)).take::<(i32,)>().unwrap_err();
    assert_eq!(back.to_string(), "(1, 2)");
}

#[test]
fn a_panic_of_a_copy_leaves_the_tuple_as_it_was() {
    let bomb = Bomb { in_clone: true, in_drop: false, _kept: Box::new(0) };
    let mut tuple = AnyTuple::new((bomb, 7));
    let other = tuple.clone();
    assert!(panics(|| *tuple.get_mut::<i32>(1).unwrap() += 1));
    assert!(tuple.is_shared());
    assert_eq!(other.get::<i32>(1), Some(&7));
    assert!(panics(|| drop(tuple.take::<(Bomb, i32)>())));
    assert!(!other.is_shared(), "the count of the one that was taken is given back");
}

#[test]
fn a_panic_of_a_destructor_frees_the_block_once() {
    let bomb = || Bomb { in_clone: false, in_drop: true, _kept: Box::new(0) };
    let tuple = AnyTuple::new(bomb());
    assert!(panics(|| drop(tuple)));
    // The other share goes while this one is copied, so that the old block ends in `get_mut`.
    let mut tuple = AnyTuple::new((bomb(), LetGo::default()));
    let other = tuple.clone();
    tuple.get::<LetGo>(1).unwrap().0.lock().unwrap().replace(other);
    assert!(panics(|| tuple.get_mut::<LetGo>(1).unwrap().0 = Arc::default()));
    assert!(!tuple.is_shared());
    *tuple.get_mut::<LetGo>(1).unwrap() = LetGo::default();
    assert!(tuple.get::<Bomb>(0).is_some_and(|copy| !copy.in_drop));
}

/// Drops the tuple that it has when it is cloned.
#[derive(Debug, Default)]
struct LetGo(Arc<std::sync::Mutex<Option<AnyTuple>>>);

impl Clone for LetGo {
    fn clone(&self) -> Self {
        drop(self.0.lock().unwrap().take());
        Self::default()
    }
}

impl Element for LetGo {}

#[test]
fn tuples_may_be_empty_aligned_and_without_size() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(128))]
    struct Aligned(u8);
    impl Element for Aligned {}
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Nothing;
    impl Element for Nothing {}

    assert!(AnyTuple::new(()).is_empty());
    assert_eq!(AnyTuple::default().to_string(), "()");
    let aligned = AnyTuple::new((1_u8, Aligned(2), Nothing));
    assert_eq!(aligned.get::<Aligned>(1), Some(&Aligned(2)));
    assert_eq!(aligned.clone().take::<(u8, Aligned, Nothing)>().unwrap(), (1, Aligned(2), Nothing));
    assert_eq!(AnyTuple::new(Nothing).get::<Nothing>(0), Some(&Nothing));
    let largest = AnyTuple::new((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12_u8));
    assert_eq!((largest.len(), largest.get::<u8>(11)), (12, Some(&12)));
}

#[test]
fn an_element_has_one_type_only() {
    let tuple = AnyTuple::new((1_i32, 2_u32, "three"));
    assert_eq!((tuple.get::<i32>(0), tuple.get::<u32>(0)), (Some(&1), None));
    assert_eq!((tuple.get::<i32>(3), tuple.get::<&'static str>(2)), (None, None));
    assert!(tuple.is::<(i32, u32, String)>());
    assert!(!tuple.is::<(i32, u32)>() && tuple.view::<(u32, i32, String)>().is_none());
    assert_eq!(tuple.types().to_string(), "(i32, u32, String)");
    assert_eq!(AnyTuple::new(Some(vec![atom!("a")])).types().to_string(), "(Option<Vec<Atom>>,)");
    assert_eq!(tuple.elements()[0].wire_name(), Some("i32"));
}

#[test]
fn typed_tuples_share_and_copy() {
    let mut typed = CowTuple::new((1, String::from("one")));
    let erased = AnyTuple::from(typed.clone());
    typed.get_mut().1.push('!');
    assert_eq!(erased.to_string(), "(1, \"one\")");
    assert_eq!(format!("{typed:?}"), "(1, \"one!\")");
    assert_eq!(typed.into_inner(), (1, String::from("one!")));
}

#[test]
fn tuples_are_elements() {
    let inner = AnyTuple::new((1, "in"));
    let outer = AnyTuple::new(("out", inner.clone()));
    assert_eq!(outer.to_string(), "(\"out\", (1, \"in\"))");
    assert!(inner.is_shared());
    assert_eq!(AnyTuple::new(inner.clone()).len(), 2, "alone it is the tuple itself");
    assert_eq!(AnyTuple::new((inner,)).len(), 1, "an element");
}

/// A tuple in a tuple in a tuple...
fn deep(innermost: AnyTuple) -> AnyTuple {
    let depth = if cfg!(miri) { 100 } else { 300_000 };
    (0..depth).fold(innermost, |inner, number| AnyTuple::new((number, inner)))
}

#[test]
fn deep_tuples_are_dropped_and_printed() {
    let alive = Arc::default();
    let tuple = deep(AnyTuple::new(Counted::new(&alive, 1)));
    assert!(tuple.to_string().contains("(..)"));
    drop(tuple);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn a_panic_in_the_depth_comes_out_and_leaves_nothing_behind() {
    let alive = Arc::default();
    let bomb = || Bomb { in_clone: false, in_drop: true, _kept: Box::new(0) };
    // Two panics, the one while the other unwinds, would be the end of the process.
    let deepest = AnyTuple::new((bomb(), deep(AnyTuple::new((bomb(), Counted::new(&alive, 1))))));
    let tuple = deep(deepest);
    assert!(panics(|| drop(tuple)));
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn a_thread_that_ends_drops_deep_tuples() {
    thread_local! {
        static KEPT: std::cell::RefCell<Option<AnyTuple>> = const { std::cell::RefCell::new(None) };
    }
    let alive = Arc::<AtomicUsize>::default();
    let counted = AnyTuple::new(Counted::new(&alive, 1));
    let kept = deep(counted);
    let first = deep(AnyTuple::new(1));
    let end = move || {
        // Before there is anything that the thread keeps for deep tuples, and after that.
        KEPT.set(Some(kept));
        drop(first);
    };
    thread::spawn(end).join().unwrap();
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn threads_share_tuples() {
    let alive = Arc::default();
    let rounds = if cfg!(miri) { 3 } else { 2_000 };
    for round in 0..rounds {
        let start = Barrier::new(3);
        let tuple = AnyTuple::new((Counted::new(&alive, round), round));
        thread::scope(|scope| {
            for write in [false, true, true] {
                let (mut mine, start) = (tuple.clone(), &start);
                scope.spawn(move || {
                    start.wait();
                    if write {
                        mine.get_mut::<Counted>(0).unwrap().1 += 1;
                    }
                    let (counted, of) = mine.take::<(Counted, u32)>().unwrap();
                    assert_eq!(counted.1, of + u32::from(write));
                });
            }
        });
        assert_eq!(tuple.get::<Counted>(0).map(|counted| counted.1), Some(round));
    }
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

/// A step of a random program over a few tuples.
#[derive(Clone, Debug)]
enum Step {
    New(usize, Value),
    Share(usize, usize),
    Write(usize, i64),
    Take(usize),
}

/// What a tuple should be.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    InPlace(i64, bool),
    Block(i64, String),
    Large([i64; 5]),
}

impl Value {
    fn tuple(&self) -> AnyTuple {
        match self.clone() {
            Self::InPlace(number, flag) => AnyTuple::new((number, flag)),
            Self::Block(number, text) => AnyTuple::new((number, text)),
            Self::Large(numbers) => AnyTuple::new((numbers[0], numbers)),
        }
    }

    fn write(&mut self, to: i64) {
        match self {
            Self::InPlace(number, _) | Self::Block(number, _) => *number = to,
            Self::Large(numbers) => numbers[0] = to,
        }
    }

    fn check(&self, tuple: &AnyTuple) {
        match self {
            Self::InPlace(number, flag) => assert_eq!(tuple.view(), Some(&(*number, *flag))),
            Self::Block(number, text) => {
                assert_eq!(tuple.view(), Some(&(*number, text.clone())));
                assert_eq!(tuple.to_string(), format!("({number}, {text:?})"));
            }
            Self::Large(numbers) => {
                assert_eq!(tuple.get(0), Some(&numbers[0]));
                assert_eq!(tuple.get::<[i64; 5]>(1).map(|all| &all[1..]), Some(&numbers[1..]));
            }
        }
    }

    fn take(&self, tuple: AnyTuple) {
        match self {
            Self::InPlace(number, flag) => {
                assert_eq!(tuple.take::<(i64, bool)>().unwrap(), (*number, *flag))
            }
            Self::Block(number, text) => {
                assert_eq!(tuple.take::<(i64, String)>().unwrap(), (*number, text.clone()))
            }
            Self::Large(numbers) => {
                assert_eq!(tuple.take::<(i64, [i64; 5])>().unwrap().0, numbers[0]);
            }
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (any::<i64>(), any::<bool>()).prop_map(|(number, flag)| Value::InPlace(number, flag)),
        (any::<i64>(), "[a-z]{0,3}").prop_map(|(number, text)| Value::Block(number, text)),
        any::<[i64; 5]>().prop_map(Value::Large),
    ]
}

fn step(count: usize) -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..count, value()).prop_map(|(at, value)| Step::New(at, value)),
        (0..count, 0..count).prop_map(|(from, to)| Step::Share(from, to)),
        (0..count, any::<i64>()).prop_map(|(at, to)| Step::Write(at, to)),
        (0..count).prop_map(Step::Take),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 256 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Tuples that share are as good as copies.
    #[test]
    fn tuples_are_values(steps in prop::collection::vec(step(4), 0..60)) {
        let mut pairs: Vec<_> =
            (0..4).map(|at| Value::InPlace(at, true)).map(|value| (value.tuple(), value)).collect();
        for step in steps {
            match step {
                Step::New(at, value) => pairs[at] = (value.tuple(), value),
                Step::Share(from, to) => pairs[to] = pairs[from].clone(),
                Step::Write(at, to) => {
                    let (tuple, value) = &mut pairs[at];
                    value.write(to);
                    *tuple.get_mut(0).unwrap() = to;
                }
                Step::Take(at) => {
                    let (tuple, value) = pairs[at].clone();
                    value.take(std::mem::take(&mut pairs[at].0));
                    pairs[at].0 = tuple;
                }
            }
            pairs.iter().for_each(|(tuple, value)| value.check(tuple));
        }
    }
}

fn _is_shared_by_threads(of: impl Send + Sync + Debug) -> impl Debug {
    of
}

#[test]
fn tuples_may_go_to_other_threads() {
    _is_shared_by_threads(AnyTuple::new(1));
    _is_shared_by_threads(CowTuple::new((1,)));
}

/// An element that is written through a shared reference, and has no destructor.
#[derive(Debug)]
struct Shared(AtomicUsize);

impl Clone for Shared {
    fn clone(&self) -> Self {
        Self(AtomicUsize::new(self.0.load(Ordering::Relaxed) + 100))
    }
}

impl Element for Shared {}

#[inline(never)]
fn bump(tuple: &AnyTuple) {
    tuple.get::<Shared>(0).unwrap().0.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn what_is_in_place_may_have_atomics() {
    let mut tuple = AnyTuple::new((Shared(AtomicUsize::new(1)), 5_u8));
    bump(&tuple);
    let other = tuple.clone();
    bump(&tuple);
    assert_eq!(other.take::<(Shared, u8)>().map(|(shared, _)| shared.0.into_inner()).unwrap(), 102);
    assert_eq!(tuple.take_out::<(Shared, u8)>().map(|(shared, _)| shared.0.into_inner()), Some(3));
}
