//! All workloads of a group at a glance: how many times as long each peer takes.

use super::table::{Column, Row, cell, table};
use crate::report::figures::measure;
use crate::report::markup::{Element, el, link};
use crate::report::study::{OURS, Studies, Study};
use crate::report::words::{NONE, Standing, times};

/// A row for each workload of the group, a column a peer; `None` without peers.
pub fn overview(all: &Studies<'_>, studies: &[&Study<'_>]) -> Option<Element> {
    let does_any = |peer: &&str| studies.iter().any(|study| study.best_of(peer).is_some());
    let peers: Vec<&str> = all.peers().into_iter().filter(does_any).collect();
    if peers.is_empty() {
        return None;
    }
    let columns: Vec<Column<'_>> = [Column::Words("workload"), Column::Figures(OURS)]
        .into_iter()
        .chain(peers.iter().map(|peer| Column::Figures(peer)))
        .collect();
    let table = table(
        "coact's own median, and how many times as long each peer's fastest way takes; marked where a peer is faster \
         (▼) or the difference is not clear (~)",
        &columns,
        studies.iter().map(|study| row(study, &peers)),
    );
    Some(table)
}

fn row(study: &Study<'_>, peers: &[&str]) -> Row {
    let name = el("td").add(link(&study.anchor, study.name));
    let measure = measure(study);
    let ours = study.most(OURS).map(|record| measure.full(record.summary.median));
    let ours = cell(ours.unwrap_or_else(|| NONE.to_owned()));
    Row::of([name, ours].into_iter().chain(peers.iter().map(|peer| beside(study, peer))))
}

fn beside(study: &Study<'_>, peer: &str) -> Element {
    let Some((_, ratio)) = study.best_of(peer) else { return cell(NONE) };
    let figure = times(ratio.median);
    match Standing::of(&ratio) {
        Standing::Slower => cell(figure),
        Standing::Even => el("td").add(el("span").class("even").text(format!("~ {figure}"))),
        Standing::Faster => el("td").add(el("span").class("behind").text(format!("▼ {figure}"))),
    }
}
