//! Reports on runs that deadlock or do not end.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::panic::Location;

use coact_sim::TaskId;

use super::super::sim_fiber::{FiberSubject, SimFiber};
use super::super::wait_tables::{FutureWait, PendingBehaviour};
use super::{Engine, RUNNABLE, RunnableTask, engine};
use crate::config::ThreadKind;

/// The most entries of one kind in a report.
const MOST: usize = 40;
/// The number of last steps in the report of an endless run.
const LATELY: u64 = 1_000;
/// Behaviours spawned by interrupts, which programs do not know.
const OUR_OWN: &str = "coact_core::interrupt::";
/// The most promises in a chain that a report follows.
const DEEPEST: usize = 8;

impl Engine<'_> {
    /// Reports that every thread waits for another.
    pub(super) fn report_deadlock(&self) -> String {
        let fibers = self.fibers.borrow();
        let who = match fibers.len() {
            1 => "one simulated thread waits, and nothing is left that could wake it".to_owned(),
            many => {
                format!("{many} simulated threads wait, and nothing is left that could wake them")
            }
        };
        let all = fmt::from_fn(|f| {
            write!(f, "deadlock: {who}")?;
            list(f, fibers.iter(), |f, (id, fiber)| self.fiber(f, *id, fiber))?;
            self.stranded(f)
        });
        all.to_string()
    }

    /// Reports that the run has made the maximum number of steps.
    pub(super) fn report_endless(&self) -> String {
        let mut steps = BTreeMap::<String, usize>::new();
        let lately = self.lately.take();
        lately.iter().for_each(|who| *steps.entry(who.to_string()).or_default() += 1);
        let mut steps: Vec<_> = steps.into_iter().collect();
        steps.sort_by_key(|(_, steps)| usize::MAX - steps);
        let fibers = self.fibers.borrow();
        let all = fmt::from_fn(|f| {
            write!(f, "no end after {} scheduling decisions", self.settings.max_steps)?;
            write!(f, "; the last {} went to", lately.len())?;
            list(f, steps.iter(), |f, (who, steps)| write!(f, "{who}: {steps} times"))?;
            let waits = |fiber: &SimFiber| !fiber.can_go_on();
            list(f, fibers.iter().filter(|(_, fiber)| waits(fiber)), |f, (id, fiber)| {
                self.fiber(f, *id, fiber)
            })
        });
        all.to_string()
    }

    /// Records the next fiber, if the run is about to be given up.
    pub(super) fn note_step(&self, chosen: TaskId) {
        if self.steps.get() + LATELY <= self.settings.max_steps {
            return;
        }
        let who = self.who(chosen);
        self.lately.borrow_mut().push(who);
    }

    /// Returns what a runnable task is.
    pub(super) fn who(&self, task: TaskId) -> FiberSubject {
        let ready = self.ready.borrow();
        let ready = ready.get(&task).map(|ready| FiberSubject::task(ready.task, ready.home));
        let who = ready.or_else(|| self.fibers.borrow().get(&task).map(|fiber| fiber.who));
        who.expect(RUNNABLE)
    }

    fn fiber(&self, f: &mut Formatter<'_>, id: TaskId, fiber: &SimFiber) -> fmt::Result {
        write!(f, "#{id}, {},", fiber.who)?;
        match fiber.wait() {
            Some((at, what)) => write!(f, " waits at {at} for {what}"),
            None => f.write_str(" can go on"),
        }
    }

    /// Writes what has no thread and cannot go on either.
    fn stranded(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (behaviours, futures) = (self.known.behaviours.borrow(), self.known.futures.borrow());
        let waits =
            |of: &&PendingBehaviour| of.runs_in.is_none() && !(of.name)().starts_with(OUR_OWN);
        let waiting: Vec<_> = behaviours.values().filter(waits).collect();
        let futures: Vec<_> = futures.values().filter(|future| !future.in_thread).collect();
        let ready = self.ready.borrow();
        if waiting.is_empty() && futures.is_empty() && ready.is_empty() {
            return Ok(());
        }
        f.write_str("\n  and without a thread:")?;
        list(f, futures.iter(), |f, future| self.future(f, future, 0))?;
        list(f, ready.iter(), |f, (id, ready)| self.not_begun(f, *id, ready))?;
        let is_ready = |of: &&&PendingBehaviour| ready.values().any(|ready| of.is_in(ready));
        list(f, waiting.iter().filter(|of| !is_ready(of)), |f, behaviour| {
            self.behaviour(f, behaviour)?;
            write!(f, " {}", self.state(behaviour))
        })
    }

    /// Writes a task that could begin if there were room.
    fn not_begun(&self, f: &mut Formatter<'_>, id: TaskId, ready: &RunnableTask) -> fmt::Result {
        write!(f, "#{id}, ")?;
        match self.known.behaviours.borrow().values().find(|of| of.is_in(ready)) {
            Some(behaviour) => {
                self.behaviour(f, behaviour)?;
                write!(f, " on runtime `{}`", ready.home.config.name)?;
            }
            None => write!(f, "{}", FiberSubject::task(ready.task, ready.home))?,
        }
        write!(f, ", {}", ready.lack())
    }
}

impl RunnableTask {
    /// Returns why a ready task does not begin.
    fn lack(&self) -> &'static str {
        match self.home.config.host {
            ThreadKind::Pump => "is ready, but the pump does not run",
            _ => "is ready, but all threads of the runtime are waiting",
        }
    }
}

impl PendingBehaviour {
    fn is_in(&self, ready: &RunnableTask) -> bool {
        ready.task.addr().get() == self.task
    }

