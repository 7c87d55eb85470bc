//! Admission: behaviours on cowns whose handles decide whether one more may be queued.
//!
//! A handle that may refuse says so when a behaviour is announced; only then is it asked, so other
//! sets do not pay for this. All handles of a set are asked before anything is queued: a behaviour
//! is admitted by all or refused, and never waits for its permits. The permits travel with the
//! completion, and are returned when the closure is called, or dropped without being called.

use super::refusal::Refusal;
use crate::body::{BehaviourName, Completion, NoResult};
use crate::cown::set::CownSet;
use crate::cown::set::sealed::SetAdmission;
use crate::credits::Permit;
use crate::fault::Broken;
use crate::panic::drop_quietly;

/// The completion of a behaviour with permits.
pub(crate) struct AdmittedCompletion<C> {
    permits: Vec<Permit>,
    pub(crate) completion: C,
}

/// Asks the handles of a set.
///
/// # Errors
/// Returns the first that refuses.
#[cold]
pub(crate) fn ask<S: CownSet>(set: &S) -> Result<AdmittedCompletion<NoResult>, Refusal> {
    let mut admission = SetAdmission::default();
    set.admit_all(&mut admission);
    match admission.refused_by {
        Some(position) => Err(Refusal::Full { position }),
        None => Ok(AdmittedCompletion { permits: admission.permits, completion: NoResult }),
    }
}

impl AdmittedCompletion<NoResult> {
    /// Wraps another completion with the permits.
    pub(crate) fn with<C>(self, completion: C) -> AdmittedCompletion<C> {
        AdmittedCompletion { permits: self.permits, completion }
    }
}

impl<C: Completion> Completion for AdmittedCompletion<C> {
    type Value = C::Value;
    const IS_WORK: bool = C::IS_WORK;
    const MAY_RENAME: bool = C::MAY_RENAME;

    fn begins(&mut self) {
        let permits = std::mem::take(&mut self.permits);
        // A waiter for the permits may run a waker, which is foreign code.
        drop_quietly(move || drop(permits));
        self.completion.begins();
    }

    fn promise(&self) -> Option<usize> {
        self.completion.promise()
    }

    fn name(&self) -> Option<BehaviourName> {
        self.completion.name()
    }

    fn done(self, value: C::Value) {
        self.completion.done(value);
    }

    fn failed(self, why: Broken) {
        drop(self.permits);
        self.completion.failed(why);
    }
}
