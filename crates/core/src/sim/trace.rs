//! The trace of a run, and the comparison of another run with it.

use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};

use coact_sim::TaskId;

use super::sim_fiber::FiberSubject;
use crate::simulated::SpawnSite;

/// How many events before a difference a report shows.
const COMMON: usize = 3;

/// Something that a run does. What depends on addresses is left out.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum TraceEvent {
    /// One of these tasks was chosen to run next.
    Step { runnable: Box<[TaskId]>, chosen: TaskId, who: FiberSubject },
    /// The program was given this value below a bound.
    Value { bound: u64, value: u64 },
    /// A behaviour was spawned.
    Spawned { name: &'static str, at: Option<SpawnSite> },
    /// A behaviour waits for these cowns, by their ranks in the order of creation.
    Queued { cowns: Box<[Option<usize>]> },
    /// Time has passed.
    Time(u64),
    /// The program has noted something: see [`trace`](super::trace()).
    Noted(String),
}

impl Display for TraceEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step { runnable, chosen, who } => {
                write!(f, "of the runnable tasks [")?;
                for (n, task) in runnable.iter().enumerate() {
                    write!(f, "{}{task}", if n == 0 { "" } else { ", " })?;
                }
                write!(f, "], #{chosen} went on: {who}")
            }
            Self::Value { bound, value } => {
                write!(f, "`sim::choose({bound})` returned {value}")
            }
            Self::Spawned { name, at: Some(at) } => write!(f, "`{name}` was spawned at {at}"),
            Self::Spawned { name, at: None } => write!(f, "`{name}` was spawned"),
            Self::Queued { cowns } => {
                f.write_str("it waits for ")?;
                for (n, cown) in cowns.iter().enumerate() {
                    f.write_str(if n == 0 { "" } else { ", " })?;
                    match cown {
                        Some(rank) => write!(f, "cown {rank} of the run")?,
                        None => f.write_str("a cown made before the run")?,
                    }
                }
                Ok(())
            }
            Self::Time(now) => {
                write!(f, "the time became {:?}", std::time::Duration::from_nanos(*now))
            }
            Self::Noted(entry) => write!(f, "`sim::trace`: {entry}"),
        }
    }
}

/// Records the trace of a run, or compares a run with a recorded one.
#[derive(Default)]
pub(super) struct RunTrace(RefCell<TraceState>);

#[derive(Default)]
struct TraceState {
    events: Vec<TraceEvent>,
    /// How many of these the second run has repeated; `None` while the first one records them.
    repeated: Option<usize>,
    /// What the second run did instead.
    parted: Option<TraceEvent>,
}

impl RunTrace {
    pub(super) fn push(&self, event: TraceEvent) {
        let mut state = self.0.borrow_mut();
        let Some(at) = state.repeated else { return state.events.push(event) };
        if state.parted.is_some() {
            return;
        }
        if state.events.get(at) == Some(&event) {
            state.repeated = Some(at + 1);
        } else {
            state.parted = Some(event);
        }
    }

    /// From here on another run is compared with what was recorded.
    pub(super) fn compare(&self) {
        self.0.borrow_mut().repeated = Some(0);
    }

    /// Returns whether the second run has done something else than the first.
    pub(super) fn has_parted(&self) -> bool {
        self.0.borrow().parted.is_some()
    }

    /// Says where the second run, which has ended, parts from the first, if it does.
    pub(super) fn difference(&self) -> Option<String> {
        let state = self.0.borrow();
        let at = state.repeated?;
        if state.parted.is_none() && at == state.events.len() {
            return None;
        }
        let event = |event: Option<&TraceEvent>| {
            event.map_or_else(|| "nothing more: it ended".to_owned(), ToString::to_string)
        };
        let (first, second) = (event(state.events.get(at)), event(state.parted.as_ref()));
        let common = fmt::from_fn(|f| {
            for event in &state.events[at.saturating_sub(COMMON)..at] {
                write!(f, "\n    both runs:       {event}")?;
            }
            Ok(())
        });
        Some(format!(
            "the program is not deterministic: two runs with the same choices part after {at} \
             events{common}\n    the first run:   {first}\n    the second run:  {second}\n{CAUSES}"
        ))
    }
}

/// What makes programs differ from one run to the next.
const CAUSES: &str = "  \
    WaitDescription makes the difference is not chosen by the schedule. Look between the last common event \
    and these for a `HashMap` or `HashSet` whose order decides (use a `BTreeMap`, or a hasher with \
    a fixed seed), a clock (`RuntimeHandle::elapsed`), random numbers (`sim::choose`), an address \
    as a number, a thread of `std` (`sim::thread`), or a `static` or thread-local that outlives a \
    run. `sim::trace(..)` in the program adds events, and so narrows it down.";

/// Says how a second run ends differently from the first, if it does.
pub(super) fn difference_of_ends(
    first: &Result<(), String>,
    second: &Result<(), String>,
) -> Option<String> {
    let end = |end: &Result<(), String>| match end {
        Ok(()) => "passed".to_owned(),
        Err(cause) => format!("failed: {cause}"),
    };
    (first != second).then(|| {
        format!(
            "the program is not deterministic: two runs with the same choices do the same and end \
             differently\n    the first run {}\n    the second run {}\n{CAUSES}",
            end(first),
            end(second)
        )
    })
}
