//! What a reader must know before any figure: the machine, the programs, and how it was measured.

use std::fmt::Display;

use super::table::{Column, Row, cell, table};
use crate::measure::calibration::Calibration;
use crate::measure::machine::Machine;
use crate::measure::record::Record;
use crate::report::markup::{Element, el};
use crate::report::study::family;
use crate::report::words::{bytes, figure};

/// The title, the machine and the conditions, and the programs.
pub fn header(heading: Element, records: &[Record]) -> Element {
    let facts = [
        ("Machine", distinct(records, |record| machine(&record.machine))),
        ("System", distinct(records, |record| record.machine.system.clone())),
        ("Allocator", distinct(records, |record| record.machine.allocator.clone())),
        ("Sizes", distinct(records, |record| sizes(record.scale))),
        ("Rounds", rounds(records)),
        ("Calibration", calibration(records)),
    ];
    let facts =
        facts.into_iter().flat_map(|(name, fact)| [el("dt").text(name), el("dd").text(fact)]);
    el("header")
        .add(heading)
        .all(warnings(records).into_iter().map(|warning| el("p").class("warning").text(warning)))
        .add(el("dl").all(facts))
        .add(programs(records))
        .add(el("p").class("note").text(READING))
}

const READING: &str = "How to read it: in each round every implementation ran once, in a fresh process that checked its \
result. A ratio is the median of the ratios of single rounds to coact in the same round, with the least and the greatest \
of them; “7.3 times slower” means 7.3 times coact's time. Times of different machines cannot be compared.";

/// What is different in some records, each once, in the order of the files.
fn distinct(records: &[Record], of: impl Fn(&Record) -> String) -> String {
    let mut found: Vec<String> = Vec::new();
    for one in records.iter().map(of) {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found.join("; ")
}

fn machine(machine: &Machine) -> String {
    let memory = machine.memory.map(|total| format!(", {} of memory", bytes(total as f64)));
    format!("{} × {}{}", machine.processors, machine.processor, memory.unwrap_or_default())
}

fn sizes(scale: f64) -> String {
    if scale == 1.0 { "full size".to_owned() } else { format!("{scale} of the full size") }
}

fn rounds(records: &[Record]) -> String {
    let least = records.iter().map(|record| record.repetitions).min().unwrap_or_default();
    let most = records.iter().map(|record| record.repetitions).max().unwrap_or_default();
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

/// What the machine could do before each workload, from the best to the worst moment.
fn calibration(records: &[Record]) -> String {
    let range = |name: &str, of: fn(&Calibration) -> f64| {
        let (least, most) = extremes(records, of);
        format!("{name} {} to {} ns", figure(least), figure(most))
    };
    [
        range("arithmetic step", |of| of.step_ns),
        range("atomic add", |of| of.atomic_add_ns),
        range("cache line there and back", |of| of.round_trip_ns),
    ]
    .join(", ")
}

fn extremes(records: &[Record], of: impl Fn(&Calibration) -> f64) -> (f64, f64) {
    let values = records.iter().map(|record| of(&record.calibration));
    values.fold((f64::INFINITY, 0.0), |(least, most), value| (least.min(value), most.max(value)))
}

fn warnings(records: &[Record]) -> Vec<String> {
    let is = |wrong: bool, text: String| wrong.then_some(text);
    let (least, most) = extremes(records, |of| of.atomic_add_ns);
    let slowed = most / least;
    [
        is(
            records.iter().any(|record| !record.machine.optimised),
            "Compiled without optimisation: these figures say nothing.".to_owned(),
        ),
        is(
            records.iter().any(|record| record.scale < 1.0),
            "Not at full size: start and end weigh more than they should, and a figure can be far from that of the \
             full size."
                .to_owned(),
        ),
        is(
            records.iter().any(|record| record.repetitions < 3),
            "Fewer than three rounds: a disturbance cannot be told from a difference.".to_owned(),
        ),
        is(
            slowed > 2.0 && slowed.is_finite(),
            format!(
                "The machine's speed changed while it measured: an atomic add took up to {} times as long as at its \
                 best. Ratios of one round hold, times of different workloads do not compare.",
                figure(slowed)
            ),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Every program with its version and settings, and what it measures.
fn programs(records: &[Record]) -> Element {
    let mut programs: Vec<(&str, Vec<&str>)> = Vec::new();
    for record in records {
        let family = family(&record.implementation);
        match programs.iter_mut().find(|(program, _)| *program == record.program) {
            Some((_, families)) if families.contains(&family) => {}
            Some((_, families)) => families.push(family),
            None => programs.push((&record.program, vec![family])),
        }
    }
    let text = |text: &dyn Display| cell(text);
    let rows = programs
        .iter()
        .map(|(program, families)| Row::of([text(program), text(&families.join(", "))]));
    table(
        "Programs with their versions and settings",
        &[Column::Words("program"), Column::Words("measures")],
        rows,
    )
}
