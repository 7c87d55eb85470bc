//! Dekker's pattern over the two fences: as a loom model, and on real threads.

#[cfg(loom)]
mod models {
    use crate::asym::{heavy, light};
    use crate::shim::atomic::{AtomicUsize, Ordering};
    use crate::shim::sync::Arc;

    #[test]
    fn one_of_light_and_heavy_sees_the_other() {
        loom::model(|| {
            let frequent = Arc::new(AtomicUsize::new(0));
            let rare = Arc::new(AtomicUsize::new(0));
            let thread = loom::thread::spawn({
                let (frequent, rare) = (frequent.clone(), rare.clone());
                move || {
                    frequent.store(1, Ordering::Relaxed);
                    light();
                    rare.load(Ordering::Relaxed)
                }
            });
            rare.store(1, Ordering::Relaxed);
            heavy();
            let seen_by_rare = frequent.load(Ordering::Relaxed);
            let seen_by_frequent = thread.join().unwrap();
            assert!(seen_by_rare == 1 || seen_by_frequent == 1);
        });
    }

    /// The model above is worth something only if loom finds the failure without the fences.
    #[test]
    #[should_panic = "both missed"]
    fn without_fences_both_may_miss() {
        loom::model(|| {
            let frequent = Arc::new(AtomicUsize::new(0));
            let rare = Arc::new(AtomicUsize::new(0));
            let thread = loom::thread::spawn({
                let (frequent, rare) = (frequent.clone(), rare.clone());
                move || {
                    frequent.store(1, Ordering::Relaxed);
                    rare.load(Ordering::Relaxed)
                }
            });
            rare.store(1, Ordering::Relaxed);
            let seen_by_rare = frequent.load(Ordering::Relaxed);
            let seen_by_frequent = thread.join().unwrap();
            assert!(seen_by_rare == 1 || seen_by_frequent == 1, "both missed");
        });
    }
}

#[cfg(not(loom))]
mod threads {
    use std::sync::{Arc, Barrier};
    use std::thread;

    use crate::CachePadded;
    use crate::asym::{heavy, init, is_asymmetric, light};
    use crate::shim::atomic::{AtomicUsize, Ordering};

    #[test]
    fn the_decision_is_made_once() {
        let first = init();
        assert_eq!(first, init());
        assert_eq!(first, is_asymmetric());
    }

    /// Many rounds of Dekker's pattern. On a machine with one core it still checks the calls.
    #[test]
    fn one_of_light_and_heavy_sees_the_other() {
        const ROUNDS: usize = if cfg!(miri) { 20 } else { 20_000 };
        init();
        let frequent = Arc::new(CachePadded::new(AtomicUsize::new(0)));
        let rare = Arc::new(CachePadded::new(AtomicUsize::new(0)));
        let turn = Arc::new(CachePadded::new(AtomicUsize::new(0)));
        let start = Arc::new(Barrier::new(2));
        let other = thread::spawn({
            let (frequent, rare, turn, start) =
                (frequent.clone(), rare.clone(), turn.clone(), start.clone());
            move || {
                let mut seen = Vec::with_capacity(ROUNDS);
                start.wait();
                for round in 1..=ROUNDS {
                    // ORDERING: Acquire, partner is the Release store of the turn below.
                    crate::backoff::spin_until(|| turn.load(Ordering::Acquire) >= round);
                    frequent.store(round, Ordering::Relaxed);
                    light();
                    // The rare side may be in the next round already.
                    seen.push(rare.load(Ordering::Relaxed) >= round);
                }
                seen
            }
        });
        start.wait();
        let mut seen = Vec::with_capacity(ROUNDS);
        for round in 1..=ROUNDS {
            // ORDERING: Release, partner is the Acquire load of the turn above.
            turn.store(round, Ordering::Release);
            rare.store(round, Ordering::Relaxed);
            heavy();
            seen.push(frequent.load(Ordering::Relaxed) == round);
            crate::backoff::spin_until(|| frequent.load(Ordering::Relaxed) == round);
        }
        let others = other.join().unwrap();
        for (round, (a, b)) in seen.iter().zip(&others).enumerate() {
            assert!(a | b, "round {round}: both sides missed the other's store");
        }
    }

    /// A child of fork must still be able to make the call.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn the_registration_survives_fork() {
        init();
        // SAFETY: the child only calls `heavy` (atomics and a system call, both allowed after a
        // fork of a threaded process) and `_exit`.
        let child = unsafe { libc::fork() };
        if child == 0 {
            heavy();
            // SAFETY: ends the child without running the parent's exit handlers.
            unsafe { libc::_exit(0) };
        }
        assert!(child > 0, "fork failed");
        let mut status = -1;
        // SAFETY: `child` is our own child, and `status` outlives the call.
        let waited = unsafe { libc::waitpid(child, &mut status, 0) };
        assert_eq!(waited, child);
        assert_eq!(status, 0, "the child aborted in heavy()");
    }

    /// A filter that later refuses the call must break neither the process nor the pattern.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn the_call_may_be_taken_away() {
        if !init() {
            return;
        }
        // SAFETY: the child makes system calls, uses atomics, sleeps, and ends by `_exit`: all
        // allowed after a fork of a threaded process.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let refused = refuse_membarrier();
            heavy();
            light();
            heavy();
            let settled = !is_asymmetric() && !init();
            // SAFETY: ends the child without running the parent's exit handlers.
            unsafe { libc::_exit(if refused { i32::from(!settled) } else { 77 }) };
        }
        assert!(child > 0, "fork failed");
        let mut status = -1;
        // SAFETY: `child` is our own child, and `status` outlives the call.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert!(libc::WIFEXITED(status), "the child was killed: {status:#x}");
        match libc::WEXITSTATUS(status) {
            77 => eprintln!("skipped: this system lets a process have no filter"),
            ended => assert_eq!(ended, 0, "the mode is not symmetric"),
        }
    }

    /// Makes the kernel refuse the call from now on; returns whether it does.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn refuse_membarrier() -> bool {
        let instruction =
            |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
        let mut filter = [
            // The number of the call is at the start of what the filter sees.
            instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
            instruction(
                libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
                0,
                1,
                libc::SYS_membarrier as u32,
            ),
            instruction(
                libc::BPF_RET | libc::BPF_K,
                0,
                0,
                libc::SECCOMP_RET_ERRNO | libc::EPERM as u32,
            ),
            instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        // SAFETY: both calls take numbers, and the second a filter that outlives it.
        unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0
        }
    }
}
