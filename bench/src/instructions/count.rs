//! One figure of two runs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, bail};
use coact_bench_workloads::Setup;

use super::callgrind::{self, Profile};
use super::cases::Case;
use super::code::Code;

/// What an operation of a case takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// Instructions an operation.
    pub instructions: f64,
    /// Atomic read-modify-writes (and full fences) among them; `None` where they cannot be told.
    pub atomics: Option<f64>,
}

/// Counts cases.
pub struct Counter {
    program: PathBuf,
    /// Where the files of callgrind go.
    folder: PathBuf,
    /// The programs and libraries that have been read, and which of their instructions are atomic.
    known: Mutex<HashMap<PathBuf, Arc<Code>>>,
}

/// What one run took.
struct Taken {
    operations: u64,
    instructions: u64,
    atomics: Option<u64>,
}

impl Counter {
    /// Counts what a build of this tool does, and leaves the files of callgrind in this folder.
    pub fn new(program: PathBuf, folder: &Path) -> Counter {
        Counter { program, folder: folder.to_path_buf(), known: Mutex::default() }
    }

    /// Counts a case.
    ///
    /// # Errors
    /// A run failed, had a wrong result, or the large one did not do more.
    pub fn count(&self, case: &Case) -> anyhow::Result<Count> {
        let [small, large] = case.scales();
        let taken = self
            .run(case, "small", small)
            .and_then(|small| Ok((small, self.run(case, "large", large)?)));
        let (small, large) = taken.with_context(|| case.to_string())?;
        difference(&small, &large).with_context(|| case.to_string())
    }

    fn run(&self, case: &Case, size: &str, scale: f64) -> anyhow::Result<Taken> {
        let setup = Setup { scale, workers: 1 };
        let file =
            self.folder.join(format!("{}-{}.{size}.callgrind", case.workload, case.implementation));
        let sizes = case.workload()?.sizes(&setup).words();
        let mut words = vec!["program", "run", case.workload, case.implementation];
        words.extend(sizes.iter().map(String::as_str));
        let (profile, answer) = callgrind::run(&self.program, &words, &file)?;
        case.workload()?.check(&setup, &answer.measured())?;
        let atomics = if Code::IS_KNOWN { Some(self.atomics(&profile)?) } else { None };
        Ok(Taken { operations: answer.operations, instructions: profile.instructions(), atomics })
    }

    /// How many of the instructions that were executed are atomic.
    fn atomics(&self, profile: &Profile) -> anyhow::Result<u64> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sum = 0;
        // What lies in no file is code of the kernel, which tells the time.
        for (path, counts) in profile.objects.iter().filter(|(path, _)| path.is_absolute()) {
            let [code, own] = [path, &self.program].map(|path| code_of(&mut known, path));
            let (code, own) = (code?, own?);
            for (address, count) in counts {
                // Callgrind loses its place where stacks are switched, and takes what lies in the
                // program for a part of the library that has started the thread.
                let is_atomic = code.is_atomic(*address).or_else(|_| own.is_atomic(*address));
                if is_atomic.with_context(|| path.display().to_string())? {
                    sum += count;
                }
            }
        }
        Ok(sum)
    }
}

/// The code in a file.
fn code_of(known: &mut HashMap<PathBuf, Arc<Code>>, path: &Path) -> anyhow::Result<Arc<Code>> {
    if let Some(code) = known.get(path) {
        return Ok(Arc::clone(code));
    }
    let code = Arc::new(Code::read(path)?);
    known.insert(path.to_owned(), Arc::clone(&code));
    Ok(code)
}

fn difference(small: &Taken, large: &Taken) -> anyhow::Result<Count> {
    if large.operations <= small.operations {
        bail!("the sizes are too near: {} operations and {}", small.operations, large.operations);
    }
    let operations = (large.operations - small.operations) as f64;
    let more = |small: u64, large: u64| (large as f64 - small as f64) / operations;
    let atomics = small.atomics.zip(large.atomics);
    Ok(Count {
        instructions: more(small.instructions, large.instructions),
        atomics: atomics.map(|(small, large)| more(small, large)),
    })
}

#[cfg(test)]
mod tests {
    use super::{Count, Taken, difference};

    #[test]
    fn what_both_runs_have_falls_out() {
        let taken = |operations, instructions, atomics| Taken { operations, instructions, atomics };
        let (small, large) = (taken(10, 1_000_100, Some(530)), taken(30, 1_000_300, Some(570)));
        let count = difference(&small, &large).expect("the large one does more");
        assert_eq!(count, Count { instructions: 10.0, atomics: Some(2.0) });
        let blind =
            difference(&small, &taken(30, 1_000_300, None)).expect("the large one does more");
        assert_eq!(blind.atomics, None);
        assert!(difference(&small, &taken(10, 2_000_000, None)).is_err());
    }
}
