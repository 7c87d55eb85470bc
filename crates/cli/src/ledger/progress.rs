//! The progress bar: on standard error, and only if that is a terminal.

use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Lines between two updates of the bar.
const STRIDE: u64 = 64;

/// A bar over the bytes of an input, or a spinner where their number is unknown.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar with a label; it disappears when it is dropped.
    pub fn new(label: &'static str, size: Option<u64>) -> Self {
        // indicatif hides the bar by itself when standard error is not a terminal.
        let bar = ProgressBar::with_draw_target(size, ProgressDrawTarget::stderr());
        let template = match size {
            Some(_) => {
                "{prefix:>12} {bar:32.cyan/dim} {percent:>3} %  {msg} lines  {bytes_per_sec}  {eta} left"
            }
            None => "{prefix:>12} {spinner} {msg} lines  {bytes}  {bytes_per_sec}",
        };
        let style = ProgressStyle::with_template(template).expect("the template is valid");
        bar.set_style(style.progress_chars("━╸─"));
        bar.set_prefix(label);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar }
    }

    /// Tells how far the reading is.
    pub fn at(&self, line: u64, bytes: u64) {
        if line.is_multiple_of(STRIDE) {
            self.bar.set_position(bytes);
            if line.is_multiple_of(64 * STRIDE) && !self.bar.is_hidden() {
                self.bar.set_message(HumanCount(line).to_string());
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
