//! The calls that let time pass: waiting, waking, sleeping, asking for the time. They are answered
//! here and not by the kernel, so that they happen in the time of the machine that is modelled. The
//! others take none there. Asking for random bytes is answered here, too, with the same ones in
//! each run: a hash table that is seeded with them takes a few instructions more or less. So does
//! reading how much memory the process has, whose number has more digits at one time than at
//! another: the machine that is modelled does not know.

use anyhow::{bail, ensure};
use coact_bench_workloads::random::mix;
use nix::libc;

use super::memory::Memory;
use crate::coherence::cores::Thread;
use crate::coherence::costs::{self, NANOSECOND};

/// The arguments of a call, as the kernel gets them.
pub type Arguments = [u64; 6];

/// What is to be done for a call.
#[derive(Debug, Eq, PartialEq)]
pub enum Answer {
    /// The real kernel does it.
    Real,
    /// It returns this, after this time.
    Return(i64, u64),
    /// It returns when the thread is woken.
    Wait,
    /// The thread lets others run, and it returns.
    GiveWay,
    /// It returns, after all cores have been interrupted.
    Barrier,
    /// The program ends.
    Exit(i64),
}

/// A thread that runs again.
#[derive(Debug, Eq, PartialEq)]
pub struct Woken {
    /// Which.
    pub thread: Thread,
    /// What its call returns.
    pub value: i64,
    /// From when on.
    pub at: u64,
}

/// Who waits for what.
#[derive(Default)]
pub struct Kernel {
    waiting: Vec<Waiting>,
    cores: usize,
    /// Words of random bytes that the program has been given.
    drawn: u64,
}

struct Waiting {
    thread: Thread,
    futex: Option<Futex>,
    deadline: Option<u64>,
}

struct Futex {
    address: u64,
    value: u32,
    bits: u32,
}

/// The time at which the program begins, in nanoseconds: some time that is not zero.
const EPOCH: u64 = 1_000_000_000_000;

const AGAIN: i64 = -(libc::EAGAIN as i64);
const NO_SUCH_FILE: i64 = -(libc::ENOENT as i64);

/// Tells of the real process, and is different in each run.
const STATUS: &[u8] = b"/proc/self/status\0";
const TIMED_OUT: i64 = -(libc::ETIMEDOUT as i64);

impl Kernel {
    /// The kernel of a machine with this number of cores.
    pub fn new(cores: usize) -> Kernel {
        Kernel { waiting: Vec::new(), cores, drawn: 0 }
    }

    /// Answers a call; the threads that it wakes are added.
    ///
    /// # Errors
    /// It is one that is not known here and may wait.
    pub fn call(
        &mut self,
        thread: Thread,
        number: u64,
        arguments: Arguments,
        now: u64,
        memory: &Memory,
        woken: &mut Vec<Woken>,
    ) -> anyhow::Result<Answer> {
        let number = i64::try_from(number)?;
        Ok(match number {
            libc::SYS_futex => return self.futex(thread, arguments, now, memory, woken),
            libc::SYS_clock_gettime => {
                let time = EPOCH + now / NANOSECOND;
                let (seconds, nanoseconds) = (time / 1_000_000_000, time % 1_000_000_000);
                write(memory, arguments[1], &seconds.to_le_bytes())?;
                write(memory, arguments[1] + 8, &nanoseconds.to_le_bytes())?;
                Answer::Return(0, costs::CLOCK)
            }
            libc::SYS_nanosleep => {
                self.sleep(thread, now.saturating_add(time(memory, arguments[0])?))
            }
            libc::SYS_clock_nanosleep => {
                let is_absolute = arguments[1] & libc::TIMER_ABSTIME as u64 != 0;
                let time = time(memory, arguments[2])?;
                self.sleep(
                    thread,
                    if is_absolute { since_start(time) } else { now.saturating_add(time) },
                )
            }
            libc::SYS_sched_yield => Answer::GiveWay,
            libc::SYS_membarrier => Answer::Barrier,
            libc::SYS_sched_getaffinity => {
                let mask = u128::MAX >> (u128::BITS as usize - self.cores);
                write(memory, arguments[2], &mask.to_le_bytes())?;
                Answer::Return(size_of_val(&mask) as i64, costs::CALL)
            }
            libc::SYS_getrandom => self.draw(arguments, memory)?,
            libc::SYS_openat if is_status(memory, arguments[1]) => {
                Answer::Return(NO_SUCH_FILE, costs::CALL)
            }
            libc::SYS_exit_group => Answer::Exit(arguments[0].cast_signed()),
            libc::SYS_poll
            | libc::SYS_ppoll
            | libc::SYS_select
            | libc::SYS_epoll_wait
            | libc::SYS_epoll_pwait
            | libc::SYS_wait4
            | libc::SYS_pause => {
                bail!("the program waits by system call {number}, which is not modelled")
            }
            _ => Answer::Real,
        })
    }

