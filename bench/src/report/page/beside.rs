//! What stands beside the references: lines of code, and ratios.

use coact_bench_savina::{Form, LINES, Lines};
use coact_bench_workloads::Group;

use super::table::{Column, Row, cell, table};
use crate::report::markup::{Element, el};
use crate::report::references::{OTHERS, Other, PAPER, Program, SOURCES};
use crate::report::study::{OURS, Studies, against_ours, geometric_mean, ratio};
use crate::report::words::{NONE, times};

/// Both.
pub fn sections(studies: &Studies<'_>) -> Vec<Element> {
    let sources = SOURCES.iter().map(|source| el("li").text(source));
    vec![
        el("section").with("id", "lines").add(el("h2").text("Lines of code")).add(lines()),
        el("section")
            .with("id", "references")
            .add(el("h2").text("What others measured"))
            .add(el("p").text(
                "Ratios only: neither their machines nor their peers are ours. Each says how many times as long the \
                 slower one took.",
            ))
            .add(pony(studies))
            .add(full(studies))
            .add(others(studies))
            .add(el("ol").class("sources").all(sources)),
    ]
}

fn lines() -> Element {
    let columns = [
        Column::Words("program"),
        Column::Figures("actor form"),
        Column::Figures("paper"),
        Column::Figures("full form"),
        Column::Figures("paper"),
    ];
    let row = |program: &Lines| {
        let full = |of: fn(&Form) -> usize| optional(program.full.as_ref().map(of));
        let actor = [program.actor.ours(), program.actor.paper].map(cell);
        Row::of(
            [cell(program.name)]
                .into_iter()
                .chain(actor)
                .chain([full(Form::ours), full(|f| f.paper)]),
        )
    };
    let sum = |of: fn(&Lines) -> usize| cell(LINES.iter().map(of).sum::<usize>());
    let sums = Row::of([
        cell("sum"),
        sum(|program| program.actor.ours()),
        sum(|program| program.actor.paper),
        sum(|program| program.full.as_ref().map_or(0, Form::ours)),
        sum(|program| program.full.as_ref().map_or(0, |form| form.paper)),
    ]);
    table(
        "Our Savina programs in Rust beside the paper's in C++ [1]; neither empty lines nor comments count",
        &columns,
        LINES.iter().map(row).chain([sums.class("sum")]),
    )
}

fn optional(number: Option<usize>) -> Element {
    number.map_or_else(|| cell(NONE), cell)
}

/// A ratio, where there is one.
fn factor(ratio: Option<f64>) -> Element {
    ratio.map_or_else(|| cell(NONE), |ratio| cell(times(ratio)))
}

/// A row of means below the columns of ratios.
fn means(columns: &[Vec<Option<f64>>]) -> Row {
    let mean = |column: &Vec<Option<f64>>| factor(geometric_mean(column.iter().copied().flatten()));
    let name = cell("geometric mean");
    Row::of([name].into_iter().chain(columns.iter().map(mean))).class("sum")
}

/// Names, and columns of ratios, as rows with the means below.
fn ratios<'a>(names: impl Iterator<Item = &'a str>, columns: &[Vec<Option<f64>>]) -> Vec<Row> {
    let row = |(place, name): (usize, &str)| {
        let cells = columns.iter().map(|column| factor(column[place]));
        Row::of([cell(name)].into_iter().chain(cells))
    };
    names.enumerate().map(row).chain([means(columns)]).collect()
}

/// Pony beside the paper's actors, and our peers beside ours.
fn pony(studies: &Studies<'_>) -> Element {
    let savina = studies.of_group(Group::Savina);
    let done = |peer: &&str| savina.iter().any(|study| study.best_of(peer).is_some());
    let peers: Vec<&str> = studies.peers().into_iter().filter(done).collect();
    let named: Vec<String> = peers.iter().map(|peer| format!("{peer} / coact")).collect();
    let theirs = ["Pony / BoC, 1 core", "8 cores"].map(Column::Figures);
    let ours = named.iter().map(|name| Column::Figures(name));
    let columns: Vec<Column<'_>> =
        [Column::Words("Savina as actors [1]")].into_iter().chain(theirs).chain(ours).collect();
    let theirs = [0, 1].map(|cores: usize| PAPER.iter().map(|of| Some(of.pony()[cores])).collect());
    let ours = peers.iter().map(|peer| {
        let ratio = |of: &Program| Some(studies.named(of.workload)?.best_of(peer)?.1.median);
        PAPER.iter().map(ratio).collect()
    });
    let ratios = ratios(
        PAPER.iter().map(|of| of.workload),
        &theirs.into_iter().chain(ours).collect::<Vec<_>>(),
    );
    table(
        "How many times as long the peer takes as the actors of this kind of runtime",
        &columns,
        ratios,
    )
}

/// Actor form beside full form, the paper's and ours.
fn full(studies: &Studies<'_>) -> Element {
    let columns = [
        Column::Words("Savina in full form [1]"),
        Column::Figures("BoC (Actor) / BoC (Full), 1 core"),
        Column::Figures("8 cores"),
        Column::Figures("coact / coact-full"),
    ];
    let paper: Vec<(&str, [f64; 2])> =
        PAPER.iter().filter_map(|of| Some((of.workload, of.full()?))).collect();
    let theirs = |cores: usize| paper.iter().map(|(_, full)| Some(full[cores])).collect();
    let ours = |(workload, _): &(&str, [f64; 2])| {
        let study = studies.named(workload)?;
        Some(ratio(study.most(OURS)?, study.most("coact-full")?)?.median)
    };
    let all = [theirs(0), theirs(1), paper.iter().map(ours).collect()];
    let rows = ratios(paper.iter().map(|(workload, _)| *workload), &all);
    table("How many times as long the actor form takes as the full form", &columns, rows)
}

fn others(studies: &Studies<'_>) -> Element {
    let columns = [
        Column::Words("workload"),
        Column::Words("there"),
        Column::Figures("times"),
        Column::Words("here"),
        Column::Figures("times"),
    ];
    let row = |other: &Other| {
        let record = studies.named(other.workload).and_then(|study| study.most(other.peer));
        let here = record.and_then(against_ours).map(|ratio| ratio.median);
        Row::of([
            cell(other.workload),
            cell(format!("{} / {} [{}]", other.slow, other.fast, other.source + 1)),
            cell(times(other.ratio)),
            cell(format!("{} / coact", other.peer)),
            factor(here),
        ])
    };
    table("Other comparisons", &columns, OTHERS.iter().map(row))
}
