//! One repetition in a process of its own: a heap, threads and a peak of memory that no earlier one
//! has touched.

use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use coact_bench_workloads::memory::Watched;
use coact_bench_workloads::program::Answer;
use coact_bench_workloads::workload::{Drawing, Measured, Setup, Workload};

use super::program::Candidate;

/// What is known of a repetition once it has ended.
#[derive(Clone, Debug)]
pub struct Report {
    /// The checked measurement.
    pub measured: Measured,
    /// Peak resident memory of the child, in bytes.
    pub peak_resident: Option<u64>,
    /// Private memory over time, where the workload is drawn so: seconds since the start, bytes.
    pub memory: Vec<(f64, u64)>,
}

/// Runs a repetition in a child, ends the child if it takes longer than `limit`, and checks the
/// result.
pub fn measure(
    workload: &Workload,
    candidate: &Candidate,
    setup: &Setup,
    limit: Duration,
) -> anyhow::Result<Report> {
    let setup = candidate.setup(setup);
    let mut child = candidate
        .command(workload, &setup)
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start a child")?;
    let draw = matches!(workload.drawing(&setup), Drawing::Memory);
    let watched = wait(&mut child, limit, draw)?;
    let mut printed = String::new();
    child.stdout.take().context("the child has no output")?.read_to_string(&mut printed)?;
    let line = printed.lines().last().context("the child printed nothing")?;
    let answer = Answer::read(line)?;
    let measured = answer.measured();
    workload.check(&setup, &measured)?;
    let peak_resident = answer.peak_resident.max(watched.peak());
    Ok(Report { measured, peak_resident, memory: watched.samples })
}

/// Waits for a successful end. The child prints little, so its pipe cannot fill up meanwhile.
fn wait(child: &mut Child, limit: Duration, draw: bool) -> anyhow::Result<Watched> {
    let start = Instant::now();
    let mut watched = Watched::new(child.id(), draw);
    loop {
        if let Some(status) = child.try_wait()? {
            if !status.success() {
                bail!("the child ended with {status}");
            }
            return Ok(watched);
        }
        let elapsed = start.elapsed();
        watched.look(elapsed);
        if elapsed > limit {
            child.kill()?;
            child.wait()?;
            bail!("took longer than {} s", limit.as_secs());
        }
        // Often enough for a smoke run of many short children, seldom enough not to disturb a long
        // one.
        let pause = (elapsed / 10).clamp(Duration::from_millis(1), Duration::from_millis(20));
        // There is no event to wait for: the standard library cannot wait for a child with a limit.
        #[allow(clippy::disallowed_methods)]
        std::thread::sleep(pause);
    }
}
