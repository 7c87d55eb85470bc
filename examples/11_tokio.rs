//! Awaiting promises from tokio: a promise is a plain future, and any executor will do.

use coact::credits::Credits;
use coact::prelude::*;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let inventory = Cown::new(vec!["apple", "pear"]);

    // Tokio's tasks spawn behaviours like any other thread, and await the results.
    let count = call(&inventory, |items| items.len()).await?;
    assert_eq!(count, 2);

    // Many tasks, one cown: no mutex is held across an await, since there is none.
    let tasks = (0..100).map(|n| {
        let inventory = inventory.clone();
        tokio::spawn(async move {
            let kind = if n % 2 == 0 { "plum" } else { "fig" };
            call(&inventory, move |items| items.push(kind)).await
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await??;
    }

    // A producer in tokio is held back by credits without blocking its thread.
    let credits = Credits::new(8);
    for _ in 0..1_000 {
        let permit = credits.acquire(1).await;
        when(&inventory, move |items| {
            items.push("grape");
            drop(permit);
        });
    }

    // Any mix with tokio's own futures works as well.
    let ask_plums = call(&inventory, |items| items.iter().filter(|item| **item == "plum").count());
    let plums = tokio::time::timeout(std::time::Duration::from_secs(60), ask_plums).await??;
    println!("{plums} plums");
    assert_eq!(plums, 50);
    assert_eq!(call(&inventory, |items| items.len()).await?, 1_102);
    Ok(())
}
