//! `cargo xtask`: what contributors ask of the house rules by hand.

#![forbid(unsafe_code)]

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use coact_xtask::ratchet::Ratchet;
use coact_xtask::survey::{Area, Rule, survey};
use coact_xtask::tree;

const HELP: &str = "\
Usage: cargo xtask names [AREA...]    what the rules for names and prose find
       cargo xtask names --lower      write the counts that have shrunk

The first without areas counts: one-word type names (in percent of all), names that two types of a
crate have (or public types of two crates), participles as type names, file names that say nothing,
comments wider than 100 columns, and phrases that plain English has better words for; as `count` or,
where more are still allowed, `count/allowed`. An area is a crate's folder below `crates`, or one of
(crates), bench, docs, examples, tests, xtask; with areas, each finding is listed with its place.

`ci/tidy.sh` refuses a count that grows (`xtask/ratchet.txt`). After making one smaller, lower the
table with `--lower`. Participles that are right are listed, with reasons, in `xtask/src/names.rs`.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["names", ref areas @ ..] if !areas.contains(&"--help") => names(areas),
        ["help" | "--help" | "-h"] | ["names", ..] => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        _ => {
            eprint!("{HELP}");
            ExitCode::from(2)
        }
    }
}

fn names(asked: &[&str]) -> ExitCode {
    let areas = survey();
    let ratchet = match Ratchet::parse(&tree::ratchet()) {
        Ok(ratchet) => ratchet,
        Err(line) => return refuse(&format!("xtask/ratchet.txt: this is no row: {line}")),
    };
    if asked == ["--lower"] {
        tree::write_ratchet(&ratchet.lowered(&areas));
        return ExitCode::SUCCESS;
    }
    if let Some(unknown) = asked.iter().find(|name| !areas.iter().any(|it| it.name == **name)) {
        return refuse(&format!("no area is called {unknown}; see `cargo xtask names --help`"));
    }
    // A reader that has seen enough (`| head`) closes the pipe: no fault.
    let _ = io::stdout().write_all(report(&areas, asked, &ratchet).as_bytes());
    ExitCode::SUCCESS
}

fn report(areas: &[Area], asked: &[&str], ratchet: &Ratchet) -> String {
    let mut text = format!("{:10} {:>6}", "area", "types");
    for rule in Rule::ALL {
        _ = write!(text, " {:>12}", rule.name());
    }
    let is_asked = |area: &&Area| asked.is_empty() || asked.contains(&area.name.as_str());
    for area in areas.iter().filter(is_asked) {
        _ = write!(text, "\n{:10} {:>6}", area.name, area.types);
        for rule in Rule::ALL {
            let (count, allowed) = (area.count(rule), ratchet.allowed(&area.name, rule));
            let is_less = count.max(rule.goal()) < allowed;
            let shown = if is_less { format!("{count}/{allowed}") } else { count.to_string() };
            _ = write!(text, " {shown:>12}");
        }
    }
    text.push('\n');
    for area in areas.iter().filter(|area| asked.contains(&area.name.as_str())) {
        for rule in Rule::ALL {
            for finding in area.found(rule) {
                _ = writeln!(text, "{}: {:12} {}", finding.place, rule.name(), finding.text);
            }
        }
    }
    text
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("error: {why}");
    ExitCode::from(2)
}
