//! Rounds of all cases, each run in a process of its own, and the table of what they have shown.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::cases::{CASES, Case, Way};
use crate::measured::Measured;
use crate::peers::Peer;
use crate::setup::Setup;

/// All runs of one case, in the order of the rounds.
#[derive(Serialize)]
pub struct Record {
    case: &'static str,
    about: &'static str,
    beside: Option<&'static str>,
    machine: String,
    runs: Vec<Measured>,
}

/// The cases that words choose: by their names, or by how these begin, up to a hyphen. All, without
/// words.
pub fn choose(words: &[String]) -> anyhow::Result<Vec<&'static Case>> {
    let means = |word: &String, case: &Case| {
        let rest = case.name.strip_prefix(word.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    for word in words {
        ensure!(
            CASES.iter().any(|case| means(word, case)),
            "there is no case `{word}`; `coact-bench-durable list` has them"
        );
    }
    let is_chosen = |case: &&Case| words.is_empty() || words.iter().any(|word| means(word, case));
    let can_be = |case: &&Case| !matches!(case.way, Way::Aside(_));
    Ok(CASES.iter().filter(is_chosen).filter(can_be).collect())
}

/// Drops those that cannot be run here, and says in a line each what they need.
pub fn retain_possible(cases: &mut Vec<&'static Case>, setup: &Setup, peers: &Path) -> Vec<String> {
    let mut needs = Vec::new();
    for peer in Peer::ALL {
        let by_it = |case: &&Case| matches!(case.way, Way::Peer(other, _) if other == peer);
        if peer.program(peers).is_none() && cases.iter().any(by_it) {
            cases.retain(|case| !by_it(case));
            needs.push(peer.hint(peers));
        }
    }
    if setup.postgres.is_none() && cases.iter().any(|case| case.needs_server()) {
        cases.retain(|case| !case.needs_server());
        needs.push("cases in PostgreSQL need a server: --postgres".to_owned());
    }
    needs
}

/// Runs all of them in turn, and that again for each round.
pub fn run(
    cases: &[&'static Case],
    rounds: usize,
    setup: &Setup,
    peers: &Path,
    machine: &str,
) -> anyhow::Result<Vec<Record>> {
    let new = |case: &&'static Case| Record {
        case: case.name,
        about: case.about,
        beside: case.beside,
        machine: machine.to_owned(),
        runs: Vec::new(),
    };
    let mut records: Vec<Record> = cases.iter().map(new).collect();
    let bar = ProgressBar::new((rounds * cases.len()) as u64);
    bar.set_style(ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg}, {eta} left")?);
    for _ in 0..rounds {
        for (at, case) in cases.iter().enumerate() {
            bar.set_message(case.name);
            bar.tick();
            let batch = case.beside.and_then(|other| latest(&records, other)?.batch());
            let measured =
                once(case, setup, batch, peers).with_context(|| format!("`{}`", case.name))?;
            records[at].runs.push(measured);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(records)
}

fn latest<'a>(records: &'a [Record], case: &str) -> Option<&'a Measured> {
    records.iter().find(|record| record.case == case)?.runs.last()
}

/// Runs a case in a process and a folder of its own.
fn once(case: &Case, setup: &Setup, batch: Option<f64>, peers: &Path) -> anyhow::Result<Measured> {
    let folder = tempfile::tempdir_in(&setup.folder)?;
    let server = setup.postgres.as_ref().filter(|_| case.needs_server());
    let mut command = match case.way {
        Way::Here(_) | Way::Served(_) | Way::Aside(_) => {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["once", case.name]);
            command.args(["--in-flight", &setup.in_flight.to_string()]);
            if let Some(batch) = batch {
                command.args(["--batch", &(batch.round() as u64).max(1).to_string()]);
            }
            if let Some(server) = server {
                command.args(["--postgres", server]);
            }
            command
        }
        Way::Peer(peer, arguments) => {
            let mut command = Command::new(peer.program(peers).context("the peer is not built")?);
            command.args(arguments.split(' '));
            if !arguments.contains("--at-once") {
                command.args(["--at-once", &setup.in_flight.to_string()]);
            }
            if let Some(server) = server {
                command.args(["--server", server]);
            }
            command
        }
    };
    command.args(["--scale", &setup.scale.to_string(), "--folder"]).arg(folder.path());
    let output = command.stderr(Stdio::inherit()).output().context("cannot start a child")?;
    ensure!(output.status.success(), "the child ended with {}", output.status);
    let text = String::from_utf8(output.stdout)?;
    let line = text.lines().last().context("the child printed nothing")?;
    Ok(serde_json::from_str(line)?)
}

/// The middle, the least and the most.
fn summary(mut values: Vec<f64>) -> Option<(f64, f64, f64)> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let median = match values.len() {
        0 => return None,
        even if even.is_multiple_of(2) => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    };
    Some((median, values[0], values[values.len() - 1]))
}

/// Prints the table. A ratio is that of the case that one stands beside to it, in the same round:
/// above 1, the former is faster. A ratio of processor times is the other way round: above 1, the
/// former takes less.
pub fn print(records: &[Record]) {
    println!(
        "{:<26} {:>9} {:>9} {:>9}  {:>7} {:>9} {:>7} {:>8} {:>9}",
        "case", "a second", "least", "most", "ratio", "us each", "ratio", "a batch", "B each"
    );
    for record in records {
        let of = |value: fn(&Measured) -> Option<f64>| {
            summary(record.runs.iter().filter_map(value).collect())
        };
        let Some((median, least, most)) = of(|run| Some(run.rate())) else { continue };
        let shown = |found: Option<(f64, f64, f64)>| {
            found.map_or_else(|| "-".to_owned(), |(median, ..)| figure(median))
        };
        println!(
            "{:<26} {:>9} {:>9} {:>9}  {:>7} {:>9} {:>7} {:>8} {:>9}",
            record.case,
            figure(median),
            figure(least),
            figure(most),
            shown(summary(ratios(records, record, |other, run| other.rate() / run.rate()))),
            shown(of(|run| Some(run.processor_micros()))),
            shown(summary(ratios(records, record, |other, run| {
                run.processor_micros() / other.processor_micros()
            }))),
            shown(of(Measured::batch)),
            shown(of(|run| run.bytes_each)),
        );
        for (name, values) in besides(record) {
            println!("    {name}: {}", shown(summary(values)));
        }
    }
}

fn ratios(records: &[Record], record: &Record, ratio: fn(&Measured, &Measured) -> f64) -> Vec<f64> {
    let other = record.beside.and_then(|name| records.iter().find(|other| other.case == name));
    let Some(other) = other else { return Vec::new() };
    other.runs.iter().zip(&record.runs).map(|(other, run)| ratio(other, run)).collect()
}

fn besides(record: &Record) -> BTreeMap<&str, Vec<f64>> {
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (name, value) in record.runs.iter().flat_map(|run| &run.besides) {
        all.entry(name).or_default().push(*value);
    }
    all
}

/// Three digits, or all before the point.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
