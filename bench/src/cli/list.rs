//! What there is.

use std::io::Write;

use coact_bench_savina as savina;
use coact_bench_workloads::Group;
use coact_bench_workloads::table;

use super::choice;
use crate::peers;

/// Prints the workloads, who does them here, and how to get the peers that are missing.
pub fn list(out: &mut impl Write) -> anyhow::Result<()> {
    let (candidates, hints) = choice::candidates(&peers::folder())?;
    for group in Group::ALL {
        writeln!(out, "== {}", group.name())?;
        for workload in table::all().filter(|workload| workload.group == group) {
            writeln!(out, "{:<23} {}", workload.name, workload.about)?;
            for candidate in candidates.iter().filter(|c| c.workload == workload.name) {
                writeln!(out, "    {:<20} {}", candidate.name, candidate.about)?;
            }
        }
    }
    for hint in hints {
        writeln!(out, "{hint}")?;
    }
    Ok(())
}

/// Prints how long our Savina programs are.
pub fn lines(out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(
        out,
        "{:<23} {:>6} {:>6}   {:>6} {:>6}",
        "lines of code", "actor", "paper", "full", "paper"
    )?;
    for program in savina::LINES {
        let full = program
            .full
            .map_or_else(Default::default, |full| format!("{:>6} {:>6}", full.ours(), full.paper));
        let (ours, paper) = (program.actor.ours(), program.actor.paper);
        writeln!(out, "{:<23} {ours:>6} {paper:>6}   {full}", program.name)?;
    }
    Ok(())
}
