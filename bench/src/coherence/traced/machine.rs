//! A machine with some cores that runs a traced program, an instruction at a time.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, bail};
use nix::libc::user_regs_struct as Registers;
use nix::unistd::Pid;

use super::emulate::{self, emulate};
use super::files::Files;
use super::heap::Heap;
use super::kernel::{Answer, Kernel, Woken};
use super::memory::Memory;
use super::operands::{Decoded, LONGEST};
use super::tracee::{Stepped, Tracee};
use crate::coherence::cores::{Cores, Thread};
use crate::coherence::costs;
use crate::coherence::lines::{Access, Kind, LINE, Lines};
use crate::coherence::tally::{Moved, Place, Tally};

/// The machine, and the program that it runs.
pub struct Machine {
    tracee: Tracee,
    /// The program's threads, by number.
    threads: Vec<Traced>,
    cores: Cores,
    lines: Lines,
    kernel: Kernel,
    code: HashMap<u64, Rc<Decoded>>,
    heap: Heap,
    files: Files,
    tally: Tally,
    /// Whether the processor does every instruction as well.
    is_checked: bool,
}

/// A thread that stands still.
struct Traced {
    id: Pid,
    /// Its registers, as they must be when it goes on.
    registers: Registers,
    /// Whether the kernel has others.
    is_changed: bool,
}

/// What a run has found.
pub struct Run {
    /// What moved.
    pub tally: Tally,
    /// The names of what it was.
    pub files: Files,
    /// What the program has printed.
    pub printed: String,
}

impl Machine {
    /// A machine with this number of cores, on which a transfer takes this time, and this tool's
    /// program at its beginning.
    ///
    /// # Errors
    /// The program cannot be started or traced.
    pub fn start(
        program: &Path,
        words: &[&str],
        cores: usize,
        transfer: u64,
    ) -> anyhow::Result<Machine> {
        let tracee = Tracee::start(program, words)?;
        let files = Files::of(tracee.process())?;
        let mut machine = Machine {
            threads: Vec::new(),
            cores: Cores::new(cores),
            lines: Lines::new(transfer),
            kernel: Kernel::new(cores),
            code: HashMap::new(),
            heap: Heap::new(&files),
            tally: Tally::default(),
            files,
            tracee,
            is_checked: false,
        };
        machine.add_thread(machine.tracee.process(), 0)?;
        Ok(machine)
    }

