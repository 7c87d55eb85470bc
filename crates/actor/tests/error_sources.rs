//! An error that holds another one returns it as its source.

use std::error::Error;
use std::sync::Arc;

use coact_actor::actor::{AskCycle, AskError, ExitReason, Receive, Reply, SendError};
use coact_actor::registry::{NameTaken, RegisterError};
use coact_actor::routing::{RouteError, Router, Routing};
use coact_actor::supervise::{ChildError, StartError};
use coact_actor::{Actor, Context, Message, spawn};
use coact_core::behaviour::{BatchRefusal, Overlap, Refusal};
use coact_core::{Batch, Cown, try_when};

struct Idle;

impl Actor for Idle {}

#[derive(Clone)]
struct Question;

impl Message for Question {
    type Reply = ();
}

impl Receive<Question> for Idle {
    /// Gives no answer.
    fn receive(&mut self, _: Question, _: Reply<()>, _: &mut Context<Self>) {}
}

/// Returns the sources of an error, the error itself first.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// Asserts that the first cause of an error is this one.
fn assert_root<E: Error + PartialEq + 'static>(error: impl Error + 'static, root: &E) {
    let last = chain(&error).last().and_then(|last| last.downcast_ref());
    assert_eq!(last, Some(root), "the root of {error:?}");
}

/// Asserts how many errors an error holds, one in the other.
fn assert_depth(error: impl Error + 'static, depth: usize) {
    assert_eq!(chain(&error).skip(1).count(), depth, "the sources of {error:?}");
}

#[test]
fn errors_of_actors_return_the_exit_reason() {
    let killed = ExitReason::Killed;
    let of_supervisor = ExitReason::TooManyRestarts(killed.clone().into());
    assert_root(AskError::Stopped(killed.clone()), &killed);
    assert_root(StartError::Failed(killed.clone()), &killed);
    assert_root(ChildError::Failed(killed.clone()), &killed);
    assert_root(AskError::Stopped(of_supervisor.clone()), &killed);
    assert_depth(AskError::Stopped(of_supervisor), 2);
    for without in [AskError::Full, AskError::NoReply, AskError::Panicked("boom".into())] {
        assert_depth(without, 0);
    }
}

#[test]
fn errors_of_circles_return_the_circle() {
    let circle = AskCycle { asks: Vec::new() };
    let shared = Arc::new(circle.clone());
    assert_root(AskError::Cycle(shared.clone()), &circle);
    assert_root(SendError::Cycle((), shared.clone()), &circle);
    assert_root(RouteError::Cycle((), shared), &circle);
    assert_depth(SendError::Full(()), 0);
    assert_depth(RouteError::Full(()), 0);
}

/// It fails for several reasons, but an error has one source.
#[test]
fn an_ask_without_an_answer_returns_the_first_reason() {
    let router = Router::new(Routing::RoundRobin);
    router.add(spawn(Idle));
    router.add(spawn(Idle));
    let error = router.ask_first(Question).wait().unwrap_err();
    assert_eq!(error.reasons.len(), 2);
    assert_root(error, &AskError::NoReply);
}

#[test]
fn errors_of_names_return_who_has_the_name() {
    let [holder, late] = [spawn(Idle), spawn(Idle)];
    holder.register("holder").unwrap();
    let error = late.register("holder").unwrap_err();
    let RegisterError::Taken(taken) = error.clone() else { panic!("{error:?}") };
    assert_root::<NameTaken>(error, &taken);
    assert_root::<NameTaken>(StartError::from(taken.clone()), &taken);
}

#[test]
fn errors_of_spawns_return_the_refusal() {
    let cown = Cown::new(0);
    let overlap = Overlap { first: 0, second: 1 };
    let error = try_when((&cown, &cown), |_| {}).unwrap_err();
    assert_depth(error.refusal, 1);
    assert_root(error, &overlap);
    let error = Batch::new().try_when((&cown, &cown), |_| {}).unwrap_err();
    assert_root(BatchRefusal::from(error), &overlap);
    let error = Batch::new().try_when((&cown, &cown), |_| {}).unwrap_err();
    assert_root(error, &overlap);
    assert_depth(Refusal::Closed, 0);
}
