//! Handlers that await: beside the actor, or holding it; and what happens when held actors wait for
//! one another.

use std::time::Duration;

use coact::prelude::*;
use coact::time::sleep;

#[derive(Actor)]
struct Clerk {
    served: u32,
    colleague: Option<Addr<Clerk>>,
}

#[handlers]
impl Clerk {
    /// The future borrows nothing: the clerk serves others meanwhile.
    #[message]
    fn look_up(&mut self, number: u32) -> impl Future<Output = u32> {
        self.served += 1;
        async move {
            sleep(Duration::from_millis(20)).await.expect("the runtime runs");
            number * 2
        }
    }

    /// The future has the clerk: everybody else waits.
    #[message(held)]
    async fn count(&mut self, upto: u32) -> u32 {
        for _ in 0..upto {
            sleep(Duration::from_millis(1)).await.expect("the runtime runs");
            self.served += 1;
        }
        self.served
    }

    /// Asks the colleague, and holds on meanwhile.
    #[message(held)]
    async fn consult(&mut self) -> Result<u32, AskError> {
        match &self.colleague {
            Some(colleague) => colleague.ask(Consult).await?,
            None => Ok(self.served),
        }
    }

    #[message]
    fn meet(&mut self, colleague: Option<Addr<Clerk>>) {
        self.colleague = colleague;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clerk = || spawn(Clerk { served: 0, colleague: None });
    let (ann, ben) = (clerk(), clerk());

    let slow = ann.ask(LookUp { number: 21 });
    assert_eq!(ann.ask(Count { upto: 3 }).wait()?, 4, "served while the other look-up goes on");
    assert_eq!(slow.wait()?, 42);

    // Ann consults Ben, who is free: fine.
    ann.send(Meet { colleague: Some(ben.clone()) })?;
    assert_eq!(ann.ask(Consult).wait()?, Ok(0));

    // Ben consults Ann as well: each would wait for the other for ever. The ask that closes the
    // circle fails at once, and says what it was.
    ben.send(Meet { colleague: Some(ann.clone()) })?;
    let answer = ann.ask(Consult).wait()?;
    let Err(AskError::Cycle(cycle)) = answer else { panic!("not found: {answer:?}") };
    println!("{cycle}");
    assert_eq!(cycle.asks.len(), 2);

    // They hold each other's addresses; so that they can end:
    ann.send(Meet { colleague: None })?;
    ben.send(Meet { colleague: None })?;
    Ok(())
}
