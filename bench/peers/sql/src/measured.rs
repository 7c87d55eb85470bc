//! What a run has taken.

use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// A run that has begun.
pub struct Begun {
    at: Instant,
    processor: Duration,
}

impl Begun {
    /// Looks at the clocks.
    pub fn now() -> anyhow::Result<Begun> {
        Ok(Begun { processor: processor_time()?, at: Instant::now() })
    }

    /// Says what has passed since, as a line of JSON.
    pub fn end(&self, count: u64) -> anyhow::Result<serde_json::Value> {
        let seconds = self.at.elapsed().as_secs_f64();
        let processor = (processor_time()? - self.processor).as_secs_f64();
        Ok(serde_json::json!({
            "count": count,
            "seconds": seconds,
            "processor_seconds": processor,
        }))
    }
}

/// Of this process: that of a server is not in it.
fn processor_time() -> anyhow::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(micros.cast_unsigned()))
}
