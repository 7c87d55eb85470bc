//! A line on the terminal: what runs now, and how long the rest may take.

use std::collections::HashMap;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Repetitions that are done, and an estimate of those to come.
pub struct Progress {
    bar: ProgressBar,
    /// The last time of each case.
    known: HashMap<String, Duration>,
    spent: Duration,
    done: u32,
}

impl Progress {
    /// A line on standard error for this many repetitions; none where that is not a terminal.
    pub fn over(repetitions: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(
            Some(repetitions as u64),
            ProgressDrawTarget::stderr_with_hz(4),
        );
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg}");
        bar.set_style(style.expect("the template is right"));
        Progress { bar, known: HashMap::new(), spent: Duration::ZERO, done: 0 }
    }

    /// Prints above it.
    pub fn print<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// A repetition begins.
    pub fn begin(&self, case: &str, round: usize, rounds: usize) {
        let left = self
            .left()
            .map_or_else(String::new, |left| format!("; about {} left", HumanDuration(left)));
        self.bar.set_message(format!("{case}, round {round} of {rounds}{left}"));
        self.bar.tick();
    }

    /// It has ended.
    pub fn end(&mut self, case: &str, took: Duration) {
        self.known.insert(case.to_owned(), took);
        self.spent += took;
        self.done += 1;
        self.bar.inc(1);
    }

    /// It need not be done.
    pub fn skip(&mut self) {
        self.bar.inc(1);
    }

    /// The rest takes as long a repetition as those so far did, taken each case once, for the
    /// rounds are alike.
    fn left(&self) -> Option<Duration> {
        let cases = u32::try_from(self.known.len()).ok().filter(|&cases| cases > 0)?;
        let each = self.known.values().sum::<Duration>() / cases;
        let to_do = self.bar.length()?.saturating_sub(self.bar.position());
        Some(each * u32::try_from(to_do).ok()?)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
