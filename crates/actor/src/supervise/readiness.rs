//! Who waits until a supervisor and all below it are up.

use coact_core::Promise;
use coact_core::internals::catch;
use coact_core::promise::Resolver;

use super::error::ReadyError;
use crate::exit::ExitReason;

/// Completes when a supervisor and all below it are up.
pub(crate) type ReadyPromise = Promise<Result<(), ReadyError>>;

/// The callers of [`Supervisor::ready`](crate::supervise::Supervisor::ready) of one supervisor. It
/// outlives the supervisor's restarts.
///
/// When all children are up, a *check* asks those that are supervisors, too. If a child starts or
/// goes down meanwhile, the check is void, and another one begins when all are up again.
#[derive(Default)]
pub(crate) struct TreeReadiness {
    /// Those for whom a check is running.
    checked: Vec<ReadyWaiter>,
    /// Those that came later: a supervisor below may have answered before they asked.
    waiting: Vec<ReadyWaiter>,
    check: Option<TreeCheck>,
    /// The number of the last check.
    last: u64,
    /// A declared child has failed to start since the supervisor's start, and is not restarted.
    failure: Option<ReadyError>,
}

struct TreeCheck {
    number: u64,
    /// [`SupervisionPlan::changes`](super::plan::SupervisionPlan::changes) when it began.
    changes: u64,
    /// How many supervisors have not answered.
    left: usize,
}

impl TreeReadiness {
    /// Adds a caller.
    pub(super) fn push(&mut self, waiter: ReadyWaiter) {
        if self.waiting.len() == self.waiting.capacity() {
            self.waiting.retain(|waiter| !waiter.is_abandoned());
        }
        self.waiting.push(waiter);
    }

    /// Forgets what was true of the supervisor's last state only.
    pub(super) fn begin_run(&mut self) {
        (self.check, self.failure) = (None, None);
    }

    /// Notes that a declared child has failed to start, and is not restarted.
    pub(super) fn note_failure(&mut self, failure: ReadyError) {
        self.failure.get_or_insert(failure);
    }

    /// Returns whether there are callers. If a child has failed to start, they are told first.
    pub(super) fn is_awaited(&mut self) -> bool {
        if let Some(failure) = self.failure.clone() {
            self.fail(&failure);
        }
        !self.checked.is_empty() || !self.waiting.is_empty()
    }

    /// Begins a check, after this many changes, if none is running. Returns its number.
    pub(super) fn begin_check(&mut self, changes: u64) -> Option<u64> {
        if self.check.as_ref().is_some_and(|check| check.changes == changes) {
            return None;
        }
        self.checked.append(&mut self.waiting);
        self.last += 1;
        self.check = Some(TreeCheck { number: self.last, changes, left: 0 });
        Some(self.last)
    }

    /// Sets how many supervisors the check asks. If there are none, it is done.
    pub(super) fn await_answers(&mut self, count: usize) {
        if let Some(check) = &mut self.check {
            check.left = count;
        }
        self.finish_check();
    }

    /// A supervisor below has answered a check. One that has ended is removed from the plan, and so
    /// makes the check void.
    pub(super) fn on_answer(&mut self, number: u64, answer: Result<(), ReadyError>) {
        let Some(check) = self.check.as_mut().filter(|check| check.number == number) else {
            return;
        };
        match answer {
            Ok(()) => {
                check.left -= 1;
                self.finish_check();
            }
            Err(failure @ ReadyError::Failed { .. }) => self.fail(&failure),
            Err(ReadyError::Ended(_)) => {}
        }
    }

    /// Tells the callers of the check if all have answered.
    fn finish_check(&mut self) {
        if self.check.as_ref().is_some_and(|check| check.left == 0) {
            self.check = None;
            self.checked.drain(..).for_each(|waiter| waiter.resolve(Ok(())));
        }
    }

    fn fail(&mut self, failure: &ReadyError) {
        self.check = None;
        let all = self.checked.drain(..).chain(self.waiting.drain(..));
        all.for_each(|waiter| waiter.resolve(Err(failure.clone())));
    }
}

/// A caller. If this is dropped, the supervisor has ended.
pub(crate) struct ReadyWaiter {
    /// Taken when it is used.
    answer: Option<Resolver<Result<(), ReadyError>>>,
    /// Returns why the supervisor has ended, if it has.
    end: Box<dyn Fn() -> Option<ExitReason> + Send>,
}

impl ReadyWaiter {
    pub(super) fn new(
        answer: Resolver<Result<(), ReadyError>>,
        end: impl Fn() -> Option<ExitReason> + Send + 'static,
    ) -> Self {
        Self { answer: Some(answer), end: Box::new(end) }
    }

    fn is_abandoned(&self) -> bool {
        self.answer.as_ref().is_none_or(Resolver::is_abandoned)
    }

    fn resolve(mut self, result: Result<(), ReadyError>) {
        self.tell(result);
    }

    fn tell(&mut self, result: Result<(), ReadyError>) {
        if let Some(answer) = self.answer.take() {
            // The waker may be user code.
            let _ = catch(|| answer.resolve(result));
        }
    }
}

impl Drop for ReadyWaiter {
    fn drop(&mut self) {
        let reason = (self.end)().unwrap_or(ExitReason::Killed);
        self.tell(Err(ReadyError::Ended(reason)));
    }
}
