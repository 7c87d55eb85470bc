//! The order of the repetitions: rounds, and in each round every implementation once (A B A B …),
//! so that a ratio holds on a machine whose speed drifts.

use std::time::{Duration, Instant};

use anyhow::Context;
use coact_bench_workloads::workload::{Drawing, Setup, Unit, Workload};

use super::calibration::Calibration;
use super::child::{self, Report};
use super::machine::Machine;
use super::program::Candidate;
use super::progress::Progress;
use super::record::Record;
use super::statistics::{Summary, paired_ratio};

/// How a session measures.
pub struct Session {
    /// Factor on the sizes.
    pub scale: f64,
    /// Numbers of worker threads to measure with; `None`: what the workload asks for, up to the
    /// processors.
    pub workers: Option<Vec<usize>>,
    /// Rounds.
    pub runs: usize,
    /// The longest that a child may take.
    pub limit: Duration,
    /// The machine, looked at once.
    pub machine: Machine,
}

/// One implementation on one number of workers, and its results so far.
struct Case<'a> {
    candidate: &'a Candidate,
    setup: Setup,
    reports: anyhow::Result<Vec<Report>>,
}

impl Session {
    /// Repetitions that measuring these candidates of a workload takes.
    pub fn repetitions(&self, workload: &Workload, candidates: &[Candidate]) -> usize {
        self.runs * candidates.len() * self.setups(workload).len()
    }

    /// Measures the candidates of one workload, ours first. One that fails yields its error in
    /// place of a record, and is not tried again.
    pub fn measure(
        &self,
        workload: &Workload,
        candidates: &[Candidate],
        progress: &mut Progress,
    ) -> (Calibration, Vec<anyhow::Result<Record>>) {
        let calibration = Calibration::take();
        let mut cases = self.cases(workload, candidates);
        for round in 1..=self.runs {
            for case in &mut cases {
                self.repeat(workload, case, round, progress);
            }
        }
        let baselines: Vec<(usize, Vec<f64>)> = cases
            .iter()
            .filter(|case| std::ptr::eq(case.candidate, &raw const candidates[0]))
            .filter_map(|case| Some((case.setup.workers, case.values(workload)?)))
            .collect();
        let records = cases.into_iter().map(|case| {
            let workers = case.setup.workers;
            let baseline = baselines.iter().find(|(on, _)| *on == workers);
            let name = format!("{} / {} on {workers}", workload.name, case.candidate.name);
            self.record(workload, &calibration, case, baseline.map(|(_, values)| values.as_slice()))
                .context(name)
        });
        (calibration, records.collect())
    }

    fn cases<'a>(&self, workload: &Workload, candidates: &'a [Candidate]) -> Vec<Case<'a>> {
        let setups = self.setups(workload);
        let each = |setup: &Setup| {
            let setup = *setup;
            candidates.iter().map(move |candidate| Case { candidate, setup, reports: Ok(vec![]) })
        };
        setups.iter().flat_map(each).collect()
    }

    fn repeat(
        &self,
        workload: &Workload,
        case: &mut Case<'_>,
        round: usize,
        progress: &mut Progress,
    ) {
        let Ok(done) = &mut case.reports else { return progress.skip() };
        let workers = case.setup.workers;
        let name = format!("{} / {} on {workers}", workload.name, case.candidate.name);
        progress.begin(&name, round, self.runs);
        let start = Instant::now();
        match child::measure(workload, case.candidate, &case.setup, self.limit) {
            Ok(report) => done.push(report),
            Err(error) => case.reports = Err(error),
        }
        progress.end(&name, start.elapsed());
    }

    /// On 1, 2, 4 … workers where that is drawn, else on all processors, unless told otherwise.
    fn setups(&self, workload: &Workload) -> Vec<Setup> {
        let most = Setup { scale: self.scale, workers: self.machine.processors };
        let on = |workers: &[usize]| workers.iter().map(|&workers| most.on(workers)).collect();
        match (&self.workers, workload.drawing(&most)) {
            (Some(workers), _) => on(workers),
            (None, Drawing::Workers { .. } | Drawing::Memory) => on(&doubling_up_to(most.workers)),
            (None, Drawing::Bars | Drawing::Actors { .. }) => vec![most],
        }
    }

    fn record(
        &self,
        workload: &Workload,
        calibration: &Calibration,
        case: Case<'_>,
        baseline: Option<&[f64]>,
    ) -> anyhow::Result<Record> {
        let values = case.values(workload).unwrap_or_default();
        let Case { candidate, setup, reports } = case;
        let mut reports = reports?;
        let last = reports.last_mut().context("no repetition was asked for")?;
        let (count, memory) = (last.measured.operations, std::mem::take(&mut last.memory));
        let peaks: Vec<f64> =
            reports.iter().filter_map(|report| report.peak_resident).map(|b| b as f64).collect();
        let sizes: Vec<f64> =
            reports.iter().filter_map(|report| report.measured.bytes_each).collect();
        let p99s: Vec<f64> = reports.iter().filter_map(|report| report.measured.p99_ns).collect();
        let given = workload.sizes(&candidate.setup(&setup));
        Ok(Record {
            workload: workload.name.to_owned(),
            group: workload.group,
            about: workload.about.to_owned(),
            drawing: workload.drawing(&setup),
            implementation: candidate.name.clone(),
            how: candidate.about.clone(),
            program: candidate.program.about.clone(),
            share: candidate.share,
            parameters: given.named().iter().map(|(name, n)| ((*name).to_owned(), *n)).collect(),
            scale: setup.scale,
            workers: setup.workers,
            repetitions: values.len(),
            summary: Summary::of(&values).context("no repetition was asked for")?,
            unit: workload.unit.symbol().to_owned(),
            count,
            ratio: baseline.and_then(|baseline| paired_ratio(&values, baseline)),
            values,
            peak_resident: Summary::of(&peaks).map(|summary| summary.median as u64),
            bytes_each: Summary::of(&sizes).map(|summary| summary.median),
            p99_ns: Summary::of(&p99s).map(|summary| summary.median),
            memory,
            calibration: *calibration,
            machine: self.machine.clone(),
        })
    }
}

impl Case<'_> {
    /// The figures so far, unless a repetition has failed.
    ///
    /// Where the figure is the time of the whole, one that did a share of it counts that many
    /// times.
    fn values(&self, workload: &Workload) -> Option<Vec<f64>> {
        let reports = self.reports.as_ref().ok()?;
        let times = match workload.unit {
            Unit::NanosPerOperation => 1.0,
            Unit::Seconds => f64::from(self.candidate.share),
        };
        let figure = |report: &Report| report.measured.value(workload.unit) * times;
        Some(reports.iter().map(figure).collect())
    }
}

fn doubling_up_to(most: usize) -> Vec<usize> {
    let mut workers: Vec<usize> =
        std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|&n| n < most).collect();
    workers.push(most);
    workers
}

#[cfg(test)]
mod tests {
    use super::doubling_up_to;

    #[test]
    fn workers_double_and_end_with_all() {
        assert_eq!(doubling_up_to(1), [1]);
        assert_eq!(doubling_up_to(2), [1, 2]);
        assert_eq!(doubling_up_to(6), [1, 2, 4, 6]);
        assert_eq!(doubling_up_to(64), [1, 2, 4, 8, 16, 32, 64]);
    }
}
