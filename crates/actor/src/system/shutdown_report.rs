//! What a system's shutdown left undone.

use std::fmt;

use coact_core::runtime::ShutdownReport;

/// What a system's shutdown left undone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SystemReport {
    /// The report of each runtime, with its name: the main one, the dispatchers, the threads of
    /// actors.
    pub runtimes: Vec<(String, ShutdownReport)>,
}

impl SystemReport {
    /// Returns whether all work was done.
    pub fn is_complete(&self) -> bool {
        self.runtimes.iter().all(|(_, report)| report.is_complete())
    }
}

impl fmt::Display for SystemReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_complete() {
            return f.write_str("all work was done");
        }
        let undone = self.runtimes.iter().filter(|(_, report)| !report.is_complete());
        for (at, (name, report)) in undone.enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{name}: {report}")?;
        }
        Ok(())
    }
}
