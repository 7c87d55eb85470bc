//! Pins threads to processors.

/// Pins the current thread to one of the processors that it may run on: the one at `index`, counted
/// from the start again behind the last. Returns whether it is pinned, which only Linux can do.
pub fn pin_current_thread(index: usize) -> bool {
    backend::pin_current_thread(index)
}

#[cfg(target_os = "linux")]
mod backend {
    use std::mem::size_of;

    use libc::{CPU_ISSET, CPU_SET, CPU_SETSIZE, cpu_set_t};

    /// The calling thread.
    const THIS: libc::pid_t = 0;

    pub(super) fn pin_current_thread(index: usize) -> bool {
        let Some(set) = allowed() else { return false };
        let processors: Vec<usize> = (0..CPU_SETSIZE as usize)
            // SAFETY: the set has `CPU_SETSIZE` bits.
            .filter(|processor| unsafe { CPU_ISSET(*processor, &set) })
            .collect();
        let Some(chosen) = processors.get(index % processors.len().max(1)) else { return false };
        let mut one = empty();
        // SAFETY: it is one of the bits of a set; the call reads a set of the size that it is told.
        unsafe {
            CPU_SET(*chosen, &mut one);
            libc::sched_setaffinity(THIS, size_of::<cpu_set_t>(), &one) == 0
        }
    }

    /// Returns the processors that the calling thread may run on, unless the kernel knows more than
    /// fit into a set.
    pub(super) fn allowed() -> Option<cpu_set_t> {
        let mut set = empty();
        // SAFETY: the call writes a set of the size that it is told.
        let got = unsafe { libc::sched_getaffinity(THIS, size_of::<cpu_set_t>(), &mut set) };
        (got == 0).then_some(set)
    }

    fn empty() -> cpu_set_t {
        // SAFETY: an array of integers, for which zero is a value.
        unsafe { std::mem::zeroed() }
    }
}

#[cfg(not(target_os = "linux"))]
mod backend {
    pub(super) fn pin_current_thread(_index: usize) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::thread;

    use super::backend::allowed;
    use super::pin_current_thread;

    fn allowed_count() -> i32 {
        let set = allowed().expect("the kernel tells");
        // SAFETY: the kernel has filled the set.
        unsafe { libc::CPU_COUNT(&set) }
    }

    #[test]
    fn a_pinned_thread_has_one_processor() {
        for index in [0, 1, 1_000_003] {
            let pinned = thread::spawn(move || (pin_current_thread(index), allowed_count()));
            assert_eq!(pinned.join().unwrap(), (true, 1));
        }
    }
}
