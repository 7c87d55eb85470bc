//! What is drawn of a workload: its bars, and what its record asks for beside them.

use coact_bench_workloads::Drawing;

use super::chart::{Axis, Bar, Bars, Line, Lines, Point};
use super::markup::Element;
use super::palette::Look;
use super::study::{OURS, Study, family, operations, seconds};
use super::words::{Measure, bytes, figure, is_usable, several, short};
use crate::measure::record::Record;

/// Points of a line of memory: more cannot be seen.
const SAMPLES: usize = 160;

/// The unit that suits a study.
pub fn measure<'a>(study: &Study<'a>) -> Measure<'a> {
    let medians = study.records.iter().map(|record| record.summary.median);
    let least = medians.filter(|median| is_usable(*median)).fold(f64::INFINITY, f64::min);
    Measure::fitting(&study.typical().unit, least)
}

/// What is measured, and in which unit.
pub fn quantity(study: &Study<'_>, measure: &Measure<'_>) -> String {
    let each = if study.typical().unit == "ns" { "time an operation" } else { "time" };
    format!("{each} ({})", measure.symbol)
}

/// The bars, and what is drawn beside them.
pub fn of(study: &Study<'_>) -> Vec<Element> {
    let drawn = match study.drawing() {
        Drawing::Bars | Drawing::Actors { .. } => vec![times(study), sizes(study)],
        Drawing::Workers { ideal } => vec![times(study), over_workers(study, *ideal)],
        Drawing::Memory => {
            vec![times(study), over_workers(study, None), sizes(study), over_time(study)]
        }
    };
    drawn.into_iter().flatten().collect()
}

/// The medians of the times.
fn times(study: &Study<'_>) -> Option<Element> {
    let measure = measure(study);
    let axis = format!("{}, median, shorter is faster", quantity(study, &measure));
    bars(study, "median", &axis, |record| {
        let summary = Some(record.summary).filter(|_| is_drawable(record))?;
        Some(Length {
            value: measure.of(summary.median),
            spread: Some((measure.of(summary.min), measure.of(summary.max))),
            label: measure.bare(summary.median),
            exact: exact(record, &measure),
        })
    })
}

/// The memory of each thing, where that was measured; else the peak of the whole.
fn sizes(study: &Study<'_>) -> Option<Element> {
    let (name, axis) = if study.on_most().any(|record| record.bytes_each.is_some()) {
        ("bytes each", "memory of each (bytes), median")
    } else {
        ("peak memory", "peak of resident memory (MiB), median")
    };
    let is_each = name == "bytes each";
    bars(study, name, axis, |record| {
        let peak = record.peak_resident.map(|peak| peak as f64 / f64::from(1 << 20));
        let value = if is_each { record.bytes_each } else { peak };
        let value = value.filter(|value| is_usable(*value))?;
        let label = figure(value);
        let exact = format!("{name} {label}{}", if is_each { "" } else { " MiB" });
        Some(Length { value, spread: None, label, exact })
    })
}

/// What a bar says of a record.
struct Length {
    value: f64,
    spread: Option<(f64, f64)>,
    label: String,
    exact: String,
}

/// A bar for each implementation on the most workers, the shortest first.
fn bars(
    study: &Study<'_>,
    name: &str,
    axis: &str,
    length: impl Fn(&Record) -> Option<Length>,
) -> Option<Element> {
    let all = study.implementations();
    let lengths = study.on_most().filter_map(|record| Some((record, length(record)?)));
    let mut lengths: Vec<(&Record, Length)> = lengths.collect();
    lengths.sort_by(|(_, a), (_, b)| a.value.total_cmp(&b.value));
    let on = several(lengths.first()?.0.workers, "worker");
    let said: Vec<String> = lengths
        .iter()
        .map(|(record, length)| format!("{} {}", record.implementation, length.label))
        .collect();
    let bar = |(record, length): (&Record, Length)| Bar {
        name: record.implementation.clone(),
        look: Look::of(&record.implementation, &all),
        value: length.value,
        spread: length.spread,
        label: length.label,
        exact: length.exact,
    };
    let drawn = Bars {
        title: &format!("{}: {name} on {on}", study.name),
        description: &format!("{axis}: {}", said.join(", ")),
        axis,
        bars: lengths.into_iter().map(bar).collect(),
    };
    Some(drawn.draw())
}

