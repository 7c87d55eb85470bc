//! A section a workload, and one over those that are points of one plot.

use coact_bench_workloads::Drawing;

use super::table::{Column, Row, cell, table};
use crate::measure::record::Record;
use crate::report::figures::{measure, of, over_actors, quantity};
use crate::report::markup::{Element, el};
use crate::report::study::{OURS, Study, family};
use crate::report::words::{Measure, NONE, bytes, figure, grouped, several, standing};

/// Sections of a group's workloads; those of one plot together, where the first of them stands.
pub fn sections(studies: &[&Study<'_>]) -> Vec<Element> {
    let mut sections = Vec::new();
    let mut done: Vec<&str> = Vec::new();
    for study in studies {
        let Some(plot) = plot(study) else {
            sections.push(section(study));
            continue;
        };
        if !done.contains(&plot) {
            done.push(plot);
            sections.push(plotted(plot, studies));
        }
    }
    sections
}

fn plot<'a>(study: &Study<'a>) -> Option<&'a str> {
    match study.drawing() {
        Drawing::Actors { plot, .. } => Some(plot),
        _ => None,
    }
}

/// The plot, and a section for each of its points.
fn plotted(name: &str, studies: &[&Study<'_>]) -> Element {
    let points: Vec<&Study<'_>> =
        studies.iter().copied().filter(|study| plot(study) == Some(name)).collect();
    let figure = over_actors(name, &points).map(|drawn| el("figure").add(drawn));
    el("section")
        .class("plot")
        .add(el("h3").text(format!("{name}: throughput over actors")))
        .add(el("div").class("figures").all(figure))
        .all(points.into_iter().map(section))
}

fn section(study: &Study<'_>) -> Element {
    let typical = study.typical();
    let mut sizes: Vec<String> =
        typical.parameters.iter().map(|(name, n)| format!("{name} {}", grouped(*n))).collect();
    if typical.scale != 1.0 {
        sizes.push(format!("scale {}", typical.scale));
    }
    let figures = of(study).into_iter().map(|drawn| el("figure").add(drawn));
    el("section")
        .with("id", &study.anchor)
        .class("workload")
        .add(el("h3").text(study.name))
        .add(el("p").text(&typical.about))
        .add(el("p").class("sizes").text(sizes.join(" · ")))
        .add(el("div").class("figures").all(figures))
        .add(figures_of(study))
}

/// Which columns have anything in them.
struct Shown {
    workers: bool,
    bytes_each: bool,
    p99: bool,
    share: bool,
}

/// Every record, the fewest workers and then the fastest first.
fn figures_of(study: &Study<'_>) -> Element {
    let measure = measure(study);
    let any = |is: fn(&Record) -> bool| study.records.iter().any(|record| is(record));
    let shown = Shown {
        workers: study.workers().len() > 1,
        bytes_each: any(|record| record.bytes_each.is_some()),
        p99: any(|record| record.p99_ns.is_some()),
        share: any(|record| record.share != 1),
    };
    let mut records = study.records.clone();
    records.sort_by(|a, b| {
        a.workers.cmp(&b.workers).then(a.summary.median.total_cmp(&b.summary.median))
    });
    let on = match study.workers().as_slice() {
        [one] => format!(" on {}", several(*one, "worker")),
        _ => String::new(),
    };
    let caption = format!("{}{on}", quantity(study, &measure));
    let mut last = records[0].workers;
    let rows = records.into_iter().map(|record| {
        let is_next = std::mem::replace(&mut last, record.workers) != record.workers;
        let row = row(record, &measure, &shown);
        if is_next { row.class("next") } else { row }
    });
    table(&caption, &columns(&shown), rows)
}

fn columns(shown: &Shown) -> Vec<Column<'static>> {
    let optional = |is: bool, column| is.then_some(column);
    [
        Some(Column::Words("implementation")),
        optional(shown.workers, Column::Figures("workers")),
        Some(Column::Figures("median")),
        Some(Column::Figures("min")),
        Some(Column::Figures("max")),
        Some(Column::Saying("beside coact")),
        Some(Column::Figures("peak memory")),
        optional(shown.bytes_each, Column::Figures("bytes each")),
        optional(shown.p99, Column::Figures("p99, µs")),
        optional(shown.share, Column::Figures("share")),
        Some(Column::Words("how")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn row(record: &Record, measure: &Measure<'_>, shown: &Shown) -> Row {
    let dash = || NONE.to_owned();
    let beside = match record.ratio {
        _ if record.implementation == OURS => dash(),
        ratio => ratio.as_ref().map_or_else(dash, standing),
    };
    let share = if record.share == 1 { "all".to_owned() } else { format!("1/{}", record.share) };
    let optional = |is: bool, text: String| is.then_some(text);
    let cells = [
        Some(record.implementation.clone()),
        optional(shown.workers, record.workers.to_string()),
        Some(measure.bare(record.summary.median)),
        Some(measure.bare(record.summary.min)),
        Some(measure.bare(record.summary.max)),
        Some(beside),
        Some(record.peak_resident.map_or_else(dash, |peak| bytes(peak as f64))),
        optional(shown.bytes_each, record.bytes_each.map_or_else(dash, figure)),
        optional(shown.p99, record.p99_ns.map_or_else(dash, |nanos| figure(nanos / 1e3))),
        optional(shown.share, share),
        Some(record.how.clone()),
    ];
    let class = if family(&record.implementation) == OURS { "our" } else { "" };
    Row::of(cells.into_iter().flatten().map(cell)).class(class)
}
