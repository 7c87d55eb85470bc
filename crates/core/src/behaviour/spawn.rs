//! Where all behaviours enter: those of `when`, `call`, scopes and batches, and those that promises
//! and timers spawn later.
//!
//! Behaviours whose members take part in a [commit](super::commit) go one way, all others the
//! [plain](super::spawn_plain) one. The type of the set says which, so the choice costs nothing.

use std::any::type_name;

use super::admission::AdmittedCompletion;
use super::commit::{self, spawn_committed};
use super::erased_closure::{erase, renamed};
use super::multi::UnqueuedBehaviour;
use super::refusal::Refusal;
use super::refuse::panic_refused;
use super::spawn_plain::{self, spawn_plain};
use crate::body::{Completion, NoResult};
use crate::code_sharing::SHARES_CODE;
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
    if !SHARES_CODE || const { S::KIND.commits } {
        return spawn_as_kind(set, closure, completion);
    }
    let (erased, original) = erase::<S, F, _>(closure);
    spawn_as_kind(set, erased, renamed::<F, _>(completion)).map_err(|(refusal, erased, renamed)| {
        // SAFETY: they were erased together.
        (refusal, unsafe { original.restore(erased) }, renamed.completion)
    })
}

/// Like [`spawn`], but panics if the set cannot be used.
#[inline(always)]
#[track_caller]
pub(crate) fn spawn_or_panic<S, F, C>(set: S, closure: F, completion: C)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
    C::Value: Send,
{
    refuse_in_decision();
    if !SHARES_CODE || const { S::KIND.commits } {
        if let Err(refused) = spawn_as_kind(set, closure, completion) {
            panic_refused(refused);
        }
        return;
    }
    let (erased, _) = erase::<S, F, _>(closure);
    if let Err(refused) = spawn_as_kind(set, erased, renamed::<F, _>(completion)) {
        panic_refused(refused);
    }
}

/// Spawns a behaviour in the way of its set's kind.
#[inline(always)]
#[cfg_attr(feature = "sim", track_caller)]
fn spawn_as_kind<S, F, C>(set: S, closure: F, completion: C) -> Result<(), (Refusal, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
    C::Value: Send,
{
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
            let behaviour = completion.name().unwrap_or(type_name::<F>)();
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
        Some(admitted) => prepare_plain(set, closure, admitted, requests),
        None => prepare_plain(set, closure, NoResult, requests),
    }
}

/// The same on a set without a commit.
fn prepare_plain<S, F, C>(
    set: &S,
    closure: F,
    completion: C,
    requests: &mut dyn FnMut(StepEntry),
) -> Result<UnqueuedBehaviour, (Refusal, F)>
where
    S: CownSet + Send + 'static,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
    C: Completion<Value = ()> + 'static,
{
    if !SHARES_CODE {
        return spawn_plain::prepare(set, closure, completion, requests);
    }
    let (erased, original) = erase::<S, F, _>(closure);
    spawn_plain::prepare(set, erased, renamed::<F, _>(completion), requests)
        // SAFETY: they were erased together.
        .map_err(|(refusal, erased)| (refusal, unsafe { original.restore(erased) }))
}
