//! What becomes of an actor: signals, failures, its end. None of it depends on the actor's type but by the few steps
//! of [`Managed`], so it is compiled once, and not for each type again.

use std::any::Any;
use std::task::Poll;

use coact_core::internals::{catch, is_cancelling};
use coact_core::runtime::RuntimeHandle;
use coact_core::{Broken, when};
use parking_lot::Mutex;

use super::erased::{AnyStrong, AnyWeak};
use super::reason_of;
use crate::begun::note_cut_off;
use crate::events::{Subject, are_lives_watched};
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::intensity::Intensity;
use crate::links::Links;
use crate::mailbox::{Envelope, Envelopes};
use crate::monitor::Exited;
use crate::reply::in_end_for;
use crate::shared_state::SharedState;
use crate::signal::{LinkChange, Signal};
use crate::supervision::Supervision;

/// What the cells of all actors have in common.
pub(super) struct Core {
    pub(super) phase: Phase,
    /// Counts the turns with the actor; wraps. See [`idle_timeout`](crate::idle_timeout).
    pub(super) turns: u32,
    /// What few actors need.
    extras: Option<Box<Mutex<Extras>>>,
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
pub(super) struct Extras {
    pub(super) links: Links,
    /// `None` without a supervisor.
    pub(super) supervision: Option<Supervision>,
    /// How often it may restart after panics, if it does so by itself.
    pub(super) limit: Option<Box<Intensity>>,
    /// Messages wait until the actor is resumed.
    pub(super) suspended: bool,
    /// A future holds the actor.
    pub(super) is_held: bool,
    /// The actor has panicked, and nothing was done about it yet.
    pub(super) failure: Option<ExitReason>,
    /// Unstashed messages, which come before all that waits.
    pub(super) unstashed: Envelopes,
    /// Counts the states before this one.
    pub(super) life: u32,
    /// The part that depends on the actor's type.
    pub(super) own: Option<Box<dyn Any + Send>>,
}

impl Core {
    pub(super) fn new(phase: Phase, extras: Option<Extras>) -> Self {
        Self { phase, turns: 0, extras: extras.map(|extras| Box::new(Mutex::new(extras))) }
    }

    #[inline]
    pub(super) fn count_turn(&mut self) {
        self.turns = self.turns.wrapping_add(1);
    }

    pub(super) fn extras_or_init(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default().get_mut()
    }

    #[inline]
    pub(super) fn extras(&mut self) -> Option<&mut Extras> {
        self.extras.as_mut().map(|extras| extras.get_mut())
    }

    /// Whether it runs without extras.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.phase == Phase::Running && self.extras.is_none()
    }

    fn is_held(&mut self) -> bool {
        self.extras().is_some_and(|extras| extras.is_held)
    }

    pub(super) fn is_supervised(&mut self) -> bool {
        self.extras().is_some_and(|extras| extras.supervision.is_some())
    }

    /// From now on the actor is not started again.
    pub(super) fn leave_supervisor(&mut self) -> Option<Supervision> {
        self.extras().and_then(|extras| extras.supervision.take())
    }

    fn take_failure(&mut self) -> Option<ExitReason> {
        self.extras().and_then(|extras| extras.failure.take())
    }

    fn fail(&mut self, why: &Broken) {
        self.extras_or_init().failure = Some(reason_of(why));
    }
}