fn is_drawable(record: &Record) -> bool {
    let summary = &record.summary;
    [summary.min, summary.median, summary.max].into_iter().all(is_usable)
}

fn exact(record: &Record, measure: &Measure<'_>) -> String {
    let (least, most) = (measure.bare(record.summary.min), measure.full(record.summary.max));
    format!("median {}, {least} to {most}", measure.full(record.summary.median))
}

/// Time over workers, where there is more than one number of them; ours first.
fn over_workers(study: &Study<'_>, ideal: Option<f64>) -> Option<Element> {
    let workers = study.workers();
    if workers.len() < 2 {
        return None;
    }
    let measure = measure(study);
    let mut lines = lines_of(study, |name| {
        let records = workers.iter().filter_map(|on| study.case(name, *on));
        records
            .filter(|record| is_drawable(record))
            .map(|record| at_workers(record, &measure))
            .collect()
    });
    lines.extend(ideal.and_then(|ideal| ideal_line(study, &measure, ideal)));
    let steps: Vec<f64> = workers.iter().map(|on| *on as f64).collect();
    let drawn = Lines {
        title: &format!("{}: time over workers", study.name),
        description: "Time over the number of workers, a line an implementation; the table below has the figures.",
        x: Axis::steps("workers", &steps),
        y: Axis::logarithmic(&quantity(study, &measure), heights(&lines)),
        lines,
    };
    Some(drawn.draw())
}

fn at_workers(record: &Record, measure: &Measure<'_>) -> Point {
    let on = several(record.workers, "worker");
    Point {
        x: record.workers as f64,
        y: measure.of(record.summary.median),
        spread: Some((measure.of(record.summary.min), measure.of(record.summary.max))),
        exact: Some(format!("{on}: {}", exact(record, measure))),
    }
}

/// The least time that the work can take: its processor time, divided by the workers.
fn ideal_line(study: &Study<'_>, measure: &Measure<'_>, ideal: f64) -> Option<Line> {
    let typical = study.typical();
    // From seconds for the whole to the figure's own unit.
    let units = typical.summary.median / seconds(typical);
    let points: Vec<Point> = study
        .workers()
        .into_iter()
        .map(|workers| (workers, measure.of(ideal * units) / workers as f64))
        .filter(|(_, y)| is_usable(*y))
        .map(|(workers, y)| Point { x: workers as f64, y, spread: None, exact: None })
        .collect();
    let line = Line { name: "ideal".to_owned(), look: Look::ideal(), points };
    Some(line).filter(|line| !line.points.is_empty())
}

/// Private memory over time on the most workers, with the peaks; ours first.
fn over_time(study: &Study<'_>) -> Option<Element> {
    let ends = study.on_most().filter_map(|record| Some(record.memory.last()?.0));
    let ends: Vec<f64> = ends.filter(|end| is_usable(*end)).collect();
    let shortest = ends.iter().copied().reduce(f64::min)?;
    let x = from_sight("time (s)", &ends, 30.0);
    // A logarithmic axis has no zero: what lies before it is not drawn.
    let start = if x.is_logarithmic() { shortest / 30.0 } else { 0.0 };
    let lines = lines_of(study, |name| {
        study.most(name).map(|record| private(record, start)).unwrap_or_default()
    });
    let peak = |line: &Line| line.points.iter().map(|point| point.y).fold(0.0, f64::max);
    let peaks: Vec<f64> = lines.iter().map(peak).collect();
    let drawn = Lines {
        title: &format!("{}: private memory over time", study.name),
        description: "Heap and stacks of the process over time, a line an implementation, its peak marked.",
        x,
        y: from_sight("private memory (MiB)", &peaks, 10.0),
        lines,
    };
    Some(drawn.draw())
}

