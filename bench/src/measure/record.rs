//! The records of a session, as they stand in the JSON file.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use coact_bench_workloads::workload::{Drawing, Group};
use serde::{Deserialize, Serialize};

use super::calibration::Calibration;
use super::machine::Machine;
use super::statistics::Summary;

/// One implementation of one workload on one number of workers, over all repetitions. It stands for
/// itself: the machine is in it, and what a report says of the workload.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Record {
    /// Name of the workload.
    pub workload: String,
    /// Where the workload belongs.
    pub group: Group,
    /// What is done, in a line.
    pub about: String,
    /// How it is drawn.
    pub drawing: Drawing,
    /// Name of the implementation.
    pub implementation: String,
    /// How it does it, in a line.
    pub how: String,
    /// The program: name, version, settings.
    pub program: String,
    /// Part of the work that this implementation did: one n-th of the sizes.
    pub share: u32,
    /// Sizes of the workload by name.
    pub parameters: BTreeMap<String, u64>,
    /// Factor on the full sizes.
    pub scale: f64,
    /// Worker threads.
    pub workers: usize,
    /// Repetitions, each in a process of its own.
    pub repetitions: usize,
    /// Median, least and greatest value.
    #[serde(flatten)]
    pub summary: Summary,
    /// Unit of the value.
    pub unit: String,
    /// Every value, in the order of the rounds.
    pub values: Vec<f64>,
    /// Messages or behaviours that one repetition processed.
    pub count: u64,
    /// This value divided by that of our first implementation in the same round, on as many
    /// workers.
    pub ratio: Option<Summary>,
    /// Median of the peaks of resident memory, in bytes.
    pub peak_resident: Option<u64>,
    /// Median of the memory of each thing made, where the workload measures that.
    pub bytes_each: Option<f64>,
    /// Median of what 99 of 100 operations took at the most, in nanoseconds, where the workload
    /// measures that.
    #[serde(default)]
    pub p99_ns: Option<f64>,
    /// Private memory over time in the last repetition, where it is drawn: seconds, bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<(f64, u64)>,
    /// What the machine could do just before.
    pub calibration: Calibration,
    /// The machine.
    pub machine: Machine,
}

/// Writes the records as one JSON array.
pub fn write(path: &Path, records: &[Record]) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(records)?;
    std::fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))
}

/// Reads what [`write()`] has written.
pub fn read(path: &Path) -> anyhow::Result<Vec<Record>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("{} holds no records of `coact-bench run --json`", path.display()))
}
