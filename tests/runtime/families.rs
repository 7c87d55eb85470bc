//! Runtimes that are runtimes_of_its_group share what is kept for them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use coact::prelude::*;
use coact::runtime::RuntimeHandle;
use coact_tests::{Faults, fail, runtime};

#[derive(Default)]
struct Kept(AtomicU32);

fn kept(home: RuntimeHandle) -> &'static Kept {
    home.extension()
}

#[test]
fn runtimes_of_a_group_share_extensions_and_have_one_root() {
    let first = Runtime::builder().workers(1).build().unwrap();
    let second = Runtime::builder().workers(1).grouped_with(first.handle()).build().unwrap();
    let third = Runtime::builder().workers(1).grouped_with(second.handle()).build().unwrap();
    kept(third.handle()).0.store(7, Ordering::Relaxed);
    for runtime in [&first, &second, &third] {
        assert_eq!(runtime.handle().group_root(), first.handle());
        assert_eq!(kept(runtime.handle()).0.load(Ordering::Relaxed), 7);
    }
}

#[test]
fn runtimes_of_one_builder_are_no_siblings() {
    let builder = Runtime::builder().workers(1);
    let [one, two] = [builder.clone(), builder].map(|builder| builder.build().unwrap());
    kept(one.handle()).0.store(7, Ordering::Relaxed);
    assert_eq!(kept(two.handle()).0.load(Ordering::Relaxed), 0);
    assert_eq!(
        (one.handle().group_root(), two.handle().group_root()),
        (one.handle(), two.handle())
    );
}

#[test]
fn a_sibling_has_the_panic_hook_unless_it_has_its_own() {
    let (faults, own) = (Faults::new(), Faults::new());
    let group_root = runtime(1, &faults);
    let with = Runtime::builder().workers(1).grouped_with(group_root.handle());
    let told = own.clone();
    let without = with.clone().panic_hook(move |fault| told.push(fault.clone()));
    for builder in [with, without] {
        builder.build().unwrap().run(|| when((), |()| fail("in a behaviour")));
    }
    assert_eq!((faults.len(), own.len()), (1, 1));
}

/// A simulation's runs know nothing of each other.
#[test]
fn a_simulation_begins_without_companions() {
    coact::sim::check(|| {
        let kept = kept(RuntimeHandle::current());
        assert_eq!(kept.0.fetch_add(1, Ordering::Relaxed), 0);
    });
}

#[test]
fn what_is_cancelled_is_dropped_and_counted() {
    let runtime = runtime(1, &Faults::new());
    let cown = runtime.run(|| Cown::new(0));
    runtime.cancel();
    runtime.cancel();
    assert_eq!(call(&cown, |n| *n).wait(), Err(Broken::Cancelled));
    let report = runtime.shutdown(Duration::from_secs(5));
    assert_eq!((report.abandoned, report.stuck_workers), (1, 0));
}
