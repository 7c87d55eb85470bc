//! A behaviour that hogs its worker: the watchdog names it, and a spare worker runs what waits.

use std::sync::mpsc;
use std::time::Duration;

use coact::prelude::*;
use coact::runtime::Fault;

/// Computes for long, where it should use `blocking`; here it waits, so that the example decides
/// how long.
fn render(page: &mut u32, finished: &mpsc::Receiver<()>) {
    *page += 1;
    finished.recv().expect("the example lets it go");
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (report, reports) = mpsc::channel();
    let runtime = Runtime::builder()
        .workers(1)
        .watchdog(Duration::from_millis(20))
        .panic_hook(move |fault| _ = report.send(fault.clone()))
        .build()?;
    let [page, counter] = runtime.run(|| [0, 0].map(Cown::new));

    let (finish, finished) = mpsc::channel();
    when(&page, move |page| render(page, &finished));
    let count = call(&counter, |n| {
        *n += 1;
        *n
    });

    // The only worker renders, and yet the counter counts: on a spare worker.
    assert_eq!(count.wait()?, 1);
    let fault = reports.recv()?;
    println!("{fault}");
    assert!(matches!(fault, Fault::Stalled { behaviour, .. } if behaviour.contains("main")));

    finish.send(())?;
    assert!(runtime.shutdown(Duration::from_secs(10)).is_complete());
    Ok(())
}
