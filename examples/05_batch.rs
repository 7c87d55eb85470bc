//! A batch: several behaviours that are spawned as one step, so that nothing comes between them.

use std::thread;

use coact::prelude::*;

fn main() {
    let log = Cown::new(Vec::new());
    let audit = Cown::new(Vec::new());

    // Four threads write a begin and an end to two logs at the same time. Each batch takes its
    // places in both logs at one instant.
    thread::scope(|threads| {
        for writer in 0..4 {
            let (log, audit) = (&log, &audit);
            threads.spawn(move || {
                for _ in 0..100 {
                    batch(|batch| {
                        batch
                            .when(log, move |log| log.push((writer, "begin")))
                            .when(audit, move |audit| audit.push(writer))
                            .when(log, move |log| log.push((writer, "end")))
                    });
                }
            });
        }
    });

    let (log, audit) = call((&log, &audit), |(log, audit)| (log.clone(), audit.clone()))
        .wait()
        .expect("nobody panicked");

    // Every begin is followed by its own end ...
    assert_eq!(log.len(), 800);
    assert!(log.chunks(2).all(|pair| pair[0].0 == pair[1].0 && pair[1].1 == "end"));
    // ... and the audit log has the batches in the same order as the log.
    assert!(log.chunks(2).map(|pair| pair[0].0).eq(audit));
    println!("400 batches, none torn apart");
}
