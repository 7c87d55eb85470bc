//! Programs that do workloads: this one and the peers', in whatever language, spoken to in the same
//! way.
//!
//! `bench/PROGRAMS.md` describes what a program answers; [`coact_bench_workloads::program`] answers
//! in Rust.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, bail};
use coact_bench_workloads::{Setup, Workload};

/// A program that does workloads.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    /// What stands before the command.
    leading: &'static [&'static str],
    /// Its name, version and settings, in its own words.
    pub about: String,
}

/// One way to do one workload.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Who does it.
    pub program: Arc<Program>,
    /// What is done.
    pub workload: String,
    /// The implementation's name: the peer's, with a suffix after a dash where there are several
    /// ways.
    pub name: String,
    /// How it does it.
    pub about: String,
    /// Part of the work that it does: one n-th of the sizes.
    pub share: u32,
}

impl Candidate {
    /// The library that is measured: the part of the name before the first dash.
    pub fn family(&self) -> &str {
        self.name.split('-').next().unwrap_or(&self.name)
    }

    /// The sizes of this candidate's part of the work.
    pub fn setup(&self, setup: &Setup) -> Setup {
        setup.share(self.share)
    }

    /// The command that runs it once.
    pub fn command(&self, workload: &Workload, setup: &Setup) -> Command {
        let mut command = self.program.command();
        command.args(["run", &self.workload, &self.name]);
        command.args(workload.sizes(setup).words());
        command
    }
}

impl Program {
    /// This program itself.
    pub fn own() -> anyhow::Result<Program> {
        let path = std::env::current_exe().context("cannot find this program")?;
        Ok(Program { path, leading: &["program"], about: String::new() })
    }

    /// Asks a program who it is.
    pub fn at(path: PathBuf) -> anyhow::Result<Program> {
        let mut program = Program { path, leading: &[], about: String::new() };
        program.about = program.ask("about")?.trim().to_owned();
        Ok(program)
    }

    /// Asks the program what it does.
    pub fn candidates(self) -> anyhow::Result<Vec<Candidate>> {
        let listed = self.ask("list")?;
        let program = Arc::new(self);
        listed.lines().map(|line| candidate(&program, line)).collect()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(self.leading).stdin(Stdio::null());
        command
    }

    fn ask(&self, question: &str) -> anyhow::Result<String> {
        let path = self.path.display();
        let output = self
            .command()
            .arg(question)
            .output()
            .with_context(|| format!("cannot start {path}"))?;
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr);
            bail!("`{path} {question}` ended with {}: {}", output.status, reason.trim());
        }
        String::from_utf8(output.stdout)
            .with_context(|| format!("`{path} {question}` prints what is not text"))
    }
}

fn candidate(program: &Arc<Program>, line: &str) -> anyhow::Result<Candidate> {
    let mut fields = line.splitn(4, '\t');
    let mut field =
        || fields.next().with_context(|| format!("{line:?} has not four parts between tabs"));
    let (workload, name) = (field()?.to_owned(), field()?.to_owned());
    let share = field()?.parse().with_context(|| format!("the share in {line:?} is no number"))?;
    if share == 0 {
        bail!("the share in {line:?} must be above zero");
    }
    let about = field()?.to_owned();
    Ok(Candidate { program: Arc::clone(program), workload, name, about, share })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Candidate, Program, candidate};

    fn parse(line: &str) -> anyhow::Result<Candidate> {
        let program = Program { path: "x".into(), leading: &[], about: String::new() };
        candidate(&Arc::new(program), line)
    }

    #[test]
    fn a_line_of_the_list_has_four_parts() {
        let candidate = parse("ring\tasio-mutex\t10\tas it is: tab\tand all").expect("it is one");
        assert_eq!((candidate.workload.as_str(), candidate.family()), ("ring", "asio"));
        assert_eq!((candidate.share, candidate.about.as_str()), (10, "as it is: tab\tand all"));
    }

    #[test]
    fn what_is_no_such_line_is_refused_by_its_text() {
        for line in ["", "ring", "ring\tasio\tmany\tabout", "ring\tasio\t0\tabout"] {
            let error = parse(line).expect_err("it is none").to_string();
            assert!(error.contains(&format!("{line:?}")), "{error}");
        }
    }
}
