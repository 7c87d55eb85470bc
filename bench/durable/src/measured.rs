//! What is measured in one run, and how.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// What one run has shown.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Measured {
    /// How many were done: events, transfers, messages.
    pub count: u64,
    /// How long it took.
    pub seconds: f64,
    /// What it took of processors, in all threads of the process.
    pub processor_seconds: f64,
    /// How many transactions the store wrote meanwhile.
    #[serde(default)]
    pub transactions: Option<u64>,
    /// Bytes of memory that each took.
    #[serde(default)]
    pub bytes_each: Option<f64>,
    /// What belongs to this case alone, by its name.
    #[serde(default)]
    pub besides: BTreeMap<String, f64>,
}

impl Measured {
    /// How many a second.
    pub fn rate(&self) -> f64 {
        self.count as f64 / self.seconds
    }

    /// Processor time of each, in microseconds.
    pub fn processor_micros(&self) -> f64 {
        self.processor_seconds * 1e6 / self.count as f64
    }

    /// How many there were in a transaction, on average.
    pub fn batch(&self) -> Option<f64> {
        self.transactions.map(|written| self.count as f64 / written.max(1) as f64)
    }
}

/// A run that has begun.
pub struct Begun {
    at: Instant,
    processor: Duration,
    resident: u64,
}

impl Begun {
    /// Looks at the clocks, and at the memory.
    pub fn now() -> anyhow::Result<Begun> {
        Ok(Begun { resident: memory("VmRSS:")?, processor: processor_time()?, at: Instant::now() })
    }

    /// What has passed since.
    pub fn end(&self, count: u64) -> anyhow::Result<Measured> {
        let seconds = self.at.elapsed().as_secs_f64();
        let processor_seconds = (processor_time()? - self.processor).as_secs_f64();
        Ok(Measured { count, seconds, processor_seconds, ..Measured::default() })
    }

    /// What has passed since, and by how much the memory has grown.
    pub fn end_with_memory(&self, count: u64) -> anyhow::Result<Measured> {
        let grown = memory("VmRSS:")? as f64 - self.resident as f64;
        Ok(Measured { bytes_each: Some(grown / count as f64), ..self.end(count)? })
    }
}

/// The most that was resident, in MiB.
pub fn peak_mib() -> anyhow::Result<f64> {
    Ok(memory("VmHWM:")? as f64 / f64::from(1 << 20))
}

fn memory(key: &str) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(key)).context("no such line")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

#[cfg(unix)]
fn processor_time() -> anyhow::Result<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;

    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(micros.cast_unsigned()))
}

#[cfg(not(unix))]
fn processor_time() -> anyhow::Result<Duration> {
    anyhow::bail!("how much processor time a process has used is asked for on Unix alone")
}
