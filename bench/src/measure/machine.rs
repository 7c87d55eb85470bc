//! What a reader must know of the machine to judge a figure.

use serde::{Deserialize, Serialize};

/// The machine and the build.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Machine {
    /// Model of the processor, where the system tells.
    pub processor: String,
    /// Threads that can run at once.
    pub processors: usize,
    /// Total memory in bytes, where the system tells.
    pub memory: Option<u64>,
    /// Operating system, its kernel's release where known, and architecture.
    pub system: String,
    /// The allocator of the measured binary.
    pub allocator: String,
    /// Version of the measured crates.
    pub version: String,
    /// Whether the binary was compiled with optimisation.
    pub optimised: bool,
}

impl Machine {
    /// Looks at this machine.
    pub fn here() -> Machine {
        Machine {
            processor: processor().unwrap_or_else(|| "unknown processor".to_owned()),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory: memory(),
            system: system(),
            allocator: allocator().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            optimised: !cfg!(debug_assertions),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} × {}, {}, allocator {}, coact {}{}",
            self.processors,
            self.processor,
            self.system,
            self.allocator,
            self.version,
            if self.optimised { "" } else { ", NOT OPTIMISED" }
        )
    }
}

fn allocator() -> &'static str {
    if cfg!(feature = "snmalloc") { "snmalloc" } else { "system" }
}

fn processor() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim().to_owned())
}

fn memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kib = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    kib.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib * 1024)
}

fn system() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    [std::env::consts::OS, release.trim(), std::env::consts::ARCH]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
