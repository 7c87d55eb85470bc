//! Resident memory of this process, as the operating system counts it.
//!
//! Linux only; elsewhere there is no figure, and the reports say so with a dash.

/// The most that has been resident at once, in bytes.
pub fn peak_resident() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// What is resident now, in bytes.
pub fn resident() -> Option<u64> {
    status_bytes("VmRSS:")
}

fn status_bytes(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix(key))?;
    kib.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{peak_resident, resident};

    #[test]
    fn the_peak_is_at_least_what_is_resident_now() {
        let now = resident().expect("Linux tells");
        assert!(now > 0 && peak_resident().expect("Linux tells") >= now);
    }
}
