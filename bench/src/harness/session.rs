//! The order of the repetitions: rounds, and in each round every implementation once (A B A B …), so that a ratio
//! holds on a machine whose speed drifts.

use std::time::Duration;

use anyhow::Context;

use super::calibration::Calibration;
use super::child::{self, Report};
use super::machine::Machine;
use super::record::Record;
use super::statistics::{Summary, paired_ratio};
use super::workload::{Implementation, Setup, Workload};

/// How a session measures.
pub struct Session {
    /// Scale and workers.
    pub setup: Setup,
    /// Rounds.
    pub runs: usize,
    /// The longest that a child may take.
    pub limit: Duration,
    /// The machine, looked at once.
    pub machine: Machine,
}

impl Session {
    /// Measures the chosen implementations of one workload. An implementation that fails yields its error in place
    /// of a record, and is not tried again.
    pub fn measure(
        &self,
        workload: &dyn Workload,
        chosen: &[&Implementation],
    ) -> (Calibration, Vec<anyhow::Result<Record>>) {
        let calibration = Calibration::take();
        let mut reports: Vec<anyhow::Result<Vec<Report>>> =
            chosen.iter().map(|_| Ok(Vec::new())).collect();
        for _ in 0..self.runs {
            for (implementation, reports) in chosen.iter().zip(&mut reports) {
                if let Ok(done) = reports {
                    match child::measure(workload, implementation, &self.setup, self.limit) {
                        Ok(report) => done.push(report),
                        Err(error) => *reports = Err(error),
                    }
                }
            }
        }
        let values = |reports: &[Report]| -> Vec<f64> {
            reports.iter().map(|report| report.measured.value(workload.unit())).collect()
        };
        let baseline =
            reports.first().and_then(|first| first.as_ref().ok()).map(|first| values(first));
        let records = chosen.iter().zip(reports).map(|(implementation, reports)| {
            let reports = reports
                .with_context(|| format!("{} / {}", workload.name(), implementation.name))?;
            self.record(
                workload,
                implementation,
                &calibration,
                &reports,
                values(&reports),
                baseline.as_deref(),
            )
        });
        (calibration, records.collect())
    }

    fn record(
        &self,
        workload: &dyn Workload,
        implementation: &Implementation,
        calibration: &Calibration,
        reports: &[Report],
        values: Vec<f64>,
        baseline: Option<&[f64]>,
    ) -> anyhow::Result<Record> {
        let peaks: Vec<f64> =
            reports.iter().filter_map(|report| report.peak_resident).map(|b| b as f64).collect();
        let sizes: Vec<f64> =
            reports.iter().filter_map(|report| report.measured.bytes_each).collect();
        Ok(Record {
            workload: workload.name(),
            implementation: implementation.name,
            parameters: workload.parameters(&self.setup).into_iter().collect(),
            scale: self.setup.scale,
            workers: self.setup.workers,
            repetitions: values.len(),
            summary: Summary::of(&values).context("no repetition was asked for")?,
            unit: workload.unit().symbol(),
            count: reports.last().map_or(0, |report| report.measured.operations),
            ratio: baseline.and_then(|baseline| paired_ratio(&values, baseline)),
            values,
            peak_resident: Summary::of(&peaks).map(|summary| summary.median as u64),
            bytes_each: Summary::of(&sizes).map(|summary| summary.median),
            calibration: *calibration,
            machine: self.machine.clone(),
        })
    }
}
