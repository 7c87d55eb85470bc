//! What the runtime sets out to reach, and whether these records show that it does.

use coact_bench_workloads::{Drawing, Group};

use super::references::PAPER;
use super::study::{OURS, Studies, Study, against_ours, family, geometric_mean, ratio, seconds};
use super::words::{NONE, Standing, bytes, several, times};
use crate::measure::record::Record;

/// The actor crates of our own language.
const CRATES: [&str; 3] = ["kameo", "ractor", "actix"];
const COUNTERS: [&str; 4] = ["counter-1", "counter-2", "counter-4", "counter-8"];
/// Programs that have a full form, and in how many of them it must be the faster one.
const FULL: (usize, usize) = (11, 9);
/// Memory is flat if its peak in the later half of the time is at most this multiple of that of the
/// earlier half.
const FLAT: f64 = 1.2;

/// Whether a goal is reached.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// All of it was measured and is so.
    Met,
    /// Some of it is not so.
    Missed,
    /// Nothing of it is not so, but not all was measured.
    Open,
}

/// A goal.
#[derive(Debug)]
pub struct Goal {
    /// What it is.
    pub aim: String,
    /// Whether it is reached.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
}

/// A part of a goal: whether it holds, where that was measured, and what was found.
type Part = (Option<bool>, String);

/// All goals.
pub fn all(studies: &Studies<'_>) -> Vec<Goal> {
    let mut goals = vec![
        faster_than_all(studies),
        savina_beside(studies, "caf", "CAF"),
        savina_beside(studies, "pekko", "Pekko"),
        full_form(studies),
        reasonable_banking(studies),
    ];
    goals.extend(["busy-banking", "dining-scale"].map(|name| scaling(studies, name)));
    goals.extend([
        counter_beside_crates(studies),
        counter_beside_crossbeam(studies),
        memory(studies),
    ]);
    goals
}

fn goal(aim: impl Into<String>, parts: Vec<Part>) -> Goal {
    let verdict = if parts.iter().any(|(holds, _)| *holds == Some(false)) {
        Verdict::Missed
    } else if parts.is_empty() || parts.iter().any(|(holds, _)| holds.is_none()) {
        Verdict::Open
    } else {
        Verdict::Met
    };
    let found: Vec<String> = parts.into_iter().map(|(_, found)| found).collect();
    Goal { aim: aim.into(), verdict, found: found.join("; ") }
}

fn unmeasured(what: &str) -> Part {
    (None, format!("{what}: not measured"))
}

/// Every way of every peer, on every number of workers.
fn faster_than_all(studies: &Studies<'_>) -> Goal {
    let aim = "Faster than every peer in every workload";
    let cases: Vec<(&Record, f64, Standing)> = studies
        .iter()
        .flat_map(|study| &study.records)
        .filter(|record| family(&record.implementation) != OURS)
        .filter_map(|record| {
            let ratio = against_ours(record)?;
            Some((*record, ratio.median, Standing::of(&ratio)))
        })
        .collect();
    if cases.is_empty() {
        return goal(aim, vec![unmeasured("peers")]);
    }
    let behind: Vec<String> = cases
        .iter()
        .filter(|(_, median, _)| *median <= 1.0)
        .map(|(record, median, _)| loss(record, *median))
        .collect();
    let unclear = cases.iter().filter(|(_, m, s)| *m > 1.0 && *s != Standing::Slower).count();
    let mut found = format!(
        "faster in {} of {}",
        cases.len() - behind.len(),
        several(cases.len(), "comparison")
    );
    if unclear > 0 {
        found += &format!(" (in {unclear} of them the spreads overlap)");
    }
    let parts = vec![(Some(behind.is_empty()), found)];
    let listed = Some(behind.join(", ")).filter(|listed| !listed.is_empty());
    let listed = listed.map(|listed| (Some(false), format!("behind {listed}")));
    goal(aim, parts.into_iter().chain(listed).collect())
}

fn loss(record: &Record, median: f64) -> String {
    let Record { workload, implementation, workers, .. } = record;
    let on = several(*workers, "worker");
    format!("{implementation} in {workload} on {on} ({} times)", times(1.0 / median))
}

fn savina_beside(studies: &Studies<'_>, peer: &str, name: &str) -> Goal {
    let aim = format!("Savina as actors: at least 5 times as fast as {name}, geometric mean");
    let savina = studies.of_group(Group::Savina);
    let ratios: Vec<f64> =
        savina.iter().filter_map(|study| Some(study.best_of(peer)?.1.median)).collect();
    let done = ratios.len();
    let of_all = format!("in {done} of {}", several(PAPER.len(), "program"));
    let mut parts = match geometric_mean(ratios) {
        Some(mean) => vec![(Some(mean >= 5.0), format!("{} times {of_all}", times(mean)))],
        None => vec![],
    };
    if done < PAPER.len() {
        parts.push(unmeasured(if done == 0 { name } else { "the others" }));
    }
    goal(aim, parts)
}

