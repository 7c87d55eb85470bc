//! Erased closures are called once or dropped once, and come back as they were.

use std::mem::size_of_val;
use std::sync::Arc;

use super::*;
use crate::body::NoResult;
use crate::cown::handle::Cown;

type Set<'a> = &'a Cown<i32>;

#[test]
fn it_does_what_the_closure_does() {
    let (erased, _) = erase::<Set<'_>, _, _>(|n: &mut i32| {
        *n += 1;
        *n * 2
    });
    let mut n = 20;
    assert_eq!((erased(&mut n), n), (42, 21));
}

#[test]
fn what_it_holds_is_dropped_once() {
    let held = Arc::new(());
    let count = |held: &Arc<()>| Arc::strong_count(held) - 1;
    let make = || {
        let held = Arc::clone(&held);
        erase::<Set<'_>, _, _>(move |_: &mut i32| count(&held)).0
    };
    let (called, dropped) = (make(), make());
    assert_eq!(count(&held), 2);
    assert_eq!(called(&mut 0), 2);
    assert_eq!(count(&held), 1);
    drop(dropped);
    assert_eq!(count(&held), 0);
}

#[test]
fn it_comes_back_as_it_was() {
    let held = Arc::new(3);
    let shared = Arc::clone(&held);
    let (erased, original) = erase::<Set<'_>, _, _>(move |n: &mut i32| *n * *shared);
    // SAFETY: they were erased together.
    let closure = unsafe { original.restore(erased) };
    assert_eq!(Arc::strong_count(&held), 2);
    assert_eq!(closure(&mut 7), 21);
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn it_may_have_any_size_and_alignment() {
    #[repr(align(64))]
    struct Aligned(u8);
    let (aligned, large) = (Aligned(1), [2_u8; 1000]);
    let wide = move |n: &mut i32| {
        assert_eq!((&raw const aligned).addr() % 64, 0);
        *n + i32::from(aligned.0) + large.iter().map(|&byte| i32::from(byte)).sum::<i32>()
    };
    let empty = |n: &mut i32| *n;
    assert_eq!(size_of_val(&empty), 0);
    assert_eq!(erase::<Set<'_>, _, _>(wide).0(&mut 4), 2005);
    assert_eq!(erase::<Set<'_>, _, _>(empty).0(&mut 4), 4);
}

#[test]
fn all_closures_on_one_kind_of_set_have_one_type() {
    fn name_of<T>(_: &T) -> &'static str {
        type_name::<T>()
    }
    let (one, _) = erase::<Set<'_>, _, _>(|_: &mut i32| ());
    let (other, _) = erase::<Set<'_>, _, _>(|n: &mut i32| *n = 1);
    assert_eq!(name_of(&one), name_of(&other));
}

#[test]
fn a_completion_keeps_the_name_that_it_has() {
    struct Closure;
    let named = renamed::<Closure, _>(NoResult);
    assert!((named.name)().ends_with("Closure"));
    assert!((renamed::<(), _>(named).name)().ends_with("Closure"));
}
