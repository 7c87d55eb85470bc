//! Work that happens elsewhere, and what waits without being work.

use std::sync::Arc;
use std::sync::mpsc;
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use coact::prelude::*;
use coact::runtime::RuntimeHandle;
use coact_tests::{Faults, PATIENCE, runtime};

struct Bell(mpsc::Sender<()>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        // There may be no listener any more.
        let _ = self.0.send(());
    }
}

fn bell() -> (Waker, mpsc::Receiver<()>) {
    let (send, rings) = mpsc::channel();
    (Arc::new(Bell(send)).into(), rings)
}

#[test]
fn h8_a_runtime_that_is_held_open_is_not_idle() {
    let runtime = runtime(1, &Faults::new());
    let cown = runtime.run(|| {
        let (cown, busy) = (Cown::new(0), RuntimeHandle::current().hold_open());
        let far = cown.clone();
        thread::spawn(move || {
            thread::yield_now();
            when(&far, |n| *n = 1);
            drop((far, busy));
        });
        cown
    });
    assert_eq!(cown.into_inner(), Ok(1));
}

#[test]
fn h8_a_shutdown_wakes_those_who_asked_and_nobody_else() {
    let runtime = runtime(1, &Faults::new());
    let home = runtime.handle();
    let ((waker, rings), (other, silent)) = (bell(), bell());
    let asked = home.on_cancel(waker);
    drop(home.on_cancel(other));
    // It is no work.
    runtime.wait_idle();
    assert!(!home.is_cancelled());
    let busy = home.hold_open();
    let stopper = thread::spawn(move || runtime.shutdown(Duration::from_millis(1)));
    rings.recv_timeout(PATIENCE).expect("not told");
    assert!(home.is_cancelled());
    drop((asked, busy));
    let report = stopper.join().unwrap();
    assert_eq!((report.abandoned, report.stuck_workers), (0, 0));
    assert!(silent.try_recv().is_err());
    // Too late is told at once.
    let (waker, rings) = bell();
    let _asked = home.on_cancel(waker);
    rings.try_recv().expect("not told");
}

#[test]
fn a_shutdown_in_peace_wakes_nobody_before_its_end() {
    let runtime = runtime(1, &Faults::new());
    let (waker, _rings) = bell();
    let asked = runtime.handle().on_cancel(waker);
    assert!(runtime.shutdown(PATIENCE).is_complete());
    drop(asked);
}