fn full_form(studies: &Studies<'_>) -> Goal {
    let (programs, wanted) = FULL;
    let aim =
        format!("Savina: full form faster than our actor form in at least {wanted} of {programs}");
    let ratios: Vec<(&str, f64)> = studies
        .of_group(Group::Savina)
        .into_iter()
        .filter_map(|study| Some((study.name, times_of(study, OURS, "coact-full")?)))
        .collect();
    if ratios.is_empty() {
        return goal(aim, vec![unmeasured("both forms")]);
    }
    let (faster, slower): (Vec<_>, Vec<_>) = ratios.iter().partition(|(_, ratio)| *ratio > 1.0);
    let slower: Vec<&str> = slower.into_iter().map(|(name, _)| name).collect();
    let missing = programs.saturating_sub(ratios.len());
    let holds = match (faster.len() >= wanted, faster.len() + missing >= wanted) {
        (true, _) => Some(true),
        (_, false) => Some(false),
        _ => None,
    };
    let mut found = format!("faster in {} of {}", faster.len(), several(ratios.len(), "program"));
    if !slower.is_empty() {
        found += &format!("; not in {}", slower.join(", "));
    }
    goal(aim, vec![(holds, found)])
}

/// How many times as long one of our ways takes as another.
fn times_of(study: &Study<'_>, slow: &str, fast: &str) -> Option<f64> {
    Some(ratio(study.most(slow)?, study.most(fast)?)?.median)
}

fn reasonable_banking(studies: &Studies<'_>) -> Goal {
    let found = studies
        .named("reasonable-banking")
        .and_then(|study| times_of(study, "coact-actors", OURS))
        .map(|ratio| (Some(ratio >= 50.0), format!("{} times", times(ratio))));
    goal(
        "reasonable-banking: behaviours at least 50 times as fast as our own actors",
        vec![found.unwrap_or_else(|| unmeasured("both ways"))],
    )
}

fn scaling(studies: &Studies<'_>, name: &str) -> Goal {
    let part = |workers: usize| {
        let on = format!("on {}", several(workers, "worker"));
        let record = studies.named(name).and_then(|study| study.case(OURS, workers));
        match record.and_then(efficiency) {
            Some(part) => (Some(part >= 0.95), format!("{:.1} % {on}", part * 100.0)),
            None => unmeasured(&on),
        }
    };
    goal(format!("{name}: at least 95 % of the ideal"), [1, 2].map(part).into())
}

/// The ideal time divided by that measured.
fn efficiency(record: &Record) -> Option<f64> {
    let Drawing::Workers { ideal: Some(ideal) } = record.drawing else { return None };
    let part = ideal / record.workers as f64 / seconds(record);
    part.is_finite().then_some(part)
}

/// A part for each of the counters.
fn counters(studies: &Studies<'_>, part: impl Fn(&Study<'_>) -> Option<Part>) -> Vec<Part> {
    let part = |name| {
        let found = studies.named(name).and_then(&part);
        found.unwrap_or_else(|| unmeasured(name))
    };
    COUNTERS.map(part).into()
}

fn counter_beside_crates(studies: &Studies<'_>) -> Goal {
    let parts = counters(studies, |study| {
        let is_crate = |record: &Record| CRATES.contains(&family(&record.implementation));
        let (record, ratio) = study.best(is_crate)?;
        let found =
            format!("{} times {} in {}", times(ratio.median), record.implementation, study.name);
        Some((Some(ratio.median >= 3.0), found))
    });
    goal("Counter: at least 3 times as fast as the fastest of kameo, ractor and actix", parts)
}

fn counter_beside_crossbeam(studies: &Studies<'_>) -> Goal {
    let parts = counters(studies, |study| {
        let (_, ratio) = study.best_of("crossbeam")?;
        let found = format!("{} times in {}", times(ratio.median), study.name);
        Some((Some(ratio.median > 1.0), found))
    });
    goal("Counter: faster than a crossbeam channel between threads", parts)
}

fn memory(studies: &Studies<'_>) -> Goal {
    let study = studies.named("mixed");
    let ours = study.and_then(|study| study.most(OURS));
    let flat = ours.and_then(growth).map(|growth| {
        let found = format!("the later half's peak is {} times the earlier half's", times(growth));
        (Some(growth <= FLAT), found)
    });
    let lowest = study.zip(ours).and_then(|(study, ours)| lowest(study, ours));
    let parts = vec![
        flat.unwrap_or_else(|| unmeasured("memory over time")),
        lowest.unwrap_or_else(|| unmeasured("peaks of peers")),
    ];
    goal("mixed: memory is flat, and the lowest of all", parts)
}

/// The peak in the later half of the time, divided by that in the earlier half.
fn growth(record: &Record) -> Option<f64> {
    let (end, _) = record.memory.last()?;
    let of_half =
        |late: bool| peak(record.memory.iter().filter(|(at, _)| (*at > end / 2.0) == late));
    Some(of_half(true)? as f64 / of_half(false)?.max(1) as f64)
}

/// The most memory in samples of it.
fn peak<'r>(samples: impl IntoIterator<Item = &'r (f64, u64)>) -> Option<u64> {
    samples.into_iter().map(|(_, bytes)| *bytes).max()
}

fn lowest(study: &Study<'_>, ours: &Record) -> Option<Part> {
    let own = peak(&ours.memory)?;
    let peers = study.on_most().filter(|record| family(&record.implementation) != OURS);
    let (peer, least) = peers
        .filter_map(|record| Some((&record.implementation, peak(&record.memory)?)))
        .min_by_key(|(_, peak)| *peak)?;
    let (own_text, least_text) = (bytes(own as f64), bytes(least as f64));
    Some((
        Some(own <= least),
        format!("peak of private memory {own_text}, the least of a peer {least_text} ({peer})"),
    ))
}

impl Verdict {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::Missed => "missed",
            Verdict::Open => "open",
        }
    }

    /// In a sign.
    pub fn sign(self) -> &'static str {
        match self {
            Verdict::Met => "✓",
            Verdict::Missed => "✗",
            Verdict::Open => NONE,
        }
    }
}

#[cfg(test)]
mod tests;
