//! Transfers whose accounts stay locked until a log on disk has them, while no thread of the
//! runtime waits.
//!
//! `cargo run --example 38_detained`

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use coact::behaviour::detain;
use coact::prelude::*;

/// A line for the log, and what goes on with its transfer: on with `true` if it is on disk.
struct Commit {
    line: String,
    then: Box<dyn FnOnce(bool) + Send>,
}

/// Writes what waits as one, with one flush to the disk for all of it.
fn log(mut file: File, commits: &Receiver<Commit>) -> io::Result<(usize, usize)> {
    let (mut lines, mut flushes) = (0, 0);
    while let Ok(first) = commits.recv() {
        let all: Vec<Commit> = std::iter::once(first).chain(commits.try_iter()).collect();
        let text: String = all.iter().map(|commit| format!("{}\n", commit.line)).collect();
        let is_safe = file.write_all(text.as_bytes()).and_then(|()| file.sync_data()).is_ok();
        (lines, flushes) = (lines + all.len(), flushes + 1);
        all.into_iter().for_each(|commit| (commit.then)(is_safe));
    }
    Ok((lines, flushes))
}

#[derive(Debug)]
struct Account {
    name: usize,
    balance: u64,
}

fn transfer(from: &Cown<Account>, to: &Cown<Account>, amount: u64, log: Sender<Commit>) {
    detain((from, to), move |(from, to), detained| {
        if from.balance < amount {
            return; // The guard is dropped, and the behaviour ends.
        }
        from.balance -= amount;
        to.balance += amount;
        let line = format!("{amount} from {} to {}", from.name, to.name);
        let then = move |is_safe: bool| {
            // Other behaviours on the two accounts wait until here.
            if !is_safe {
                detained.resume(move |(from, to), _detained| {
                    from.balance += amount;
                    to.balance -= amount;
                });
            }
        };
        log.send(Commit { line, then: Box::new(then) }).expect("the log is open");
    });
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("coact-detained-{}.log", std::process::id()));
    let (sender, receiver) = channel();
    let file = File::create(&path)?;
    let writer = thread::spawn(move || log(file, &receiver));

    let runtime = Runtime::builder().build()?;
    let sum = runtime.run(|| {
        let accounts: Vec<_> =
            (0..100).map(|name| Cown::new(Account { name, balance: 1_000 })).collect();
        for n in 0..1_000 {
            let (from, to) = (&accounts[n * 7 % 100], &accounts[(n * 13 + 1) % 100]);
            if !std::ptr::eq(from, to) {
                transfer(from, to, n as u64 % 50, sender.clone());
            }
        }
        drop(sender);
        call(&accounts, |accounts| accounts.iter().map(|account| account.balance).sum::<u64>())
    });
    let (lines, flushes) = writer.join().expect("the log has not panicked")?;
    std::fs::remove_file(path)?;
    let sum = sum.wait().expect("no transfer has panicked");
    println!("{lines} transfers with {flushes} flushes; the sum is {sum}");
    assert_eq!(sum, 100_000);
    Ok(())
}
