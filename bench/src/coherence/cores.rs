//! A machine of some cores, each with a clock, and which thread runs where.
//!
//! The core whose clock is least goes on, by one instruction. A thread that becomes ready gets an
//! idle core, the one that it ran on last if that is free; else it waits in line. So there is no
//! balancing between cores, which a kernel does less often than these runs are long.

use std::collections::VecDeque;

use super::costs;

/// A thread's number, in the order of their creation.
pub type Thread = usize;

/// The cores, and the threads that are ready to run.
pub struct Cores {
    cores: Vec<Core>,
    /// Threads that are ready and have no core, and since when.
    ready: VecDeque<(Thread, u64)>,
    /// Where each thread ran last.
    last: Vec<Option<usize>>,
}

#[derive(Clone, Copy, Default)]
struct Core {
    clock: u64,
    thread: Option<Thread>,
    /// When the thread's turn ends, if others wait.
    turn_ends: u64,
}

impl Cores {
    /// A machine without threads.
    pub fn new(cores: usize) -> Cores {
        Cores { cores: vec![Core::default(); cores], ready: VecDeque::new(), last: Vec::new() }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.cores.len()
    }

    /// The core that goes on now, and its thread; none if all threads wait.
    pub fn next(&self) -> Option<(usize, Thread)> {
        let busy = self.cores.iter().enumerate();
        let busy = busy.filter_map(|(core, state)| Some((state.clock, core, state.thread?)));
        busy.min().map(|(_, core, thread)| (core, thread))
    }

    /// A core's time.
    pub fn clock(&self, core: usize) -> u64 {
        self.cores[core].clock
    }

    /// Lets time pass on a core; a thread whose turn is over goes to the end of the line.
    pub fn spend(&mut self, core: usize, time: u64) {
        let state = &mut self.cores[core];
        state.clock += time;
        if state.clock >= state.turn_ends && !self.ready.is_empty() {
            self.give_way(core);
        }
    }

    /// Puts a core's thread at the end of the line, if others wait.
    pub fn give_way(&mut self, core: usize) {
        if let (Some(thread), false) = (self.cores[core].thread, self.ready.is_empty()) {
            self.ready.push_back((thread, self.cores[core].clock));
            self.leave(core);
        }
    }

    /// A core's thread does not run any more: it waits, or has ended.
    pub fn leave(&mut self, core: usize) {
        self.cores[core].thread = None;
        if let Some((thread, since)) = self.ready.pop_front() {
            self.run(core, thread, since + costs::SWITCH);
        }
    }

    /// A thread, which may be a new one, can run from this time on.
    pub fn make_ready(&mut self, thread: Thread, now: u64) {
        self.last.resize(self.last.len().max(thread + 1), None);
        let is_idle = |core: &usize| self.cores[*core].thread.is_none();
        let unused = |core: &usize| !self.last.contains(&Some(*core));
        let all = 0..self.cores.len();
        let choice = self.last[thread].filter(is_idle);
        let choice = choice.or_else(|| all.clone().filter(is_idle).find(unused));
        match choice.or_else(|| all.clone().find(is_idle)) {
            Some(core) => self.run(core, thread, now),
            None => self.ready.push_back((thread, now)),
        }
    }

    fn run(&mut self, core: usize, thread: Thread, from: u64) {
        let state = &mut self.cores[core];
        state.thread = Some(thread);
        state.clock = state.clock.max(from);
        state.turn_ends = state.clock + costs::TURN;
        self.last[thread] = Some(core);
    }

    /// All cores but this one that run a thread lose this time: they are interrupted.
    pub fn interrupt_others(&mut self, core: usize, time: u64) {
        let others = self.cores.iter_mut().enumerate().filter(|(other, _)| *other != core);
        others
            .filter(|(_, other)| other.thread.is_some())
            .for_each(|(_, other)| other.clock += time);
    }
}

#[cfg(test)]
mod tests {
    use super::Cores;
    use crate::coherence::costs;

    #[test]
    fn the_core_that_is_behind_goes_on() {
        let mut cores = Cores::new(2);
        assert_eq!(cores.next(), None);
        cores.make_ready(0, 0);
        cores.make_ready(1, 5);
        assert_eq!(cores.next(), Some((0, 0)));
        cores.spend(0, 10);
        assert_eq!(cores.next(), Some((1, 1)));
        cores.spend(1, 10);
        assert_eq!((cores.clock(0), cores.clock(1)), (10, 15));
        assert_eq!(cores.next(), Some((0, 0)));
    }

    #[test]
    fn a_thread_comes_back_to_its_core_if_that_is_idle() {
        let mut cores = Cores::new(3);
        cores.make_ready(0, 0);
        cores.make_ready(1, 0);
        cores.leave(1);
        cores.make_ready(2, 7);
        assert_eq!(cores.clock(2), 7, "a new thread gets an unused core");
        cores.make_ready(1, 9);
        assert_eq!(cores.clock(1), 9);
    }

    #[test]
    fn threads_without_a_core_take_turns() {
        let mut cores = Cores::new(1);
        cores.make_ready(0, 0);
        cores.make_ready(1, 0);
        assert_eq!(cores.next(), Some((0, 0)));
        cores.spend(0, costs::TURN);
        assert_eq!(cores.next(), Some((0, 1)));
        cores.give_way(0);
        assert_eq!(cores.next(), Some((0, 0)));
        cores.leave(0);
        assert_eq!(cores.next(), Some((0, 1)));
        cores.give_way(0);
        assert_eq!(cores.next(), Some((0, 1)), "no other thread waits");
        cores.leave(0);
        assert_eq!(cores.next(), None);
    }

    #[test]
    fn who_waits_is_not_interrupted() {
        let mut cores = Cores::new(3);
        cores.make_ready(0, 0);
        cores.make_ready(1, 0);
        cores.interrupt_others(0, 4);
        assert_eq!([0, 1, 2].map(|core| cores.clock(core)), [0, 4, 0]);
    }
}
