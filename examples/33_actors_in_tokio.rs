//! Actors and tokio in one program: handlers use tokio's timers and tasks, and tokio's tasks use
//! actors.

use std::error::Error;
use std::time::Duration;

use coact::prelude::*;
use coact::system::System;

/// Looks things up in a service that it reaches through tokio.
#[derive(Actor)]
struct Client {
    asked: u32,
}

#[handlers]
impl Client {
    /// The future runs on a worker of coact, and sleeps by tokio's clock.
    #[message]
    fn look_up(&mut self, number: u32) -> impl Future<Output = Option<u32>> + Send + 'static {
        self.asked += 1;
        async move {
            let answer = tokio::time::timeout(Duration::from_secs(60), service(number)).await;
            answer.ok()
        }
    }

    /// The future has the client, and changes it between two awaits.
    #[message(held)]
    async fn warm_up(&mut self, times: u32) -> u32 {
        for _ in 0..times {
            tokio::time::sleep(Duration::from_millis(1)).await;
            self.asked += 1;
        }
        self.asked
    }
}

/// Stands for a socket.
async fn service(number: u32) -> u32 {
    tokio::time::sleep(Duration::from_millis(5)).await;
    number * 2
}

fn main() -> Result<(), Box<dyn Error>> {
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;

    // Each thread of the system is in tokio's context all its life. That costs a message nothing.
    let handle = tokio.handle().clone();
    let system = System::builder()
        .workers(2)
        .around_threads(move |run| {
            let _entered = handle.enter();
            run();
        })
        // And each thread that has entered no runtime, tokio's too, is in the system: `spawn`,
        // `after` and `events` mean it there. (Without this:
        // `on_thread_start(move || home.enter_thread())` in the builder of tokio, or
        // `home.within(future)` around a task.)
        .as_default()
        .build()?;

    let sum = tokio.block_on(async {
        let client = spawn(Client { asked: 0 });
        assert_eq!(client.ask(WarmUp { times: 3 }).await?, 3);

        // Tokio's tasks ask actors, and await the answers.
        let tasks: Vec<_> = (0..10)
            .map(|number| {
                let client = client.clone();
                tokio::spawn(async move { client.ask(LookUp { number }).await })
            })
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await??.expect("the service answers in time");
        }
        assert_eq!(client.ask(WarmUp { times: 0 }).await?, 13);
        Ok::<_, Box<dyn Error>>(sum)
    })?;

    println!("{sum}");
    assert_eq!(sum, 90);
    // The system goes first: what its actors still do may need tokio.
    let report = system.shutdown(Duration::from_secs(60));
    assert!(report.is_complete(), "{report}");
    Ok(())
}
