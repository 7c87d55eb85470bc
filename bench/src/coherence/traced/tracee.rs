//! A program that runs one instruction at a time, all of its threads.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};
use nix::libc::{self, user_regs_struct as Registers};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::personality::{self, Persona};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::memory::Memory;

/// A program whose threads stand still unless they are told to do a step. All calls are made by the
/// thread that has started it: so the kernel wants it.
pub struct Tracee {
    child: Child,
    memory: Memory,
    /// The threads that have not ended; the first one is the process.
    threads: Vec<Pid>,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stepped {
    /// The instruction is done.
    Done,
    /// It has made a thread, and is done.
    Spawned(Pid),
    /// The thread has ended.
    Ended,
}

/// The first half of a start, in the new process: it becomes traced, and this program anew, at the
/// same addresses each time where the system allows that.
///
/// # Errors
/// It may not be traced.
pub fn begin(words: &[String]) -> anyhow::Result<()> {
    if let Ok(persona) = personality::get() {
        let _ = personality::set(persona | Persona::ADDR_NO_RANDOMIZE);
    }
    ptrace::traceme().context("this program may not be traced here")?;
    let program = std::env::current_exe().context("cannot find this program")?;
    Err(Command::new(program).args(["program", "--stopped"]).args(words).exec().into())
}

/// Whether the system lets a program lie at the same addresses each time; where it does not, runs
/// differ a little.
pub fn has_fixed_addresses() -> bool {
    let set = |persona| personality::set(persona | Persona::ADDR_NO_RANDOMIZE);
    personality::get().and_then(|before| set(before).and_then(|_| personality::set(before))).is_ok()
}

/// The second half: stops where the steps are to begin.
///
/// # Errors
/// It cannot stop itself.
pub fn stop() -> anyhow::Result<()> {
    raise(Signal::SIGSTOP).context("cannot stop this program")
}

impl Tracee {
    /// Starts a build of this tool with these words behind `program`, and lets it run to where it
    /// stops.
    ///
    /// # Errors
    /// It cannot be started, or may not be traced.
    pub fn start(program: &Path, words: &[&str]) -> anyhow::Result<Tracee> {
        let mut command = Command::new(program);
        command.arg("traced").args(words).stdin(Stdio::null()).stdout(Stdio::piped());
        // Neither settings of the runtime nor the variables' length must matter.
        command.env_clear();
        let shown = program.display();
        let child = command.spawn().with_context(|| format!("cannot start {shown}"))?;
        let process = Pid::from_raw(child.id().cast_signed());
        let memory = format!("/proc/{process}/mem");
        expect(process, Signal::SIGTRAP)?;
        let memory = OpenOptions::new().read(true).write(true).open(&memory).context(memory)?;
        let memory = Memory::new(memory);
        let tracee = Tracee { child, memory, threads: vec![process] };
        ptrace::setoptions(process, Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_EXITKILL)?;
        tracee.hide_clock()?;
        tracee.memory.release()?;
        ptrace::cont(process, None)?;
        expect(process, Signal::SIGSTOP)?;
        Ok(tracee)
    }

    /// Makes the C library ask the kernel for the time, and not read it from memory: of all calls
    /// the answer is chosen by who steps, but not of such a read.
    fn hide_clock(&self) -> anyhow::Result<()> {
        let mut at = self.registers(self.process())?.rsp;
        let mut next = || {
            let word = self.memory.word(at);
            at += 8;
            word
        };
        // The arguments, and the environment, each of which ends with a zero.
        let arguments = next()?;
        for _ in 0..=arguments {
            next()?;
        }
        while next()? != 0 {}
        loop {
            let entry = at;
            let (key, _) = (self.memory.word(at)?, at += 16);
            match key {
                libc::AT_NULL => return Ok(()),
                libc::AT_SYSINFO_EHDR => {
                    self.memory.write(entry, &libc::AT_IGNORE.to_le_bytes());
                    return Ok(());
                }
                _ => {}
            }
        }
    }

