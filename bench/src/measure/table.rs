//! The table on the terminal.

use super::record::Record;

/// The line above a table.
pub fn heading() -> String {
    format!(
        "{:<22} {:<18} {:>3} {:>10} {:>10} {:>10}    {:>7} {:>9} {:>8} {:>8}",
        "workload",
        "implementation",
        "on",
        "median",
        "min",
        "max",
        "ratio",
        "peak MiB",
        "B each",
        "p99 us"
    )
}

/// One implementation's line.
pub fn line(record: &Record) -> String {
    let summary = &record.summary;
    format!(
        "{:<22} {:<18} {:>3} {:>10} {:>10} {:>10} {:<2} {:>7} {:>9} {:>8} {:>8}",
        record.workload,
        record.implementation,
        record.workers,
        figure(summary.median),
        figure(summary.min),
        figure(summary.max),
        record.unit,
        record.ratio.map_or_else(dash, |ratio| format!("{:.2}", ratio.median)),
        record.peak_resident.map_or_else(dash, |bytes| figure(bytes as f64 / f64::from(1 << 20))),
        record.bytes_each.map_or_else(dash, figure),
        record.p99_ns.map_or_else(dash, |nanos| figure(nanos / 1e3)),
    )
}

fn dash() -> String {
    "-".to_owned()
}

/// Three significant digits or all of the integer part.
fn figure(value: f64) -> String {
    match value.abs() {
        magnitude if magnitude >= 100.0 => format!("{value:.0}"),
        magnitude if magnitude >= 10.0 => format!("{value:.1}"),
        magnitude if magnitude >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::figure;

    #[test]
    fn figures_keep_about_three_digits() {
        let shown: Vec<String> = [12345.6, 123.4, 12.34, 1.234, 0.1822].map(figure).into();
        assert_eq!(shown, ["12346", "123", "12.3", "1.23", "0.1822"]);
    }
}
