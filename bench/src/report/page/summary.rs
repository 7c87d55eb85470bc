//! What came out, before any detail: the goals, and how we stand beside each peer.

use coact_bench_workloads::Group;

use super::table::{Column, Row, cell, table};
use crate::report::goals::{self, Goal};
use crate::report::markup::{Element, el};
use crate::report::study::{Studies, geometric_mean};
use crate::report::words::{NONE, times};

/// Both.
pub fn sections(studies: &Studies<'_>) -> Vec<Element> {
    vec![
        el("section")
            .with("id", "goals")
            .add(el("h2").text("Goals"))
            .add(el("ul").class("goals").all(goals::all(studies).iter().map(goal))),
        el("section")
            .with("id", "peers")
            .add(el("h2").text("Beside each peer"))
            .add(beside(studies)),
    ]
}

fn goal(goal: &Goal) -> Element {
    let verdict = el("strong")
        .class("verdict")
        .add(el("span").with("aria-hidden", "true").text(goal.verdict.sign()))
        .text(" ")
        .text(goal.verdict.word());
    let text = el("div")
        .add(el("p").class("aim").text(&goal.aim))
        .add(el("p").class("found").text(&goal.found));
    el("li").class(goal.verdict.word()).add(verdict).add(text)
}

fn beside(studies: &Studies<'_>) -> Element {
    let peers = studies.peers();
    if peers.is_empty() {
        return el("p").text("No peer is in these records.");
    }
    let groups: Vec<Group> =
        Group::ALL.into_iter().filter(|group| has_any(studies, *group, &peers)).collect();
    let names = groups.iter().map(|group| Column::Figures(group.name()));
    let columns: Vec<Column<'_>> = [Column::Words("peer")].into_iter().chain(names).collect();
    let rows = peers.iter().map(|peer| {
        let cells = groups.iter().map(|group| cell(mean(studies, *group, peer)));
        Row::of([cell(peer)].into_iter().chain(cells))
    });
    table(
        "How many times as long each peer takes: the geometric mean over the workloads that it does, each with its \
         fastest way on the most workers; in brackets, in how many of them coact is faster",
        &columns,
        rows,
    )
}

fn has_any(studies: &Studies<'_>, group: Group, peers: &[&str]) -> bool {
    let studies = studies.of_group(group);
    studies.iter().any(|study| peers.iter().any(|peer| study.best_of(peer).is_some()))
}

fn mean(studies: &Studies<'_>, group: Group, peer: &str) -> String {
    let ratios: Vec<f64> = studies
        .of_group(group)
        .into_iter()
        .filter_map(|study| Some(study.best_of(peer)?.1.median))
        .collect();
    let faster = ratios.iter().filter(|ratio| **ratio > 1.0).count();
    let all = ratios.len();
    let said = |mean| format!("{} ({faster} of {all})", times(mean));
    geometric_mean(ratios).map_or_else(|| NONE.to_owned(), said)
}
