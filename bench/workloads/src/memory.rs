//! Memory of a process, as the operating system counts it.
//!
//! The peak is of all that is resident. What is drawn over time is private memory: heap and stacks,
//! without the pages of program files, which say how many workloads a program contains, not what
//! one needs.
//!
//! Linux only; elsewhere there is no figure, and the reports say so with a dash.

use std::time::{Duration, Instant};

use super::workload::Measured;

const PEAK: &str = "VmHWM:";
const NOW: &str = "VmRSS:";
const PRIVATE: &str = "RssAnon:";

/// The most that has been resident at once in this process, in bytes.
pub fn peak_resident() -> Option<u64> {
    bytes(&status("self")?, PEAK)
}

/// What is resident now in this process, in bytes.
pub fn resident() -> Option<u64> {
    bytes(&status("self")?, NOW)
}

/// Resident memory for this number.
pub fn places<T>(count: u64) -> Vec<Option<T>> {
    let mut all: Vec<Option<T>> = Vec::new();
    all.resize_with(count as usize, || None);
    all
}

/// The time and the resident memory before the making.
pub struct Begun {
    resident: Option<u64>,
    at: Instant,
}

impl Begun {
    /// Looks at both.
    pub fn now() -> Begun {
        Begun { resident: resident(), at: Instant::now() }
    }

    /// What `count` of them took until now.
    pub fn measured(&self, count: u64) -> Measured {
        let elapsed = self.at.elapsed();
        let growth = resident()
            .zip(self.resident)
            .map(|(after, before)| after.saturating_sub(before) as f64 / count as f64);
        Measured { bytes_each: growth, ..Measured::new(elapsed, count, 0) }
    }
}

/// Another process, looked at from time to time while it runs.
pub struct Watched {
    process: String,
    draw: bool,
    peak: Option<u64>,
    /// Seconds since the start, and bytes of private memory then.
    pub samples: Vec<(f64, u64)>,
}

impl Watched {
    /// A process; `draw` keeps every look.
    pub fn new(process: u32, draw: bool) -> Watched {
        Watched { process: process.to_string(), draw, peak: None, samples: Vec::new() }
    }

    /// Looks, this long after the start.
    pub fn look(&mut self, elapsed: Duration) {
        let Some(status) = status(&self.process) else { return };
        self.peak = self.peak.max(bytes(&status, PEAK));
        if let Some(now) = bytes(&status, PRIVATE).filter(|_| self.draw) {
            self.samples.push((elapsed.as_secs_f64(), now));
        }
    }

    /// The most that was resident up to the last look.
    pub fn peak(&self) -> Option<u64> {
        self.peak
    }
}

fn status(process: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{process}/status")).ok()
}

fn bytes(status: &str, key: &str) -> Option<u64> {
    let kib = status.lines().find_map(|line| line.strip_prefix(key))?;
    kib.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{NOW, PRIVATE, bytes, peak_resident, resident, status};

    #[test]
    fn the_peak_is_at_least_what_is_resident_now() {
        let now = resident().expect("Linux tells");
        assert!(now > 0 && peak_resident().expect("Linux tells") >= now);
    }

    #[test]
    fn private_memory_grows_with_the_heap_and_is_part_of_what_is_resident() {
        let look = |key| bytes(&status("self").expect("Linux tells"), key).expect("Linux tells");
        let before = look(PRIVATE);
        let heap = std::hint::black_box(vec![1_u8; 32 << 20]);
        let after = look(PRIVATE);
        assert!(after >= before + (24 << 20), "{before} {after}");
        assert!(look(NOW) > after, "the program itself is resident, too");
        drop(heap);
    }
}