    /// Gives random bytes, the same in each run.
    fn draw(&mut self, arguments: Arguments, memory: &Memory) -> anyhow::Result<Answer> {
        let mut bytes = vec![0; usize::try_from(arguments[1])?];
        for word in bytes.chunks_mut(8) {
            word.copy_from_slice(&mix(self.drawn).to_le_bytes()[..word.len()]);
            self.drawn += 1;
        }
        write(memory, arguments[0], &bytes)?;
        Ok(Answer::Return(i64::try_from(bytes.len())?, costs::CALL))
    }

    fn futex(
        &mut self,
        thread: Thread,
        [address, operation, value, timeout, _, bits]: Arguments,
        now: u64,
        memory: &Memory,
        woken: &mut Vec<Woken>,
    ) -> anyhow::Result<Answer> {
        let flags = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
        let operation = operation as i32 & !flags;
        let bits = match operation {
            libc::FUTEX_WAIT_BITSET | libc::FUTEX_WAKE_BITSET => bits as u32,
            _ => u32::MAX,
        };
        match operation {
            libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
                let value = value as u32;
                if half(memory, address)? != value {
                    return Ok(Answer::Return(AGAIN, costs::CALL));
                }
                let time = if timeout == 0 { None } else { Some(time(memory, timeout)?) };
                let deadline = time.map(|time| match operation {
                    libc::FUTEX_WAIT => now.saturating_add(time),
                    _ => since_start(time),
                });
                let futex = Some(Futex { address, value, bits });
                self.waiting.push(Waiting { thread, futex, deadline });
                Ok(Answer::Wait)
            }
            libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
                let count = self.wake(address, value, bits, now, woken);
                Ok(Answer::Return(count, costs::CALL + count.cast_unsigned() * costs::WAKE))
            }
            _ => bail!("the program uses futex operation {operation}, which is not modelled"),
        }
    }

    /// Wakes up to `most` threads that wait for a word, those first that came first; returns how
    /// many.
    fn wake(
        &mut self,
        address: u64,
        most: u64,
        bits: u32,
        now: u64,
        woken: &mut Vec<Woken>,
    ) -> i64 {
        let mut left = most;
        let mut is_woken = |futex: &Futex| {
            let is_woken = left > 0 && futex.address == address && futex.bits & bits != 0;
            left -= u64::from(is_woken);
            is_woken
        };
        let before = woken.len();
        let sleepers =
            self.waiting.extract_if(.., |one| one.futex.as_ref().is_some_and(&mut is_woken));
        woken.extend(sleepers.map(|one| one.wakes(0, now)));
        (woken.len() - before) as i64
    }

    /// Wakes those whose word the real kernel has changed, as it does when a thread ends.
    ///
    /// # Errors
    /// A word is not there any more.
    pub fn thread_ended(
        &mut self,
        now: u64,
        memory: &Memory,
        woken: &mut Vec<Woken>,
    ) -> anyhow::Result<()> {
        let mut changed = Vec::new();
        for Futex { address, value, .. } in self.waiting.iter().filter_map(|one| one.futex.as_ref())
        {
            if half(memory, *address)? != *value {
                changed.push(*address);
            }
        }
        for address in changed {
            self.wake(address, u64::MAX, u32::MAX, now, woken);
        }
        Ok(())
    }

    fn sleep(&mut self, thread: Thread, deadline: u64) -> Answer {
        self.waiting.push(Waiting { thread, futex: None, deadline: Some(deadline) });
        Answer::Wait
    }

    /// The thread whose time is over first, if it is so at this time, or at any if none is given.
    pub fn timed_out(&mut self, now: Option<u64>) -> Option<Woken> {
        let deadlines = self.waiting.iter().enumerate();
        let deadlines = deadlines.filter_map(|(index, one)| Some((one.deadline?, index)));
        let (deadline, index) = deadlines.min()?;
        if now.is_some_and(|now| deadline > now) {
            return None;
        }
        let one = self.waiting.remove(index);
        let value = if one.futex.is_some() { TIMED_OUT } else { 0 };
        Some(one.wakes(value, deadline))
    }
}

