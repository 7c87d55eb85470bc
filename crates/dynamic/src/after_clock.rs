//! The clock of `after`: how long no message was taken.

use std::time::Duration;

use coact_actor::actor::Context;
use coact_actor::internals::call_later;
use coact_core::runtime::RuntimeHandle;
use coact_core::time::Timer;

use crate::dyn_actor::DynActor;

/// Runs from when the cases are installed, or from the last message taken. Only actors whose cases
/// have an `after` look at the time.
#[derive(Default)]
pub(crate) struct AfterClock {
    running: Option<RunningClock>,
    /// How often it was set, so that an earlier timer is void.
    number: u64,
}

struct RunningClock {
    after: Duration,
    since: Duration,
    timer: Timer,
}

impl Drop for RunningClock {
    fn drop(&mut self) {
        self.timer.cancel();
    }
}

/// What is called when the time may be over, with the clock's number.
type OverCall = fn(&mut DynActor, u64, &mut Context<DynActor>);

impl AfterClock {
    /// Has it start from now, to the time that cases say, if they say one.
    pub(crate) fn set(
        &mut self,
        after: Option<Duration>,
        context: &mut Context<DynActor>,
        call: OverCall,
    ) {
        self.number += 1;
        let number = self.number;
        self.running = after.map(|after| {
            let timer = timer(number, after, context, call);
            RunningClock { after, since: RuntimeHandle::current().elapsed(), timer }
        });
    }

    /// Has it start again, since a message was taken.
    #[inline]
    pub(crate) fn restart(&mut self) {
        if let Some(running) = &mut self.running {
            running.since = RuntimeHandle::current().elapsed();
        }
    }

    /// Whether the time is over. If not, looks again when it may be.
    pub(crate) fn is_over(
        &mut self,
        number: u64,
        context: &mut Context<DynActor>,
        call: OverCall,
    ) -> bool {
        let Some(running) = self.running.as_mut().filter(|_| self.number == number) else {
            return false;
        };
        let passed = RuntimeHandle::current().elapsed().saturating_sub(running.since);
        let is_over = passed >= running.after;
        let left = if is_over { running.after } else { running.after.saturating_sub(passed) };
        running.timer = timer(number, left, context, call);
        is_over
    }
}

fn timer(number: u64, delay: Duration, context: &mut Context<DynActor>, call: OverCall) -> Timer {
    call_later(context, delay, move |actor, context| call(actor, number, context))
}
