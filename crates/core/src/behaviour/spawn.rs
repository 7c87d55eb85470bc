//! Where all behaviours enter: those of `when`, `call`, scopes and batches, and those that promises
//! and timers spawn later.
//!
//! Behaviours whose members take part in a [commit](super::commit) go one way, all others the
//! [plain](super::spawn_plain) one. The type of the set says which, so the choice costs nothing.

use std::any::type_name;

use super::admission::AdmittedCompletion;
use super::commit::{self, spawn_committed};
use super::multi::UnqueuedBehaviour;
use super::refusal::Refusal;
use super::spawn_plain::{self, spawn_plain};
use crate::body::{Completion, NoResult};
use crate::cown::set::CownSet;
use crate::current::refuse_in_decision;
use crate::fault::Broken;
use crate::panic::drop_quietly;
use crate::queue::append::StepEntry;

/// Spawns a behaviour that calls `closure` with the cowns of the set.
///
/// # Errors
/// Returns the closure and the completion if the set cannot be used.
#[inline(always)]
#[cfg_attr(any(debug_assertions, feature = "sim"), track_caller)]
pub(crate) fn spawn<S, F, C>(set: S, closure: F, completion: C) -> Result<(), (Refusal, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
    C::Value: Send,
{
    refuse_in_decision();
    if const { S::KIND.commits } {
        return spawn_committed(set, closure, completion, None);
    }
    spawn_plain(set, closure, completion)
}

/// Spawns a behaviour on a set that passed the checks when it was named. If the behaviour is
/// refused all the same, as a mailbox is full by now, its completion is told.
pub(crate) fn spawn_deferred<S, F, C>(set: S::Owned, closure: F, completion: C)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
    C::Value: Send,
{
    match spawn(set, closure, completion) {
        Ok(()) => {}
        Err((Refusal::Full { position }, closure, completion)) => {
            let behaviour = type_name::<F>();
            tracing::warn!(behaviour, position, "a deferred behaviour is refused");
            drop_quietly(move || drop(closure));
            drop_quietly(move || completion.failed(Broken::Full { position }));
        }
        Err((refusal, ..)) => unreachable!("a set of the same cowns has passed: {refusal}"),
    }
}

/// Makes a behaviour that is queued later, and passes its requests on. Its members were counted.
///
/// # Errors
/// Returns the closure if no behaviour can hold these cowns.
pub(super) fn prepare<S, F>(
    set: &S,
    closure: F,
    admitted: Option<AdmittedCompletion<NoResult>>,
    requests: &mut dyn FnMut(StepEntry),
) -> Result<UnqueuedBehaviour, (Refusal, F)>
where
    S: CownSet<Owned = S> + Send + 'static,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    if const { S::KIND.commits } {
        return commit::prepare(set, closure, admitted, requests);
    }
    match admitted {
        Some(admitted) => spawn_plain::prepare(set, closure, admitted, requests),
        None => spawn_plain::prepare(set, closure, NoResult, requests),
    }
}