impl Waiting {
    fn wakes(&self, value: i64, now: u64) -> Woken {
        Woken { thread: self.thread, value, at: now.saturating_add(costs::WAKING) }
    }
}

/// Whether the path [`STATUS`] is at the address.
fn is_status(memory: &Memory, address: u64) -> bool {
    let mut bytes = [0; STATUS.len()];
    memory.read(address, &mut bytes) && bytes == *STATUS
}

fn half(memory: &Memory, address: u64) -> anyhow::Result<u32> {
    let mut bytes = [0; 4];
    ensure!(memory.read(address, &mut bytes), "there is no memory at {address:#x}");
    Ok(u32::from_le_bytes(bytes))
}

fn write(memory: &Memory, address: u64, bytes: &[u8]) -> anyhow::Result<()> {
    ensure!(memory.write(address, bytes), "there is no memory at {address:#x}");
    Ok(())
}

/// A time that the program has written down, in picoseconds.
fn time(memory: &Memory, address: u64) -> anyhow::Result<u64> {
    let (seconds, nanoseconds) = (memory.word(address)?, memory.word(address + 8)?);
    Ok(seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds).saturating_mul(NANOSECOND))
}

/// A time of the program's clock as one of the machine.
fn since_start(time: u64) -> u64 {
    time.saturating_sub(EPOCH * NANOSECOND)
}

#[cfg(test)]
mod tests {
    use nix::libc;

    use super::{Answer, Arguments, Kernel, NO_SUCH_FILE, STATUS, TIMED_OUT, Woken};
    use crate::coherence::costs::{self, NANOSECOND};
    use crate::coherence::traced::memory::Memory;

    const WORD: u64 = 0x100;
    const TIME: u64 = 0x200;

    struct Machine {
        kernel: Kernel,
        memory: Memory,
        woken: Vec<Woken>,
    }

    impl Machine {
        fn new() -> Machine {
            let file = tempfile::tempfile().expect("there is room");
            file.set_len(4096).expect("there is room");
            Machine { kernel: Kernel::new(3), memory: Memory::new(file), woken: Vec::new() }
        }

        fn call(&mut self, thread: usize, number: i64, arguments: Arguments, now: u64) -> Answer {
            let Machine { kernel, memory, woken } = self;
            let answer = kernel.call(thread, number as u64, arguments, now, memory, woken);
            answer.expect("the call is known")
        }

        fn wait(&mut self, thread: usize, value: u64, timeout: u64) -> Answer {
            let operation = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as u64;
            self.call(thread, libc::SYS_futex, [WORD, operation, value, timeout, 0, 0], 0)
        }

        fn wake(&mut self, count: u64, now: u64) -> Answer {
            let operation = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as u64;
            self.call(9, libc::SYS_futex, [WORD, operation, count, 0, 0, 0], now)
        }

        fn set(&self, address: u64, value: u64) {
            assert!(self.memory.write(address, &value.to_le_bytes()));
        }

        fn threads(&mut self) -> Vec<usize> {
            self.woken.drain(..).map(|woken| woken.thread).collect()
        }
    }

    #[test]
    fn who_waits_for_a_word_is_woken_in_turn() {
        let mut machine = Machine::new();
        assert!(matches!(machine.wait(0, 5, 0), Answer::Return(error, _) if error < 0));
        for thread in 0..3 {
            assert_eq!(machine.wait(thread, 0, 0), Answer::Wait);
        }
        assert_eq!(machine.wake(2, 50), Answer::Return(2, costs::CALL + 2 * costs::WAKE));
        assert_eq!(machine.woken[0], Woken { thread: 0, value: 0, at: 50 + costs::WAKING });
        assert_eq!(machine.threads(), [0, 1]);
        assert_eq!(machine.wake(2, 50), Answer::Return(1, costs::CALL + costs::WAKE));
        assert_eq!(machine.wake(2, 50), Answer::Return(0, costs::CALL));
    }