/// An axis for lines that grow from nothing to these ends. A logarithmic one begins at the least of
/// them divided by `part`, so that the way there can be seen.
fn from_sight(title: &str, ends: &[f64], part: f64) -> Axis {
    let axis = Axis::fitting(title, ends.iter().copied());
    let least = ends.iter().copied().reduce(f64::min);
    match least.filter(|_| axis.is_logarithmic()) {
        Some(least) => Axis::logarithmic(title, ends.iter().copied().chain([least / part])),
        None => axis,
    }
}

/// The samples from `start` on, the greatest of each stretch, with the peak of all marked.
fn private(record: &Record, start: f64) -> Vec<Point> {
    let is_drawn = |(at, bytes): &(f64, u64)| is_usable(*at) && *at >= start && *bytes > 0;
    let samples: Vec<(f64, u64)> = record.memory.iter().copied().filter(is_drawn).collect();
    let stretch = samples.len().div_ceil(SAMPLES).max(1);
    let greatest = samples.chunks(stretch).filter_map(|part| part.iter().max_by_key(|(_, b)| *b));
    let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let point = |&(x, y): &(f64, u64)| Point { x, y: mebibytes(y), spread: None, exact: None };
    let mut points: Vec<Point> = greatest.map(point).collect();
    if let Some(peak) = points.iter_mut().max_by(|a, b| a.y.total_cmp(&b.y)) {
        let at = figure(peak.x);
        peak.exact = Some(format!("peak of {} after {at} s", bytes(peak.y * f64::from(1 << 20))));
    }
    points
}

/// Throughput over the number of actors: the workloads of a plot are its points.
pub fn over_actors(plot: &str, studies: &[&Study<'_>]) -> Option<Element> {
    let mut names: Vec<&str> = Vec::new();
    for name in studies.iter().flat_map(|study| study.implementations()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let points = |name: &str| {
        let records = studies.iter().filter_map(|study| study.most(name));
        let mut points: Vec<Point> = records.filter_map(at_actors).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points
    };
    let lines = lines_among(&names, points);
    let actors = lines.iter().flat_map(|line| &line.points).map(|point| point.x);
    let mut steps: Vec<f64> = actors.collect();
    steps.sort_by(f64::total_cmp);
    steps.dedup();
    if steps.len() < 2 {
        return None;
    }
    let drawn = Lines {
        title: &format!("{plot}: throughput over actors"),
        description: "Operations a second over the number of actors, a line an implementation.",
        x: Axis::steps("actors", &steps),
        y: Axis::fitting("operations a second", heights(&lines)).labelled(short),
        lines,
    };
    Some(drawn.draw())
}

fn at_actors(record: &Record) -> Option<Point> {
    let Drawing::Actors { actors, .. } = record.drawing else { return None };
    // The most a second in the least time.
    let rate = |time: f64| operations(record) / seconds(record) * (record.summary.median / time);
    let summary = &record.summary;
    let (least, median, most) = (rate(summary.max), rate(summary.median), rate(summary.min));
    let x = actors as f64;
    let exact = format!(
        "{} actors: median {}, {} to {} operations a second",
        short(x),
        figure(median),
        figure(least),
        figure(most)
    );
    let point = Point { x, y: median, spread: Some((least, most)), exact: Some(exact) };
    Some(point).filter(|_| [x, least, median, most].into_iter().all(is_usable))
}

fn lines_of(study: &Study<'_>, points: impl Fn(&str) -> Vec<Point>) -> Vec<Line> {
    lines_among(&study.implementations(), points)
}

/// A line for each name that has points; ours first.
fn lines_among(names: &[&str], points: impl Fn(&str) -> Vec<Point>) -> Vec<Line> {
    let line = |name: &&str| Line {
        name: (*name).to_owned(),
        look: Look::of(name, names),
        points: points(name),
    };
    let mut lines: Vec<Line> =
        names.iter().map(line).filter(|line| !line.points.is_empty()).collect();
    lines.sort_by_key(|line| family(&line.name) != OURS);
    lines
}

fn heights(lines: &[Line]) -> Vec<f64> {
    let points = lines.iter().flat_map(|line| &line.points);
    points
        .flat_map(|point| [Some(point.y), point.spread.map(|s| s.0), point.spread.map(|s| s.1)])
        .flatten()
        .collect()
}