    fn shares_a_queue_with(&self, other: &Self) -> bool {
        self.queues.iter().any(|queue| other.queues.contains(queue))
    }
}

/// Describes a promise, and what it depends on.
pub(in super::super) fn promise(cell: usize) -> impl Display {
    fmt::from_fn(move |f| match engine() {
        Some(engine) => engine.promise(f, cell, 0),
        None => f.write_str("a promise"),
    })
}

impl Engine<'_> {
    fn promise(&self, f: &mut Formatter<'_>, cell: usize, depth: usize) -> fmt::Result {
        let promise = self.known.promises.borrow().get(&cell).copied();
        let Some(promise) = promise else { return f.write_str("a promise") };
        if let Some(future) =
            self.known.futures.borrow().values().find(|of| of.promise == Some(cell))
        {
            return self.future(f, future, depth);
        }
        let behaviours = self.known.behaviours.borrow();
        let behaviour = behaviours.values().find(|of| of.promise == Some(cell));
        let fibers = self.fibers.borrow();
        let thread = fibers.iter().find(|(_, fiber)| fiber.keeps == Some(cell));
        if let Some((id, fiber)) = thread {
            return write!(f, "{}, which is #{id}", fiber.who);
        }
        match (promise.owed_by, behaviour) {
            (Some(what), _) => what(f)?,
            (None, Some(behaviour)) => write!(f, "the result of `{}`", (behaviour.name)())?,
            (None, None) if is_ours(promise.made_at) => f.write_str("a promise")?,
            (None, None) => f.write_str("a promise that the program itself must complete")?,
        }
        place(promise.made_at).fmt(f)?;
        match (behaviour, promise.follows) {
            (Some(behaviour), _) => write!(f, ", which {}", self.state(behaviour)),
            (None, Some(of)) if depth < DEEPEST => {
                f.write_str(", which follows ")?;
                self.promise(f, of, depth + 1)
            }
            _ if promise.is_handled => {
                f.write_str(", which has been handled: its reply is pending")
            }
            _ => Ok(()),
        }
    }

    fn future(&self, f: &mut Formatter<'_>, future: &FutureWait, depth: usize) -> fmt::Result {
        (future.what)(f)?;
        match future.awaits {
            Some(cell) if depth < DEEPEST => {
                f.write_str(", which awaits ")?;
                self.promise(f, cell, depth + 1)
            }
            _ => Ok(()),
        }
    }

    /// Writes a behaviour, and where it was spawned.
    fn behaviour(&self, f: &mut Formatter<'_>, behaviour: &PendingBehaviour) -> fmt::Result {
        let promises = self.known.promises.borrow();
        let promise = behaviour.promise.and_then(|cell| promises.get(&cell));
        write!(f, "`{}`", (behaviour.name)())?;
        let spawned_at = promise.map(|promise| promise.made_at).or(behaviour.spawned_at);
        spawned_at.map_or(Ok(()), |at| place(at).fmt(f))
    }

    /// Describes what a behaviour is doing, or what it waits for.
    fn state(&self, behaviour: &PendingBehaviour) -> impl Display {
        fmt::from_fn(move |f| {
            if let Some(id) = behaviour.runs_in {
                return write!(f, "runs as #{id}");
            }
            if let Some(ready) = self.ready.borrow().values().find(|ready| behaviour.is_in(ready)) {
                return f.write_str(ready.lack());
            }
            if behaviour.is_detained {
                return f.write_str("is detained: its guard was not dropped");
            }
            let behaviours = self.known.behaviours.borrow();
            let shares = |other: &&PendingBehaviour| other.shares_a_queue_with(behaviour);
            if let Some(id) = behaviours.values().filter(shares).find_map(|of| of.runs_in) {
                return write!(f, "is queued behind #{id}");
            }
            if let Some(other) = behaviours.values().filter(shares).find(|of| of.is_detained) {
                f.write_str("is queued behind ")?;
                self.behaviour(f, other)?;
                return f.write_str(", which is detained");
            }
            // In spawn order.
            let mut before =
                behaviours.values().take_while(|other| !std::ptr::eq(*other, behaviour));
            match before.find(|other| other.queues.len() > 1 && shares(other)) {
                Some(other) => {
                    f.write_str("is queued behind ")?;
                    self.behaviour(f, other)
                }
                None => f.write_str(
                    "waits for an actor that is held or suspended, or for an object created outside of the simulation",
                ),
            }
        })
    }
}

/// Writes a location in parentheses.
fn place(at: &'static Location<'static>) -> impl Display {
    fmt::from_fn(move |f| if is_ours(at) { Ok(()) } else { write!(f, " ({at})") })
}

/// Returns whether a location is in this crate or the actors' crate beside it, and so tells users
/// nothing.
fn is_ours(at: &Location<'_>) -> bool {
    let core = file!().trim_end_matches("sim/engine/report.rs");
    let (beside, name) = match core.trim_end_matches("/src/").rfind('/') {
        Some(slash) => core.split_at(slash + 1),
        None => ("", core),
    };
    let file = at.file().strip_prefix(beside).unwrap_or_default();
    file.starts_with(name) || file.starts_with(&name.replace("core", "actor"))
}

/// Writes a line for each item, up to a maximum.
fn list<T>(
    f: &mut Formatter<'_>,
    mut all: impl Iterator<Item = T>,
    line: impl Fn(&mut Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    for one in all.by_ref().take(MOST) {
        f.write_str("\n    ")?;
        line(f, one)?;
    }
    match all.count() {
        0 => Ok(()),
        more => write!(f, "\n    and {more} more"),
    }
}
