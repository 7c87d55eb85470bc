//! The report as text for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use indicatif::{HumanBytes, HumanCount};

use super::cents::Cents;
use super::report::{Count, Differing, Report, Timing, Verified};

const TITLE: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const FAINT: Style = Style::new().dimmed();

/// Writes the summary of a report.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    write_title(report, out)?;
    write_timings(report, out)?;
    write_decisions(report, out)?;
    write_samples(report, out)?;
    write_order(report, out)?;
    write_balances(report, out)
}

fn write_title(report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{TITLE}{}{TITLE:#}  {}, {}, {}",
        report.input,
        HumanBytes(report.bytes),
        counted(report.lines, "line"),
        counted(report.accounts.named as u64, "account"),
    )
}

fn write_timings(report: &Report, out: &mut impl Write) -> io::Result<()> {
    write_timing(&report.replay, out)?;
    match &report.verification {
        None => Ok(()),
        Some(verified) => {
            write_timing(&verified.sequential, out)?;
            write_verified(verified, out)
        }
    }
}

fn write_timing(timing: &Timing, out: &mut impl Write) -> io::Result<()> {
    let name = if timing.workers.is_some() { "parallel" } else { "sequential" };
    let rate = HumanCount(timing.lines_per_second as u64).to_string();
    let seconds = timing.seconds;
    let workers = timing.workers.map(|workers| counted(workers as u64, "worker"));
    let work =
        (timing.work_us > 0).then(|| format!("{} µs of work each", HumanCount(timing.work_us)));
    let how = workers.into_iter().chain(work).collect::<Vec<_>>().join(", ");
    let row = format!("  {name:<11}{seconds:>9.3} s {rate:>11} lines/s  {how}");
    writeln!(out, "{}", row.trim_end())
}

fn write_verified(verified: &Verified, out: &mut impl Write) -> io::Result<()> {
    if verified.same {
        writeln!(
            out,
            "  {GOOD}verified{GOOD:#}   every decision and every balance agree; {:.2} times as fast",
            verified.speedup,
        )?;
        return write_hint(verified, out);
    }
    writeln!(
        out,
        "  {BAD}DIFFERENT{BAD:#}  {} and {} came out differently",
        counted(verified.differing_lines, "line"),
        counted(verified.differing_accounts, "account"),
    )?;
    if let Some(first) = &verified.first_differing_line {
        write_differing("line", first, out)?;
    }
    match &verified.first_differing_account {
        Some(first) => write_differing("account", first, out),
        None => Ok(()),
    }
}

/// Says what to do to see a gain, where the operations are too little work for one.
fn write_hint(verified: &Verified, out: &mut impl Write) -> io::Result<()> {
    if verified.speedup >= 1.0 || verified.sequential.work_us > 0 {
        return Ok(());
    }
    writeln!(
        out,
        "  {FAINT}           an operation is less work than spawning it; `--work-us 20` gives each 20 µs{FAINT:#}"
    )
}

fn write_differing<T: std::fmt::Display>(
    what: &str,
    first: &Differing<T>,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "    first {what}: {}", first.at)?;
    writeln!(out, "      sequential  {}", first.sequential)?;
    writeln!(out, "      parallel    {}", first.parallel)
}

fn write_decisions(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let decisions = &report.decisions;
    let digest = &decisions.digest;
    writeln!(out, "\n{TITLE}decisions{TITLE:#}  {FAINT}digest {digest}{FAINT:#}")?;
    write_count("accepted", decisions.accepted, report.lines, out)?;
    write_count("rejected", decisions.rejected, report.lines, out)?;
    write_reasons(&decisions.rejected_by_reason, out)?;
    write_count("malformed", decisions.malformed, report.lines, out)?;
    write_reasons(&decisions.malformed_by_reason, out)
}

fn write_count(name: &str, count: u64, lines: u64, out: &mut impl Write) -> io::Result<()> {
    let share = 100.0 * count as f64 / lines.max(1) as f64;
    let count = HumanCount(count).to_string();
    writeln!(out, "  {name:<11}{count:>11}  {share:>5.1} %")
}

fn write_reasons(reasons: &[Count], out: &mut impl Write) -> io::Result<()> {
    for Count { reason, count } in reasons {
        let count = HumanCount(*count).to_string();
        writeln!(out, "  {count:>22}  {reason}")?;
    }
    Ok(())
}

fn write_samples(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let (rejected, malformed) = (&report.first_rejected, &report.first_malformed);
    if !rejected.is_empty() {
        let total = report.decisions.rejected;
        writeln!(out, "\n{TITLE}rejected{TITLE:#}  {}", first_of(rejected.len(), total))?;
    }
    for sample in rejected {
        let line = format!("line {}", sample.line);
        writeln!(out, "  {line:<14}{}: {}", sample.reason, sample.account)?;
    }
    if !malformed.is_empty() {
        let total = report.decisions.malformed;
        writeln!(out, "\n{TITLE}malformed{TITLE:#}  {}", first_of(malformed.len(), total))?;
    }
    for sample in malformed {
        let line = format!("line {}", sample.line);
        let text = &sample.text;
        writeln!(out, "  {line:<14}{}  {FAINT}{text}{FAINT:#}", sample.reason)?;
    }
    Ok(())
}

fn first_of(shown: usize, total: u64) -> String {
    match (shown as u64, total) {
        (shown, total) if shown == total => "line by line".into(),
        (shown, total) => format!("first {shown} of {}", HumanCount(total)),
    }
}

fn write_order(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let order = &report.order;
    writeln!(out, "\n{TITLE}cost of order{TITLE:#}")?;
    writeln!(
        out,
        "  {} with a longest chain of {}: at best {:.1} side by side",
        counted(order.operations, "operation"),
        HumanCount(order.critical_path),
        order.parallelism,
    )?;
    let Some(width) = order.most_serialising.iter().map(|s| s.account.chars().count()).max() else {
        return Ok(());
    };
    let width = width.max("account".len());
    writeln!(
        out,
        "  {FAINT}{:<width$}  operations   changes    audits  held back{FAINT:#}",
        "account"
    )?;
    for serialiser in &order.most_serialising {
        let [operations, changes, audits, held_back] =
            [serialiser.operations, serialiser.changes, serialiser.audits, serialiser.held_back]
                .map(|count| HumanCount(count).to_string());
        let account = &serialiser.account;
        writeln!(
            out,
            "  {account:<width$}  {operations:>10}{changes:>10}{audits:>10}{held_back:>11}"
        )?;
    }
    Ok(())
}

fn write_balances(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let accounts = &report.accounts;
    let digest = &accounts.digest;
    let total = u64::try_from(accounts.total_cents).ok().and_then(Cents::new);
    let total = match total {
        Some(total) => total.to_string(),
        None => format!("{} cents", accounts.total_cents),
    };
    writeln!(out, "\n{TITLE}balances{TITLE:#}  {FAINT}digest {digest}{FAINT:#}")?;
    writeln!(
        out,
        "  {total} in {} open and {} frozen; {} closed, {} never opened",
        HumanCount(accounts.open as u64),
        HumanCount(accounts.frozen as u64),
        HumanCount(accounts.closed as u64),
        HumanCount(accounts.never_opened as u64),
    )
}

fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", HumanCount(count))
}
