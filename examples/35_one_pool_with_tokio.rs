//! One pool of threads for tokio's tasks and for behaviours: tokio runs the workers.

use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

use coact::prelude::*;
use coact::try_call;

type Account = Cown<i64>;
type Failure = Box<dyn Error + Send + Sync>;

/// What a connection's task does with a request: an atomic step over two accounts. (`ask` would
/// panic if they were the same; here the client may say so, and gets an error.)
async fn transfer(from: Account, to: Account, amount: i64) -> Result<bool, Failure> {
    let covered = try_call((&from, &to), move |(from, to)| {
        let covered = *from >= amount;
        if covered {
            *from -= amount;
            *to += amount;
        }
        covered
    })?;
    Ok(covered.await?)
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    // As many workers as tokio has threads. Each is a task, which runs while there are behaviours
    // to run.
    let tokio = tokio::runtime::Handle::current();
    let runtime = Runtime::builder()
        .workers(2)
        .on_executor(|worker| drop(tokio::spawn(worker)))
        // What tokio does not get to in time runs on threads of the runtime's own: in the same
        // context.
        .around_threads(move |run| {
            let _entered = tokio.enter();
            run();
        })
        .as_default()
        .build()?;

    let names = ["ann", "bob", "cid"];
    let accounts: HashMap<_, _> = names.map(|name| (name, Cown::new(1_000))).into();

    let connections: Vec<_> = (0..30)
        .map(|n| {
            let (from, to) = (names[n % 3], names[(n + 1) % 3]);
            let (from, to) = (accounts[from].clone(), accounts[to].clone());
            tokio::spawn(async move {
                // The task is put aside, a worker's task runs on this thread, and the task goes on.
                let paid = transfer(from, to, 10).await;
                tokio::time::sleep(Duration::from_millis(1)).await;
                paid
            })
        })
        .collect();
    for connection in connections {
        assert!(connection.await??, "all are covered");
    }
    let ann = accounts["ann"].clone();
    println!("{}", transfer(ann.clone(), ann, 10).await.unwrap_err());

    let all = (&accounts["ann"], &accounts["bob"], &accounts["cid"]);
    let (ann, bob, cid) = call(all, |(a, b, c)| (*a, *b, *c)).await?;
    println!("ann {ann}, bob {bob}, cid {cid}");
    assert_eq!(ann + bob + cid, 3_000);

    // This blocks a thread of tokio, and may: what is left to do is done by others, or by threads
    // of the runtime's own.
    let report = runtime.shutdown(Duration::from_secs(60));
    assert!(report.is_complete(), "{report}");
    Ok(())
}
