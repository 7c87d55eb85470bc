//! Tests of the cost of a search.

use std::sync::Arc;

use coact_core::{Cown, Promise, when};

use super::*;
use crate::cycle::table::all_by;
use crate::handler::Receive;
use crate::message::Message;
use crate::parts::{Actor, Addr, Context};
use crate::reply::Reply;
use crate::send_error::AskError;
use crate::spawn;

/// Asks the next one while held; the last one waits.
struct Link(Option<Addr<Link>>);

impl Actor for Link {}

struct Go(Promise<()>);

impl Message for Go {
    type Reply = Result<(), AskError>;
}

impl Receive<Go> for Link {
    fn receive(&mut self, go: Go, reply: Reply<Result<(), AskError>>, context: &mut Context<Self>) {
        context.hold(reply, |link, _| {
            Box::pin(async move {
                match &link.0 {
                    Some(next) => next.ask(go).await?,
                    None => {
                        go.0.await.expect("the resolver is kept");
                        Ok(())
                    }
                }
            })
        });
    }
}

/// Looks for circles through all of these; returns the number of steps, if everything was seen.
fn steps_of(goals: &[Arc<AskWait>]) -> Option<usize> {
    let mut search = CycleSearch::new(usize::MAX);
    goals.iter().all(|goal| search.explore(goal).is_none()).then(|| search.steps())
}

/// However many asks a pass examines, it visits each actor once.
#[test]
fn a_pass_takes_a_bounded_number_of_steps_for_each_ask() {
    let count = 2_000;
    let other = Cown::new(());
    let mut links = vec![spawn(Link(None))];
    for _ in 1..count {
        links.push(spawn(Link(links.last().cloned())));
    }
    // Each may be held up by others, as far as is known.
    links.iter().for_each(|link| when((link, &other), |_| {}));
    let (last, go) = Promise::channel();
    let end = links.last().expect("the chain is not empty").ask(Go(go));
    let waits = || links.iter().flat_map(|link| all_by(link.id())).collect::<Vec<_>>();
    let goals = loop {
        let goals = waits();
        if goals.len() == count - 1 {
            break goals;
        }
        std::thread::yield_now();
    };
    let steps = loop {
        if let Some(steps) = steps_of(&goals) {
            break steps;
        }
        // An actor was just being polled.
        std::thread::yield_now();
    };
    assert!(steps <= 5 * count, "{steps} steps");
    last.resolve(());
    assert_eq!(end.wait(), Ok(Ok(())));
    assert_eq!(waits().len(), 0);
}
