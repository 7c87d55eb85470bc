//! Models of the end of a runtime that another thread moves a cown to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::thread;

use super::cut_off;
use crate::cown::handle::Cown;
use crate::fault::Broken;
use crate::interrupt::{Interruptible, registry};
use crate::queue::interrupt_header::Gate;
use crate::runtime::config_in_model;
use crate::runtime_ids::RuntimeId;
use crate::sched::loom::{check, run_ready};
use crate::sched::phase::RuntimePhase;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::runtime_shared::{RuntimeShared, register};

/// Counts its calls, outside of the model.
struct CallCounter(Arc<AtomicUsize>);

impl Interruptible for CallCounter {
    type SharedState = ();

    fn on_interrupt(&mut self, (): &()) -> Gate {
        self.0.fetch_add(1, Ordering::Relaxed);
        Gate::Open
    }

    fn cancel(&mut self, (): &()) {}

    fn failed(&mut self, (): &(), _: &Broken) {}
}

/// A runtime with this id, which no other model may use. It is never freed, like all runtimes.
fn runtime(id: u16) -> &'static RuntimeShared {
    let id = RuntimeId::from_raw(id);
    let (shared, parkers) = RuntimeShared::new(id, config_in_model(1), None);
    // No thread parks.
    drop(parkers);
    let shared = Box::leak(Box::new(shared));
    register(shared);
    shared
}

/// A cown is moved to a runtime that is past its deadline by then, or about to be: one side or the
/// other interrupts its state.
///
/// Fails without the fence in `cut_off`, without that in `moved`, if a move is not recorded, and if
/// `moved` does not check whether the runtime is cancelled.
#[test]
fn cut_off_against_moved() {
    check(|| {
        registry::use_table();
        let there = runtime(1000);
        let home = RuntimeHandle(there.id);
        let calls = Arc::new(AtomicUsize::new(0));
        let cown =
            Cown::interruptible(RuntimeHandle::current(), (), |_| CallCounter(Arc::clone(&calls)));
        let mover = thread::spawn({
            let cown = cown.clone();
            move || {
                cown.come_to(home);
                drop(cown);
                run_ready();
            }
        });
        // Like a shutdown whose deadline has passed.
        there.set_phase(RuntimePhase::Cancelling);
        cut_off(home);
        run_ready();
        mover.join().unwrap();
        assert!(calls.load(Ordering::Relaxed) > 0, "the state was not called");
        drop(cown);
        run_ready();
    });
}
