//! What becomes of an actor: signals, failures, its end. None of it depends on the actor's type but by the few steps
//! of [`Managed`], so it is compiled once, and not for each type again.

use std::any::Any;
use std::task::Poll;

use coact_core::{Broken, Home, catch, is_cancelling, when};
use parking_lot::Mutex;

use super::erased::{AnyStrong, AnyWeak};
use super::reason_of;
use crate::begun::note_cut_off;
use crate::events::{Subject, are_lives_watched};
use crate::front::Front;
use crate::links::Links;
use crate::mailbox::{Envelope, Envelopes};
use crate::reply::in_end_for;
use crate::signal::{LinkChange, Signal};
use crate::supervise::{Intensity, Supervision};
use crate::{ActorId, ExitReason, Exited};

/// What the cells of all actors have in common.
pub(super) struct Core {
    pub(super) phase: Phase,
    /// How often somebody had a turn with the actor; wraps. See [`quiet`](crate::quiet).
    pub(super) turns: u32,
    /// What few actors have.
    rest: Option<Box<Mutex<Rest>>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// [`Actor::started`](crate::Actor::started) is yet to be called.
    Starting,
    Running,
    /// It has no state, and its supervisor is to say what follows.
    Down,
    Ended,
}

#[derive(Default)]
pub(super) struct Rest {
    pub(super) links: Links,
    /// That it has a supervisor.
    pub(super) supervision: Option<Supervision>,
    /// How often it may restart after panics, if it does so by itself.
    pub(super) limit: Option<Box<Intensity>>,
    /// Messages wait until the actor is resumed.
    pub(super) suspended: bool,
    /// A future holds the actor.
    pub(super) is_held: bool,
    /// The actor has panicked, and nothing was done about it yet.
    pub(super) failure: Option<ExitReason>,
    /// Messages that were set aside, and come before all that waits.
    pub(super) again: Envelopes,
    /// How many states there were before this one.
    pub(super) life: u32,
    /// What depends on the actor's type.
    pub(super) own: Option<Box<dyn Any + Send>>,
}

impl Core {
    pub(super) fn new(phase: Phase, rest: Option<Rest>) -> Self {
        Self { phase, turns: 0, rest: rest.map(|rest| Box::new(Mutex::new(rest))) }
    }

    #[inline]
    pub(super) fn count_turn(&mut self) {
        self.turns = self.turns.wrapping_add(1);
    }

    pub(super) fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_default().get_mut()
    }

    #[inline]
    pub(super) fn has_rest(&mut self) -> Option<&mut Rest> {
        self.rest.as_mut().map(|rest| rest.get_mut())
    }

    /// Whether it runs, and nobody has asked for anything that takes more than that.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.phase == Phase::Running && self.rest.is_none()
    }

    fn is_held(&mut self) -> bool {
        self.has_rest().is_some_and(|rest| rest.is_held)
    }

    pub(super) fn is_supervised(&mut self) -> bool {
        self.has_rest().is_some_and(|rest| rest.supervision.is_some())
    }

    /// From now on nobody starts the actor again.
    pub(super) fn leave_supervisor(&mut self) -> Option<Supervision> {
        self.has_rest().and_then(|rest| rest.supervision.take())
    }

    fn take_failure(&mut self) -> Option<ExitReason> {
        self.has_rest().and_then(|rest| rest.failure.take())
    }

    fn fail(&mut self, why: &Broken) {
        self.rest().failure = Some(reason_of(why));
    }
}

