//! Work that blocks goes to threads of its own; futures run on the workers, beside behaviours.

use coact::prelude::*;
use coact::runtime::{BuildError, blocking, spawn_future};

fn main() -> Result<(), BuildError> {
    let runtime = Runtime::builder().workers(2).build()?;
    let (index, report) = runtime.run(|| {
        let index = Cown::new(Vec::new());

        // Reading a file would block a worker; on a blocking thread it does not. The result is
        // chained to the cown that wants it.
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let read = blocking(move || std::fs::read_to_string(manifest));
        let read = read.then(&index, |index, text| {
            let text = text.expect("the job did not panic").expect("the file is there");
            index.extend(text.lines().map(str::to_owned));
        });

        // A future holds no cowns; it may await promises, those of `ask` included.
        let report = {
            let index = index.clone();
            spawn_future(async move {
                read.await?;
                let lines = call(&index, |index| index.len()).await?;
                let names = call(&index, |index| {
                    index.iter().filter(|line| line.starts_with("name")).count()
                });
                Ok::<_, Broken>(format!("{} names in {lines} lines", names.await?))
            })
        };
        (index, report)
    });

    // `run` has waited for all of it: jobs, futures and behaviours.
    let report = report.try_wait().expect("no work is left").expect("no panic").expect("no panic");
    println!("{report}");
    let names = include_str!("Cargo.toml").lines().filter(|line| line.starts_with("name")).count();
    assert!(report.starts_with(&format!("{names} names")));
    assert!(!index.into_inner().expect("the last handle").is_empty());
    Ok(())
}
