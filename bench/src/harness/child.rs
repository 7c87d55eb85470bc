//! One repetition in a process of its own.
//!
//! A fresh process has a heap, a thread pool and a peak of memory that no earlier repetition has touched. The tool
//! starts itself again with the hidden `child` command; the child prints its [`Report`] as one line of JSON.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::memory::peak_resident;
use super::workload::{Implementation, Measured, Setup, Workload};

/// What a child tells its parent.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Report {
    /// The checked measurement.
    pub measured: Measured,
    /// Peak resident memory of the child, in bytes.
    pub peak_resident: Option<u64>,
}

/// The child's side: measures here and prints the report.
pub fn answer(
    workload: &dyn Workload,
    implementation: &Implementation,
    setup: &Setup,
) -> anyhow::Result<()> {
    let measured = workload.measure(implementation, setup)?;
    let report = Report { measured, peak_resident: peak_resident() };
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

/// The parent's side: runs a repetition in a child, and ends the child if it takes longer than `limit`.
pub fn measure(
    workload: &dyn Workload,
    implementation: &Implementation,
    setup: &Setup,
    limit: Duration,
) -> anyhow::Result<Report> {
    let mut child = Command::new(std::env::current_exe().context("cannot find this program")?)
        .args(["child", workload.name(), implementation.name])
        .args(["--scale", &setup.scale.to_string(), "--workers", &setup.workers.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start a child")?;
    wait(&mut child, limit)?;
    let mut line = String::new();
    child.stdout.take().context("the child has no output")?.read_to_string(&mut line)?;
    serde_json::from_str(&line).context("the child's report is unreadable")
}

/// Waits for a successful end. The child prints one short line, so its pipe cannot fill up meanwhile.
fn wait(child: &mut Child, limit: Duration) -> anyhow::Result<()> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            if !status.success() {
                bail!("the child ended with {status}");
            }
            return Ok(());
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            bail!("took longer than {} s", limit.as_secs());
        }
        // Often enough for a smoke run of many short children, seldom enough not to disturb a long one.
        let pause =
            (start.elapsed() / 10).clamp(Duration::from_millis(1), Duration::from_millis(20));
        // There is no event to wait for: the standard library cannot wait for a child with a limit.
        #[allow(clippy::disallowed_methods)]
        std::thread::sleep(pause);
    }
}
