//! Which workloads and which peers a command line names.

use std::path::Path;

use anyhow::bail;
use coact_bench_workloads::{Group, Workload, table};

use crate::measure::program::{Candidate, Program};
use crate::peers;

/// Those named: workloads, or groups of them; all if none is named.
pub fn workloads(names: &[String]) -> anyhow::Result<Vec<&'static Workload>> {
    if names.is_empty() {
        return Ok(table::all().collect());
    }
    let mut chosen = Vec::new();
    for name in names {
        let group = Group::ALL.into_iter().find(|group| group.name() == name);
        let is_meant =
            |workload: &&Workload| workload.name == name || Some(workload.group) == group;
        let before = chosen.len();
        chosen.extend(table::all().filter(is_meant));
        if chosen.len() == before {
            bail!("no workload or group is called {name:?}; `coact-bench list` names them");
        }
    }
    Ok(chosen)
}

/// Everything that this program and the peers that are built here do; and how to get those that are
/// not.
pub fn candidates(folder: &Path) -> anyhow::Result<(Vec<Candidate>, Vec<String>)> {
    let mut candidates = ours()?;
    let mut hints = Vec::new();
    for peer in peers::ALL {
        match peer.candidates(folder)? {
            Some(theirs) => candidates.extend(theirs),
            None => hints.push(peer.hint(folder)),
        }
    }
    Ok((candidates, hints))
}

/// How this program was built: figures of another one say nothing.
const BUILD: &str = if cfg!(debug_assertions) { "debug" } else { "release" };

/// What this program itself does.
pub fn ours() -> anyhow::Result<Vec<Candidate>> {
    let mut own = Program::own()?;
    own.about = format!("coact {}; {BUILD} build", env!("CARGO_PKG_VERSION"));
    own.candidates()
}

/// Which peers run beside ours.
pub struct Wanted<'a>(pub &'a [String]);

impl Wanted<'_> {
    /// Whether any peer is wanted at all.
    pub fn any(&self) -> bool {
        self.0.iter().any(|word| word != "none")
    }

    /// Ours always run; a peer if it is named, or its family, or all.
    pub fn includes(&self, candidate: &Candidate) -> bool {
        let is_named =
            |word: &String| word == "all" || *word == candidate.name || word == candidate.family();
        candidate.family() == "coact" || self.0.iter().any(is_named)
    }

    /// Refuses an unknown name, which would otherwise be skipped in silence.
    pub fn check(&self, candidates: &[Candidate], hints: &[String]) -> anyhow::Result<()> {
        let is_known = |word: &String| {
            ["all", "none"].contains(&word.as_str())
                || candidates.iter().any(|c| c.name == *word || c.family() == word)
        };
        let Some(unknown) = self.0.iter().find(|word| !is_known(word)) else { return Ok(()) };
        if let Some(hint) = hints.iter().find(|hint| hint.starts_with(unknown.as_str())) {
            bail!("{hint}");
        }
        bail!("no peer that is built here is called {unknown:?}; `coact-bench list` names them")
    }
}
