//! A run under callgrind, and what it says of each instruction.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use coact_bench_workloads::program::Answer;

/// The program that counts.
const VALGRIND: &str = "valgrind";

/// How often each instruction of a process was executed, by the file that it lies in and its
/// address there.
#[derive(Debug, Default)]
pub struct Profile {
    /// The executable, the libraries, and `???` for what lies in no file.
    pub objects: HashMap<PathBuf, HashMap<u64, u64>>,
}

impl Profile {
    /// All instructions that were executed.
    pub fn instructions(&self) -> u64 {
        self.objects.values().flat_map(HashMap::values).sum()
    }

    /// Reads what callgrind writes with `--dump-instr=yes --dump-line=no --compress-pos=no
    /// --compress-strings=no`.
    ///
    /// ```
    /// use coact_bench::instructions::callgrind::Profile;
    ///
    /// let text = "positions: instr\nevents: Ir\nsummary: 7\n\nob=/a\nfn=f\n0x10 2\ncalls=1 0x20\n0x11 5\n\nfn=g\n0x20 5\n\ntotals: 7\n";
    /// let profile = Profile::parse(text).unwrap();
    /// assert_eq!(profile.instructions(), 7);
    /// assert_eq!(profile.objects[std::path::Path::new("/a")][&0x20], 5);
    /// ```
    ///
    /// # Errors
    /// The text is something else, or its sum is not what it says.
    pub fn parse(text: &str) -> anyhow::Result<Profile> {
        let mut profile = Profile::default();
        let mut object = PathBuf::from("???");
        let mut promised = None;
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            match line.split_once(['=', ':']) {
                Some(("ob", path)) => object = PathBuf::from(path),
                // The cost of a call counts what the called function has counted for itself.
                Some(("calls", _)) => drop(lines.next()),
                Some(("totals", total)) => promised = total.trim().parse::<u64>().ok(),
                Some(("positions", positions)) if positions.trim() != "instr" => {
                    bail!("callgrind was not asked for addresses: {line:?}")
                }
                Some(_) => {}
                None if line.starts_with("0x") => {
                    let (address, count) =
                        cost(line).with_context(|| format!("{line:?} is no cost"))?;
                    *profile
                        .objects
                        .entry(object.clone())
                        .or_default()
                        .entry(address)
                        .or_default() += count;
                }
                None => {}
            }
        }
        let (found, promised) =
            (profile.instructions(), promised.context("callgrind's file has no end")?);
        if found != promised {
            bail!("callgrind counted {promised} instructions, but its lines add up to {found}");
        }
        Ok(profile)
    }
}

/// An address and how often the instruction there was executed.
fn cost(line: &str) -> Option<(u64, u64)> {
    let (address, count) = line.split_once(' ')?;
    let address = u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()?;
    Some((address, count.trim().parse().ok()?))
}

/// Whether callgrind is here, and which.
///
/// # Errors
/// How to get it.
pub fn version() -> anyhow::Result<String> {
    let output = Command::new(VALGRIND).arg("--version").stderr(Stdio::null()).output();
    let output = output.context("valgrind is not here; install it from your system's packages")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs this tool's `program` under callgrind, which leaves its file at `file`; returns what the
/// program printed last.
///
/// # Errors
/// It cannot be run, or fails.
pub fn run(program: &Path, words: &[&str], file: &Path) -> anyhow::Result<(Profile, Answer)> {
    let mut command = Command::new(VALGRIND);
    command
        .args(["--quiet", "--tool=callgrind", "--dump-instr=yes", "--dump-line=no"])
        .args(["--compress-pos=no", "--compress-strings=no"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program)
        .args(words)
        .stdin(Stdio::null());
    // What is in the environment must not count: neither settings of the runtime nor the variables'
    // length.
    command.env_clear();
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.envs(std::env::var_os("VALGRIND_LIB").map(|path| ("VALGRIND_LIB", path)));
    let output = command.output().with_context(|| format!("cannot start {VALGRIND}"))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        bail!("under callgrind the program ended with {}: {}", output.status, reason.trim());
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let answer = Answer::read(printed.lines().last().context("the program printed nothing")?)?;
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("callgrind left no {}", file.display()))?;
    Ok((Profile::parse(&text)?, answer))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Profile;

    const HEAD: &str = "# callgrind format\nversion: 1\ncmd:  bench run ring x=1\npositions: instr\nevents: Ir\n\n";

    fn parse(body: &str) -> anyhow::Result<Profile> {
        Profile::parse(&format!("{HEAD}{body}"))
    }

    #[test]
    fn an_instruction_in_several_functions_or_threads_is_counted_together() {
        let body = "ob=/bin/x\nfl=a.rs\nfn=f\n0x1f0 3\nfi=b.rs\n0x1f4 4\n\nfn=g\n0x1f0 5\n\nob=/lib/y\nfn=h\n0x1f0 7\n\ntotals: 19\n";
        let profile = parse(body).expect("it is callgrind's");
        assert_eq!(profile.instructions(), 19);
        assert_eq!(profile.objects[Path::new("/bin/x")][&0x1f0], 8);
        assert_eq!(profile.objects[Path::new("/lib/y")][&0x1f0], 7);
    }

    #[test]
    fn the_cost_of_a_call_is_not_the_callers() {
        let body = "ob=/bin/x\nfn=f\n0x10 1\ncob=/lib/y\ncfn=h\ncalls=3 0x50\n0x14 900\n0x18 1\n\ntotals: 2\n";
        assert_eq!(parse(body).expect("it is callgrind's").instructions(), 2);
    }

    #[test]
    fn what_does_not_add_up_is_refused() {
        for (body, reason) in [
            ("ob=/x\n0x10 1\ntotals: 2\n", "add up to 1"),
            ("ob=/x\n0x10 1\n", "no end"),
            ("ob=/x\n0x10 many\ntotals: 2\n", "is no cost"),
            ("positions: instr line\nob=/x\n0x10 1 2\ntotals: 2\n", "addresses"),
        ] {
            let error = parse(body).expect_err("it does not add up").to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
