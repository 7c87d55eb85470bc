//! Where actors run: dispatchers, threads of their own, threads that may block, the caller's; and
//! moving.

use std::thread;
use std::time::Duration;

use coact::prelude::*;
use coact::system::{Host, System};

/// Says where it is.
#[derive(Actor)]
struct Scout;

#[handlers(api = ScoutApi)]
impl Scout {
    #[message]
    fn place(&mut self) -> String {
        thread::current().name().unwrap_or("a thread without a name").to_owned()
    }
}

/// Reads files: it blocks.
#[derive(Actor)]
struct Files;

#[handlers(api = FilesApi)]
impl Files {
    #[message]
    fn lines(&mut self, path: &'static str) -> std::io::Result<usize> {
        Ok(std::fs::read_to_string(path)?.lines().count())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let system = System::builder()
        .workers(2)
        .dispatcher("io", |d| d.workers(1).throughput(10))
        .dispatcher("batch", |d| d.workers(1))
        .build()?;
    let (io, batch) = (system.dispatcher("io")?, system.dispatcher("batch")?);

    // The same actor, wherever it is put.
    let entered = system.enter();
    let scouts = [
        ("the main workers", spawn(Scout)),
        ("a dispatcher", actor(Scout).on(io).spawn()),
        ("a thread of its own", actor(Scout).on(Host::detached()).spawn()),
        ("threads that may block", actor(Scout).on(Host::blocking()).spawn()),
        ("its callers", actor(Scout).on(Host::caller()).spawn()),
    ];
    let files = actor(Files).on(Host::blocking()).spawn();
    drop(entered);
    system.wait_idle();
    let mut places = Vec::new();
    for (host, scout) in &scouts {
        places.push(scout.place().wait()?);
        println!("{host}: {}", places[places.len() - 1]);
    }
    assert!(places[0].starts_with("coact-"));
    assert_eq!((&*places[1], &*places[2], &*places[4]), ("io-0", "Scout-0", "main"));

    // While it reads, no worker waits.
    println!("{} lines", files.lines("Cargo.toml").wait()??);

    // One is moved while it has messages: those before the move run where it was.
    let scout = &scouts[1].1;
    let before = scout.place();
    scout.move_to(batch)?;
    assert_eq!((before.wait()?, scout.place().wait()?), ("io-0".into(), "batch-0".into()));

    // New ones in turn.
    let turns = [io, batch].into_iter().cycle().take(4);
    let homes: Vec<_> = turns.map(|home| actor(Scout).on(home).spawn().runtime().name()).collect();
    println!("in turn on {homes:?}");

    drop((scouts, files));
    let report = system.shutdown(Duration::from_secs(5));
    println!("{report}");
    assert!(report.is_complete());
    Ok(())
}
