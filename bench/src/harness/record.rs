//! The records of a session, as they stand in the JSON file.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;

use super::calibration::Calibration;
use super::machine::Machine;
use super::statistics::Summary;

/// One implementation of one workload, over all repetitions. It stands for itself: the machine is in it.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// Name of the workload.
    pub workload: &'static str,
    /// Name of the implementation.
    pub implementation: &'static str,
    /// Sizes of the workload by name.
    pub parameters: BTreeMap<&'static str, u64>,
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
    pub unit: &'static str,
    /// Every value, in the order of the rounds.
    pub values: Vec<f64>,
    /// Messages or behaviours that one repetition processed.
    pub count: u64,
    /// Median over the rounds of this value divided by that of the first implementation in the same round.
    pub ratio: Option<f64>,
    /// Median of the peaks of resident memory, in bytes.
    pub peak_resident: Option<u64>,
    /// Median of the memory of each thing made, where the workload measures that.
    pub bytes_each: Option<f64>,
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