/// The hooks of [`Actor`](crate::Actor).
#[derive(Clone, Copy)]
pub(super) enum Hook<'a> {
    Started,
    Restarted(&'a ExitReason),
    Stopped(&'a ExitReason),
}

/// What the actor itself has asked for, by its context.
pub(super) enum Wish {
    Stop(ExitReason),
    /// Messages that it has set aside are to come now.
    Replay(Envelopes),
    /// It is to be held, and is from here on.
    Held,
}

/// The steps that depend on the actor's type.
pub(super) trait Managed {
    fn core(&mut self) -> &mut Core;
    fn subject(&self) -> Subject;
    fn address(&self) -> &dyn AnyWeak;
    /// Calls a hook, if there is a state.
    fn call(&mut self, hook: Hook<'_>) -> Result<(), Broken>;
    /// Gives a message that was set aside to the actor.
    fn give(&mut self, envelope: Box<dyn Envelope>);
    fn take_wish(&mut self) -> Option<Wish>;
    /// Whether the actor is to stop, or to be held, before its next message.
    fn is_unsettled(&mut self) -> bool;
    /// Drops the state, for another one to come; returns the messages that it has set aside.
    fn drop_state(&mut self) -> (Envelopes, Result<(), Broken>);
    /// The same at the actor's end.
    fn drop_last_state(&mut self, reason: &ExitReason) -> Option<Envelopes>;
    fn is_restartable(&mut self) -> bool;
    /// Makes a new state, the `life`th after the first.
    fn renew(&mut self, life: u32) -> Result<(), Broken>;
    /// Polls the future that holds the actor.
    fn poll_hold(&mut self) -> Result<Poll<()>, Broken>;
    /// Drops that future, and takes the state out of it.
    fn take_back(&mut self);
}

/// How many things in a row are done for handlers and hooks before others have the worker.
const STEPS: u32 = 256;

/// How many signals are applied in a row before other work on the same worker has its turn.
const SIGNALS: u32 = 64;

impl dyn Managed + '_ {
    /// Applies the signals that wait and runs pending operations. Returns false if signals are left: after
    /// [`SIGNALS`] of them other work has its turn, and the actor is attended to again.
    pub(super) fn process_signals(&mut self, front: &Front) -> bool {
        let mut applied = 0;
        let is_all = loop {
            // A panic comes first: signals pushed after it find the actor ended.
            self.settle_failure(front);
            if applied >= SIGNALS && front.has_signals() && self.address().alert() {
                break false;
            }
            let Some(signal) = front.take_signal() else { break true };
            self.apply(front, signal);
            applied += 1;
        };
        if self.core().phase == Phase::Running {
            self.settle(front);
        }
        is_all
    }

    fn apply(&mut self, front: &Front, signal: Signal) {
        match self.core().phase {
            Phase::Ended => return self.refuse_behind(front, signal),
            // There is nothing to be ended or replaced.
            Phase::Down if signal.ends_a_run() => return,
            _ => {}
        }
        match signal {
            Signal::Stop(reason) => {
                self.end_hold_for(&reason);
                self.end(front, reason);
            }
            Signal::Kill(reason) => self.kill(front, reason),
            Signal::Restart(reason) => {
                self.end_hold();
                self.restart(front, &reason);
            }
            Signal::Start { by, run } => self.start(front, by, run),
            Signal::End(reason) => self.end_for_good(front, reason),
            Signal::RuntimeEnds(ending) => self.end_with_runtime(front, &ending),
            Signal::Suspend => self.core().rest().suspended = true,
            Signal::Resume => self.core().rest().suspended = false,
            Signal::Exit { from, reason } => self.on_exit(front, from, reason),
            Signal::Links(change) => self.change_links(front, change),
        }
    }

    pub(super) fn change_links(&mut self, front: &Front, change: LinkChange) {
        let rest = self.core().rest();
        let life = rest.life;
        rest.links.change(front.id(), life, change);
    }

    fn on_exit(&mut self, front: &Front, from: ActorId, reason: ExitReason) {
        let core = self.core();
        let is_down = core.phase == Phase::Down;
        let links = &mut core.rest().links;
        if is_down {
            return links.exit_later(from, reason);
        }
        // The exit of an actor that was unlinked meanwhile is void.
        if !links.unlink(from) {
            return;
        }
        if let Some(trap) = &links.trap {
            return trap(Exited { actor: from, reason });
        }
        if !reason.is_normal() {
            let reason = ExitReason::Linked(from, reason.into_cause());
            self.end_hold_for(&reason);
            self.end(front, reason);
        }
    }

    /// Does what handlers and hooks have asked for, and what came of them, until nothing is left to
    /// do now.
    fn settle(&mut self, front: &Front) {
        let mut steps = 0;
        while self.core().phase == Phase::Running && self.settle_one(front) {
            steps += 1;
            if steps == STEPS {
                // Its futures go on asking for others that are ready at once.
                self.come_again();
                break;
            }
        }
        self.announce(front);
    }

    /// Lets others have the worker, and has the actor attended to again.
    fn come_again(&self) {
        let this = self.address().any();
        when((), move |()| this.alert());
    }

    /// Returns whether there was something to do.
    fn settle_one(&mut self, front: &Front) -> bool {
        if self.settle_failure(front) {
            return true;
        }
        if self.core().is_held() {
            return self.go_on_with_hold();
        }
        match self.take_wish() {
            Some(Wish::Stop(reason)) => self.end(front, reason),
            Some(Wish::Replay(envelopes)) => self.handle_again(envelopes),
            Some(Wish::Held) => self.core().rest().is_held = true,
            None => return false,
        }
        true
    }

    /// Ends the actor if it has failed.
    fn settle_failure(&mut self, front: &Front) -> bool {
        let core = self.core();
        if core.phase != Phase::Running {
            return false;
        }
        let Some(reason) = core.take_failure() else { return false };
        self.fail(front, reason);
        true
    }

    /// Lets messages come before all others.
    pub(super) fn handle_again(&mut self, envelopes: Envelopes) {
        if !envelopes.is_empty() {
            self.core().rest().again.prepend(envelopes);
        }
    }

    /// Handles the next message that was set aside, if there is one, and it need not wait.
    pub(super) fn replay_one(&mut self) {
        if self.waits() {
            return;
        }
        let envelope = self.core().has_rest().and_then(|rest| rest.again.pop_front());
        let Some(envelope) = envelope else { return };
        if let Err(why) = catch(|| self.give(envelope)) {
            self.core().fail(&why);
        }
    }

    /// Whether messages wait for something else to happen.
    pub(super) fn waits(&mut self) -> bool {
        let core = self.core();
        let is_down = core.phase == Phase::Down;
        is_down
            || core.has_rest().is_some_and(|rest| rest.suspended || rest.is_held)
            || self.is_unsettled()
    }

    /// Whether messages that were set aside are to come before the next behaviour.
    pub(super) fn has_reserved(&mut self) -> bool {
        self.core().has_rest().is_some_and(|rest| !rest.again.is_empty())
    }

    /// Calls a hook of the actor's. A panic fails it.
    pub(super) fn hook(&mut self, hook: Hook<'_>) {
        if let Err(why) = self.call(hook) {
            self.core().fail(&why);
        }
    }

    /// Polls the future that holds the actor; returns whether it has ended.
    fn go_on_with_hold(&mut self) -> bool {
        match self.poll_hold() {
            Ok(Poll::Pending) => return false,
            Ok(Poll::Ready(())) => self.end_hold(),
            Err(why) => {
                self.end_hold();
                self.core().fail(&why);
            }
        }
        true
    }

    /// Drops the future that holds the actor, if there is one, and takes the state out of it.
    fn end_hold(&mut self) {
        if let Some(rest) = self.core().has_rest()
            && std::mem::take(&mut rest.is_held)
        {
            self.take_back();
        }
    }

    /// The same for an actor that ends: what the future was to answer fails for that reason.
    pub(super) fn end_hold_for(&mut self, reason: &ExitReason) {
        if self.core().is_held() {
            note_cut_off();
            in_end_for(reason, || self.end_hold());
        }
    }

    /// Does what is to be done after a panic.
    #[cold]
    fn fail(&mut self, front: &Front, reason: ExitReason) {
        self.subject().failed(&reason);
        let limit = self.core().has_rest().and_then(|rest| rest.limit.as_mut());
        if limit.is_some_and(|limit| limit.allows(Home::current().elapsed())) {
            self.restart(front, &reason);
        } else {
            self.end(front, reason);
        }
    }

    #[cold]
    pub(super) fn kill(&mut self, front: &Front, reason: ExitReason) {
        self.end_hold_for(&reason);
        self.core().phase = Phase::Ended;
        self.finish(front, reason);
    }

    /// Ends the actor, which says its farewell.
    pub(super) fn end(&mut self, front: &Front, reason: ExitReason) {
        self.core().phase = Phase::Ended;
        let reason = self.say_farewell(reason);
        self.finish(front, reason);
    }

    /// Calls [`Actor::stopped`](crate::Actor::stopped). A farewell that fails is told, and is the reason of an end that was
    /// meant otherwise; returns what is the reason now.
    fn say_farewell(&mut self, reason: ExitReason) -> ExitReason {
        self.hook(Hook::Stopped(&reason));
        let Some(failure) = self.core().take_failure() else { return reason };
        self.subject().failed(&failure);
        if reason.is_normal() { failure } else { reason }
    }

    /// Makes it known that the actor has ended, and drops it; if its supervisor may want it back,
    /// it only goes down.
    pub(super) fn finish(&mut self, front: &Front, reason: ExitReason) {
        if self.core().is_supervised() {
            return self.go_down(front, reason);
        }
        front.set_end(&reason);
        self.address().close();
        front.open_mailbox();
        if let Some(set_aside) = self.drop_last_state(&reason) {
            self.bury_all(set_aside);
        }
        if are_lives_watched() {
            self.subject().stopped(&reason);
        }
        if let Some(rest) = self.core().rest.take() {
            self.finish_rest(front, rest.into_inner(), reason);
        }
        if front.set_told() {
            self.refuse_late(front);
        }
    }

    /// Tells others of the end, and drops what else there was.
    #[cold]
    fn finish_rest(&mut self, front: &Front, rest: Rest, reason: ExitReason) {
        let Rest { links, own, again, .. } = rest;
        let _ = catch(move || drop(own));
        self.bury_all(again);
        if !links.is_empty() {
            let actor = front.id();
            self.tell_behind(Box::new(move || links.announce_end(actor, &reason)));
        }
    }

    /// Drops messages that were set aside by an actor that has ended.
    fn bury_all(&mut self, mut envelopes: Envelopes) {
        while let Some(envelope) = envelopes.pop_front() {
            let _ = catch(|| self.give(envelope));
        }
    }

    #[cold]
    fn restart(&mut self, front: &Front, reason: &ExitReason) {
        if !self.is_restartable() {
            return self.end(front, reason.clone());
        }
        self.say_farewell(reason.clone());
        let (set_aside, _) = self.drop_state();
        self.handle_again(set_aside);
        self.core().rest().failure = None;
        match self.begin_life() {
            Ok(()) => {
                self.hook(Hook::Restarted(reason));
                self.subject().restarted(reason);
            }
            Err(why) => {
                self.subject().failed(&why);
                self.end(front, why);
            }
        }
    }

    /// Makes a new state. What the one before has begun ends with that; if there is none, with the actor.
    pub(super) fn begin_life(&mut self) -> Result<(), ExitReason> {
        let life = self.core().rest().life.wrapping_add(1).max(1);
        self.renew(life).map_err(|why| reason_of(&why))?;
        let id = self.address().id();
        let rest = self.core().rest();
        rest.life = life;
        rest.links.end_life(id);
        Ok(())
    }

    /// A message of this type has come to an actor that has ended; returns why that has.
    #[cold]
    pub(super) fn count_buried(&mut self, message: &'static str) -> ExitReason {
        let front = self.address().front();
        front.count_dead_letter();
        let reason = front.end().cloned().unwrap_or(ExitReason::Normal);
        self.subject().missed(message, &reason);
        // What comes past the deadline is counted where it comes from.
        if Home::current().is_ending() && !is_cancelling() {
            Home::current().count_abandoned();
        }
        reason
    }

    /// See [`tell_behind`](super::ending::tell_behind); for the actor's host.
    fn tell_behind(&self, tell: Box<dyn FnOnce() + Send>) {
        match self.address().upgrade() {
            Some(address) => super::ending::tell_behind(&*address, false, tell),
            None => drop(catch(tell)),
        }
    }

    /// Answers those who have come while the end was told.
    fn refuse_late(&self, front: &Front) {
        if front.has_signals() {
            self.address().upgrade().iter().for_each(|address| super::refuse_late(&**address));
        }
    }

    /// See [`refuse_behind`](super::ending::refuse_behind).
    fn refuse_behind(&self, front: &Front, signal: Signal) {
        let address: Option<Box<dyn AnyStrong>> = self.address().upgrade();
        super::ending::refuse_behind(address.as_deref(), front, signal);
    }
}