/// The hooks of [`Actor`](crate::Actor).
#[derive(Clone, Copy)]
pub(super) enum Hook<'a> {
    Started,
    Restarted(&'a ExitReason),
    Stopped(&'a ExitReason),
}

/// An operation that the actor has requested by its context; it runs after the handler or hook.
pub(super) enum PendingOp {
    Stop(ExitReason),
    /// Handle stashed messages next.
    Unstash(Envelopes),
    /// A future holds the actor from here on.
    Held,
}

/// The steps that depend on the actor's type.
pub(super) trait Managed {
    fn core(&mut self) -> &mut Core;
    fn subject(&self) -> Subject;
    fn address(&self) -> &dyn AnyWeak;
    /// Calls a hook, if there is a state.
    fn call(&mut self, hook: Hook<'_>) -> Result<(), Broken>;
    /// Gives an unstashed message to the actor.
    fn give(&mut self, envelope: Box<dyn Envelope>);
    fn take_pending(&mut self) -> Option<PendingOp>;
    /// Whether a stop or a hold is pending, so that messages must wait.
    fn must_pause_messages(&mut self) -> bool;
    /// Drops the state, for another one to come; returns its stash.
    fn drop_state(&mut self) -> (Envelopes, Result<(), Broken>);
    /// The same at the actor's end.
    fn drop_last_state(&mut self, reason: &ExitReason) -> Option<Envelopes>;
    fn is_restartable(&mut self) -> bool;
    /// Whether the actor, told that its runtime is about to end, ends by itself.
    fn ends_by_itself(&mut self) -> bool;
    /// Makes a new state, the `life`th after the first.
    fn renew(&mut self, life: u32) -> Result<(), Broken>;
    /// Polls the future that holds the actor.
    fn poll_hold(&mut self) -> Result<Poll<()>, Broken>;
    /// Drops that future, and takes the state out of it.
    fn take_back(&mut self);
}

/// How many pending operations run in a row before other work has the worker.
const STEPS: u32 = 256;

/// How many signals are applied in a row before other work on the same worker has its turn.
const SIGNALS: u32 = 64;

impl dyn Managed + '_ {
    /// Applies the signals that wait and runs pending operations. Returns false if signals are left: after
    /// [`SIGNALS`] of them other work has its turn, and the actor is interrupted again.
    pub(super) fn process_signals(&mut self, shared: &SharedState) -> bool {
        let mut applied = 0;
        let is_all = loop {
            // A panic comes first: signals pushed after it find the actor ended.
            self.handle_failure(shared);
            if applied >= SIGNALS && shared.has_signals() && self.address().interrupt() {
                break false;
            }
            let Some(signal) = shared.take_signal() else { break true };
            self.apply(shared, signal);
            applied += 1;
        };
        if self.core().phase == Phase::Running {
            self.run_pending(shared);
        }
        is_all
    }

    fn apply(&mut self, shared: &SharedState, signal: Signal) {
        match self.core().phase {
            Phase::Ended => return self.refuse_behind(shared, signal),
            // There is nothing to be ended or replaced.
            Phase::Down if signal.ends_a_run() => return,
            _ => {}
        }
        match signal {
            Signal::Stop(reason) => {
                self.end_hold_for(&reason);
                self.end(shared, reason);
            }
            Signal::Kill(reason) => self.kill(shared, reason),
            Signal::Restart(reason) => {
                self.end_hold();
                self.restart(shared, &reason);
            }
            Signal::Start { by, run } => self.start(shared, by, run),
            Signal::End(reason) => self.end_for_good(shared, reason),
            Signal::RuntimeEnds(ending) => self.end_with_runtime(shared, &ending),
            Signal::Suspend => self.core().extras_or_init().suspended = true,
            Signal::Resume => self.core().extras_or_init().suspended = false,
            Signal::Exit { from, reason } => self.on_exit(shared, from, reason),
            Signal::Links(change) => self.change_links(shared, change),
        }
    }

    pub(super) fn change_links(&mut self, shared: &SharedState, change: LinkChange) {
        let extras = self.core().extras_or_init();
        let life = extras.life;
        extras.links.change(shared.id(), life, change);
    }

    fn on_exit(&mut self, shared: &SharedState, from: ActorId, reason: ExitReason) {
        let core = self.core();
        let is_down = core.phase == Phase::Down;
        let links = &mut core.extras_or_init().links;
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
            self.end(shared, reason);
        }
    }

    /// Runs the pending operations of handlers and hooks, and those that these add, until none is left.
    fn run_pending(&mut self, shared: &SharedState) {
        let mut steps = 0;
        while self.core().phase == Phase::Running && self.run_one_pending(shared) {
            steps += 1;
            if steps == STEPS {
                // Its futures keep requesting futures that are ready at once.
                self.come_again();
                break;
            }
        }
        self.announce(shared);
    }

    /// Lets others have the worker, and has the actor interrupted again.
    fn come_again(&self) {
        let this = self.address().any();
        when((), move |()| this.interrupt());
    }

    /// Runs one pending operation, if there is one.
    fn run_one_pending(&mut self, shared: &SharedState) -> bool {
        if self.handle_failure(shared) {
            return true;
        }
        if self.core().is_held() {
            return self.go_on_with_hold();
        }
        match self.take_pending() {
            Some(PendingOp::Stop(reason)) => self.end(shared, reason),
            Some(PendingOp::Unstash(envelopes)) => self.put_unstashed_first(envelopes),
            Some(PendingOp::Held) => self.core().extras_or_init().is_held = true,
            None => return false,
        }
        true
    }

    /// Ends or restarts the actor if it has failed.
    fn handle_failure(&mut self, shared: &SharedState) -> bool {
        let core = self.core();
        if core.phase != Phase::Running {
            return false;
        }
        let Some(reason) = core.take_failure() else { return false };
        self.fail(shared, reason);
        true
    }

    /// Puts messages before all others.
    pub(super) fn put_unstashed_first(&mut self, envelopes: Envelopes) {
        if !envelopes.is_empty() {
            self.core().extras_or_init().unstashed.prepend(envelopes);
        }
    }

    /// Handles the next unstashed message, unless messages must wait.
    pub(super) fn drain_one_stashed(&mut self) {
        if self.waits() {
            return;
        }
        let envelope = self.core().extras().and_then(|extras| extras.unstashed.pop_front());
        let Some(envelope) = envelope else { return };
        if let Err(why) = catch(|| self.give(envelope)) {
            self.core().fail(&why);
        }
    }

    /// Whether messages must wait.
    pub(super) fn waits(&mut self) -> bool {
        let core = self.core();
        let is_down = core.phase == Phase::Down;
        is_down
            || core.extras().is_some_and(|extras| extras.suspended || extras.is_held)
            || self.must_pause_messages()
    }

    /// Whether unstashed messages come before the next behaviour.
    pub(super) fn has_reserved(&mut self) -> bool {
        self.core().extras().is_some_and(|extras| !extras.unstashed.is_empty())
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
        if let Some(extras) = self.core().extras()
            && std::mem::take(&mut extras.is_held)
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

    /// Restarts or ends the actor after a panic.
    #[cold]
    fn fail(&mut self, shared: &SharedState, reason: ExitReason) {
        self.subject().failed(&reason);
        let limit = self.core().extras().and_then(|extras| extras.limit.as_mut());
        if limit.is_some_and(|limit| limit.allows(RuntimeHandle::current().elapsed())) {
            self.restart(shared, &reason);
        } else {
            self.end(shared, reason);
        }
    }

    #[cold]
    pub(super) fn kill(&mut self, shared: &SharedState, reason: ExitReason) {
        self.end_hold_for(&reason);
        self.core().phase = Phase::Ended;
        self.finish(shared, reason);
    }

    /// Ends the actor, after its [`stopped`](crate::Actor::stopped).
    pub(super) fn end(&mut self, shared: &SharedState, reason: ExitReason) {
        self.core().phase = Phase::Ended;
        let reason = self.spawn_last_handle_check(reason);
        self.finish(shared, reason);
    }

    /// Calls [`Actor::stopped`](crate::Actor::stopped). If that fails, publishes the failure. Returns the reason of the
    /// end: the failure, if `reason` is a normal one.
    fn spawn_last_handle_check(&mut self, reason: ExitReason) -> ExitReason {
        self.hook(Hook::Stopped(&reason));
        let Some(failure) = self.core().take_failure() else { return reason };
        self.subject().failed(&failure);
        if reason.is_normal() { failure } else { reason }
    }

    /// Ends the actor and announces that; a supervised actor only goes down.
    pub(super) fn finish(&mut self, shared: &SharedState, reason: ExitReason) {
        if self.core().is_supervised() {
            return self.go_down(shared, reason);
        }
        shared.set_end(&reason);
        self.address().close();
        shared.open_mailbox();
        if let Some(set_aside) = self.drop_last_state(&reason) {
            self.dead_letter_all(set_aside);
        }
        if are_lives_watched() {
            self.subject().stopped(&reason);
        }
        if let Some(extras) = self.core().extras.take() {
            self.finish_extras(shared, extras.into_inner(), reason);
        }
        if shared.set_announced() {
            self.refuse_late(shared);
        }
    }

    /// Announces the end to links and monitors, and drops the extras.
    #[cold]
    fn finish_extras(&mut self, shared: &SharedState, extras: Extras, reason: ExitReason) {
        let Extras { links, own, unstashed, .. } = extras;
        let _ = catch(move || drop(own));
        self.dead_letter_all(unstashed);
        if !links.is_empty() {
            let actor = shared.id();
            self.announce_behind(Box::new(move || links.announce_end(actor, &reason)));
        }
    }

    /// Drops the stash of an actor that has ended, as dead letters.
    fn dead_letter_all(&mut self, mut envelopes: Envelopes) {
        while let Some(envelope) = envelopes.pop_front() {
            let _ = catch(|| self.give(envelope));
        }
    }

    #[cold]
    fn restart(&mut self, shared: &SharedState, reason: &ExitReason) {
        if !self.is_restartable() {
            return self.end(shared, reason.clone());
        }
        self.spawn_last_handle_check(reason.clone());
        let (set_aside, _) = self.drop_state();
        self.put_unstashed_first(set_aside);
        self.core().extras_or_init().failure = None;
        match self.begin_life() {
            Ok(()) => {
                self.hook(Hook::Restarted(reason));
                self.subject().restarted(reason);
            }
            Err(why) => {
                self.subject().failed(&why);
                self.end(shared, why);
            }
        }
    }

    /// Makes a new state. What the one before has begun ends with that; if there is none, with the actor.
    pub(super) fn begin_life(&mut self) -> Result<(), ExitReason> {
        let life = self.core().extras_or_init().life.wrapping_add(1).max(1);
        self.renew(life).map_err(|why| reason_of(&why))?;
        let id = self.address().id();
        let extras = self.core().extras_or_init();
        extras.life = life;
        extras.links.end_life(id);
        Ok(())
    }

    /// Counts a message of this type as a dead letter; returns why the actor has ended.
    #[cold]
    pub(super) fn count_dead_letter(&mut self, message: &'static str) -> ExitReason {
        let shared = self.address().shared();
        shared.count_dead_letter();
        let reason = shared.end().cloned().unwrap_or(ExitReason::Normal);
        self.subject().missed(message, &reason);
        // Messages dropped past the deadline are counted where they are dropped.
        if RuntimeHandle::current().is_ending() && !is_cancelling() {
            RuntimeHandle::current().count_abandoned();
        }
        reason
    }

    /// See [`announce_behind`](super::ending::announce_behind); for the actor's host.
    fn announce_behind(&self, tell: Box<dyn FnOnce() + Send>) {
        match self.address().upgrade() {
            Some(address) => super::ending::announce_behind(&*address, false, tell),
            None => drop(catch(tell)),
        }
    }

    /// Answers the signals that came while the end was announced.
    fn refuse_late(&self, shared: &SharedState) {
        if shared.has_signals() {
            self.address().upgrade().iter().for_each(|address| super::refuse_late(&**address));
        }
    }

    /// See [`refuse_behind`](super::ending::refuse_behind).
    fn refuse_behind(&self, shared: &SharedState, signal: Signal) {
        let address: Option<Box<dyn AnyStrong>> = self.address().upgrade();
        super::ending::refuse_behind(address.as_deref(), shared, signal);
    }
}