    /// The process, which is its first thread, too.
    pub fn process(&self) -> Pid {
        self.threads[0]
    }

    /// The registers of a thread.
    ///
    /// # Errors
    /// It is not there.
    pub fn registers(&self, thread: Pid) -> anyhow::Result<Registers> {
        ptrace::getregs(thread).with_context(|| format!("cannot read the registers of {thread}"))
    }

    /// Sets them.
    ///
    /// # Errors
    /// It is not there.
    pub fn set_registers(&self, thread: Pid, registers: Registers) -> anyhow::Result<()> {
        ptrace::setregs(thread, registers)
            .with_context(|| format!("cannot set the registers of {thread}"))
    }

    /// Lets a thread execute one instruction.
    ///
    /// # Errors
    /// It cannot, or a signal has ended it.
    pub fn step(&mut self, thread: Pid) -> anyhow::Result<Stepped> {
        self.memory.release()?;
        let mut signal = None;
        loop {
            ptrace::step(thread, signal)?;
            match wait(thread)? {
                WaitStatus::Stopped(_, Signal::SIGTRAP) => return Ok(Stepped::Done),
                WaitStatus::Stopped(_, other) => signal = Some(other),
                WaitStatus::PtraceEvent(_, _, libc::PTRACE_EVENT_CLONE) => {
                    let spawned = Pid::from_raw(i32::try_from(ptrace::getevent(thread)?)?);
                    expect(spawned, Signal::SIGSTOP)?;
                    self.threads.push(spawned);
                    expect_done(thread)?;
                    return Ok(Stepped::Spawned(spawned));
                }
                WaitStatus::Exited(..) => {
                    self.threads.retain(|known| *known != thread);
                    return Ok(Stepped::Ended);
                }
                other => bail!("the traced program came to this: {other:?}"),
            }
        }
    }

    /// Its memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Ends the program, and gives what it has printed.
    ///
    /// # Errors
    /// What it has printed is no text.
    pub fn end(mut self) -> anyhow::Result<String> {
        let output = self.child.stdout.take();
        drop(self);
        let mut printed = String::new();
        output.context("the program has no output")?.read_to_string(&mut printed)?;
        Ok(printed)
    }
}

impl Drop for Tracee {
    /// The process is over once all of its threads have been waited for, itself last.
    fn drop(&mut self) {
        let _ = self.child.kill();
        for thread in self.threads.iter().rev() {
            let _ = wait(*thread);
        }
    }
}

/// Keeps this thread, and the programs that it starts, on one core, another one for each number as
/// far as there are any: only one of them ever runs, and waking the other one there takes a quarter
/// of the time.
///
/// # Errors
/// The system does not allow it.
pub fn stay_on_a_core(number: usize) -> anyhow::Result<()> {
    let allowed = sched_getaffinity(Pid::this()).context("cannot tell which cores there are")?;
    let allowed: Vec<usize> =
        (0..CpuSet::count()).filter(|core| allowed.is_set(*core) == Ok(true)).collect();
    let mut cores = CpuSet::new();
    cores.set(allowed[number % allowed.len()])?;
    sched_setaffinity(Pid::from_raw(0), &cores).context("cannot choose a core")
}

fn wait(thread: Pid) -> anyhow::Result<WaitStatus> {
    waitpid(thread, Some(WaitPidFlag::__WALL)).with_context(|| format!("cannot wait for {thread}"))
}

fn expect(thread: Pid, signal: Signal) -> anyhow::Result<()> {
    match wait(thread)? {
        WaitStatus::Stopped(_, found) if found == signal => Ok(()),
        other => bail!("the program could not be traced: {other:?} where {signal} was awaited"),
    }
}

/// Lets a thread leave the call that has made another one.
fn expect_done(thread: Pid) -> anyhow::Result<()> {
    ptrace::step(thread, None)?;
    expect(thread, Signal::SIGTRAP)
}