    #[test]
    fn a_wait_ends_at_its_deadline() {
        let mut machine = Machine::new();
        machine.set(TIME + 8, 30);
        assert_eq!(machine.wait(0, 0, TIME), Answer::Wait);
        assert_eq!(machine.call(1, libc::SYS_nanosleep, [TIME, 0, 0, 0, 0, 0], 5), Answer::Wait);
        assert_eq!(machine.wait(2, 0, 0), Answer::Wait);
        let deadline = 30 * NANOSECOND;
        assert_eq!(machine.kernel.timed_out(Some(deadline - 1)), None);
        let woken = Woken { thread: 0, value: TIMED_OUT, at: deadline + costs::WAKING };
        assert_eq!(machine.kernel.timed_out(Some(deadline)), Some(woken));
        let woken = Woken { thread: 1, value: 0, at: deadline + 5 + costs::WAKING };
        assert_eq!(machine.kernel.timed_out(None), Some(woken));
        assert_eq!(machine.kernel.timed_out(None), None);
    }

    #[test]
    fn a_deadline_is_one_of_the_clock_that_the_program_reads() {
        let mut machine = Machine::new();
        let now = 7 * NANOSECOND;
        machine.call(0, libc::SYS_clock_gettime, [1, TIME, 0, 0, 0, 0], now);
        let operation = libc::FUTEX_WAIT_BITSET as u64;
        let all = u64::from(u32::MAX);
        let arguments = [WORD, operation, 0, TIME, 0, all];
        assert_eq!(machine.call(0, libc::SYS_futex, arguments, 0), Answer::Wait);
        let woken = machine.kernel.timed_out(None).expect("it has a deadline");
        assert_eq!(woken.at, now + costs::WAKING);
    }

    #[test]
    fn the_end_of_a_thread_wakes_who_waits_for_it() {
        let mut machine = Machine::new();
        machine.wait(0, 0, 0);
        let Machine { kernel, memory, woken } = &mut machine;
        kernel.thread_ended(3, memory, woken).expect("the word is there");
        assert!(woken.is_empty());
        assert!(memory.write(WORD, &[1]));
        kernel.thread_ended(3, memory, woken).expect("the word is there");
        assert_eq!(machine.threads(), [0]);
    }

    #[test]
    fn random_bytes_are_the_same_in_each_run() {
        let words = || {
            let mut machine = Machine::new();
            let read = [(WORD, 8), (WORD + 8, 8), (WORD + 16, 3)].map(|(at, length)| {
                let answer = machine.call(0, libc::SYS_getrandom, [at, length, 0, 0, 0, 0], 0);
                assert_eq!(answer, Answer::Return(length as i64, costs::CALL));
                machine.memory.word(at).expect("it is there")
            });
            assert!(read[2] < 1 << 24, "no more is written than was asked for");
            read
        };
        let one = words();
        assert_eq!(one, words());
        assert!(one[0] != one[1] && one[0] != 0);
    }

    #[test]
    fn what_the_real_process_is_like_is_not_known() {
        let mut machine = Machine::new();
        assert!(machine.memory.write(WORD, STATUS));
        let open = [libc::AT_FDCWD as u64, WORD, 0, 0, 0, 0];
        let answer = machine.call(0, libc::SYS_openat, open, 0);
        assert_eq!(answer, Answer::Return(NO_SUCH_FILE, costs::CALL));
        assert!(machine.memory.write(WORD, b"/proc/self/maps\0\0\0"));
        assert_eq!(machine.call(0, libc::SYS_openat, open, 0), Answer::Real);
    }

    #[test]
    fn the_program_sees_the_cores_of_the_model() {
        let mut machine = Machine::new();
        machine.call(0, libc::SYS_sched_getaffinity, [0, 16, TIME, 0, 0, 0], 0);
        assert_eq!(machine.memory.word(TIME).expect("it is there"), 0b111);
        assert_eq!(machine.call(0, libc::SYS_getpid, [0; 6], 0), Answer::Real);
    }
}