    /// Has the processor do every instruction as well, and `run` fail where it does something else.
    /// That takes some twenty times as long.
    #[must_use]
    pub fn checked(self) -> Machine {
        Machine { is_checked: true, ..self }
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    /// It fails, or does what is not modelled.
    pub fn run(mut self) -> anyhow::Result<Run> {
        loop {
            self.wake_who_is_due();
            let (core, thread) = self.cores.next().context("all threads of the program wait")?;
            if let Some(code) = self.step(core, thread)? {
                if code != 0 {
                    bail!("the traced program ended with {code}");
                }
                let printed = self.tracee.end()?;
                return Ok(Run { tally: self.tally, files: self.files, printed });
            }
        }
    }

    /// Lets a thread do its next instruction; returns how the program ends, if this ends it.
    fn step(&mut self, core: usize, thread: Thread) -> anyhow::Result<Option<i64>> {
        let registers = self.threads[thread].registers;
        let code = self.decoded(registers.rip)?;
        self.tally.instructions += 1;
        self.heap.see(thread, &registers, self.tracee.memory(), &self.files);
        if code.is_call {
            return self.call(core, thread, registers);
        }
        let stalled = self.access(core, &code, &registers);
        let stepped = if self.is_checked {
            self.step_and_compare(thread, &code)?
        } else {
            self.emulate_or_step(thread, &code)?
        };
        self.after(stepped, core)?;
        self.cores.spend(core, code.cost + stalled);
        Ok(None)
    }

    fn emulate_or_step(&mut self, thread: Thread, code: &Decoded) -> anyhow::Result<Stepped> {
        let traced = &mut self.threads[thread];
        match emulate(&code.instruction, &mut traced.registers, self.tracee.memory()) {
            Some(()) => {
                traced.is_changed = true;
                Ok(Stepped::Done)
            }
            None => self.really_step(thread),
        }
    }

    fn step_and_compare(&mut self, thread: Thread, code: &Decoded) -> anyhow::Result<Stepped> {
        let mut expected = self.threads[thread].registers;
        let written = Written { memory: self.tracee.memory(), writes: RefCell::default() };
        let is_known = emulate(&code.instruction, &mut expected, &written).is_some();
        let writes = written.writes.into_inner();
        let stepped = self.really_step(thread)?;
        if is_known && stepped == Stepped::Done {
            let instruction = &code.instruction;
            let found = &self.threads[thread].registers;
            if !is_same(&expected, found, emulate::defined(instruction)) {
                bail!("{instruction:?} leads to {found:x?} and not to {expected:x?}");
            }
            for (address, bytes) in writes {
                let mut found = vec![0; bytes.len()];
                self.tracee.memory().read(address, &mut found);
                if found != bytes {
                    bail!("{instruction:?} writes {found:x?} and not {bytes:x?}");
                }
            }
        }
        Ok(stepped)
    }

    /// Has the processor do a thread's next instruction.
    fn really_step(&mut self, thread: Thread) -> anyhow::Result<Stepped> {
        let Machine { tracee, threads, .. } = self;
        let traced = &mut threads[thread];
        if traced.is_changed {
            tracee.set_registers(traced.id, traced.registers)?;
            traced.is_changed = false;
        }
        let stepped = tracee.step(traced.id)?;
        if stepped != Stepped::Ended {
            traced.registers = tracee.registers(traced.id)?;
        }
        Ok(stepped)
    }

    /// Does what an instruction does to the caches; returns for how long it waits.
    fn access(&mut self, core: usize, code: &Decoded, registers: &Registers) -> u64 {
        let begun = self.cores.clock(core);
        let mut now = begun;
        for (address, kind) in code.accesses(registers) {
            let done = self.touch(core, address, kind, registers.rip, now);
            if !code.is_prefetch {
                now = done;
            }
        }
        now - begun
    }

    /// Does one access; returns when it is done.
    fn touch(&mut self, core: usize, address: u64, kind: Kind, code: u64, now: u64) -> u64 {
        let access = Access { core, line: address / LINE, kind, code, now };
        let Some(transfer) = self.lines.access(access) else { return now };
        let place = match self.heap.block(address) {
            Some(block) => Place::Heap {
                allocated_by: block.allocated_by,
                size: block.size,
                offset: address - block.start,
            },
            None => Place::Other(address),
        };
        let moved = Moved { kind: transfer.kind, code, written_by: transfer.written_by, place };
        self.tally.add(moved);
        transfer.done
    }

    /// Does a system call.
    fn call(
        &mut self,
        core: usize,
        thread: Thread,
        mut registers: Registers,
    ) -> anyhow::Result<Option<i64>> {
        let Registers { rax, rdi, rsi, rdx, r10, r8, r9, .. } = registers;
        let (now, mut woken) = (self.cores.clock(core), Vec::new());
        let arguments = [rdi, rsi, rdx, r10, r8, r9];
        let answer =
            self.kernel.call(thread, rax, arguments, now, self.tracee.memory(), &mut woken)?;
        let value = match answer {
            Answer::Exit(code) => return Ok(Some(code)),
            Answer::Real => {
                let stepped = self.really_step(thread)?;
                // First, as a thread that has ended must leave its core before another one gets its
                // turn there.
                self.after(stepped, core)?;
                self.cores.spend(core, costs::CALL);
                return Ok(None);
            }
            Answer::Return(value, _) => value,
            Answer::Wait | Answer::GiveWay | Answer::Barrier => 0,
        };
        registers.rip += 2;
        registers.rax = value.cast_unsigned();
        let traced = &mut self.threads[thread];
        (traced.registers, traced.is_changed) = (registers, true);
        self.spend_on(core, &answer);
        self.tally.wakes += woken.len() as u64;
        woken.into_iter().for_each(|woken| self.wake(woken));
        Ok(None)
    }

    /// Lets the time pass that a call takes, on all cores that it takes time of.
    fn spend_on(&mut self, core: usize, answer: &Answer) {
        match answer {
            Answer::Return(_, time) => self.cores.spend(core, *time),
            Answer::Wait => self.cores.leave(core),
            Answer::GiveWay => {
                self.cores.spend(core, costs::CALL);
                self.cores.give_way(core);
            }
            Answer::Barrier => {
                self.tally.barriers += 1;
                self.cores.interrupt_others(core, costs::INTERRUPT);
                self.cores.spend(core, costs::CALL + costs::INTERRUPT);
            }
            Answer::Real | Answer::Exit(_) => {}
        }
    }

    /// Does what follows from a step of the thread that a core runs.
    fn after(&mut self, stepped: Stepped, core: usize) -> anyhow::Result<()> {
        let now = self.cores.clock(core);
        match stepped {
            Stepped::Done => Ok(()),
            Stepped::Spawned(id) => self.add_thread(id, now + costs::WAKING),
            Stepped::Ended => {
                self.cores.leave(core);
                let mut woken = Vec::new();
                self.kernel.thread_ended(now, self.tracee.memory(), &mut woken)?;
                woken.into_iter().for_each(|woken| self.wake(woken));
                Ok(())
            }
        }
    }

    fn add_thread(&mut self, id: Pid, now: u64) -> anyhow::Result<()> {
        let registers = self.tracee.registers(id)?;
        self.threads.push(Traced { id, registers, is_changed: false });
        self.cores.make_ready(self.threads.len() - 1, now);
        Ok(())
    }

    /// Wakes those whose time is over before anything else happens.
    fn wake_who_is_due(&mut self) {
        loop {
            let now = self.cores.next().map(|(core, _)| self.cores.clock(core));
            match self.kernel.timed_out(now) {
                Some(woken) => self.wake(woken),
                None => return,
            }
        }
    }

    fn wake(&mut self, Woken { thread, value, at }: Woken) {
        let traced = &mut self.threads[thread];
        traced.registers.rax = value.cast_unsigned();
        traced.is_changed = true;
        self.cores.make_ready(thread, at);
    }

    fn decoded(&mut self, address: u64) -> anyhow::Result<Rc<Decoded>> {
        if let Some(known) = self.code.get(&address) {
            return Ok(Rc::clone(known));
        }
        // An instruction at the end of what is there may be shorter than the longest.
        let memory = self.tracee.memory();
        let mut bytes = [0; LONGEST];
        let length = (1..=LONGEST).rev().find(|length| memory.read(address, &mut bytes[..*length]));
        let decoded = Decoded::of(&bytes[..length.unwrap_or(0)], address)
            .with_context(|| format!("there is no instruction at {address:#x}"))?;
        let decoded = Rc::new(decoded);
        self.code.insert(address, Rc::clone(&decoded));
        Ok(decoded)
    }
}

/// Memory in which nothing is changed.
struct Written<'a> {
    memory: &'a Memory,
    writes: RefCell<Vec<(u64, Vec<u8>)>>,
}

impl emulate::ReadWrite for Written<'_> {
    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        self.memory.read(address, bytes)
    }

    fn write(&self, address: u64, bytes: &[u8]) -> bool {
        self.writes.borrow_mut().push((address, bytes.to_vec()));
        true
    }
}

/// Whether the general registers are the same, and these flags.
fn is_same(expected: &Registers, found: &Registers, flags: u64) -> bool {
    let general = |registers: &Registers| {
        let Registers { rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, rip, .. } = *registers;
        let Registers { r8, r9, r10, r11, r12, r13, r14, r15, .. } = *registers;
        [rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, rip, r8, r9, r10, r11, r12, r13, r14, r15]
    };
    general(expected) == general(found) && (expected.eflags ^ found.eflags) & flags == 0
}

impl emulate::ReadWrite for Memory {
    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        Memory::read(self, address, bytes)
    }

    fn write(&self, address: u64, bytes: &[u8]) -> bool {
        Memory::write(self, address, bytes)
    }
}
