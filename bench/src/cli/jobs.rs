//! Work that is done for some things at once, and told in their order.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Does the work for each thing, for some at once (as many as there are processors, if no number is
/// given), and then tells its result, in the order of the things. `work` also gets the number of
/// the thread that does it.
pub fn in_order<T: Sync, R: Send>(
    things: &[T],
    at_once: Option<NonZeroUsize>,
    work: impl Fn(usize, &T) -> R + Sync,
    mut tell: impl FnMut(&T, R) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let at_once = at_once.or(std::thread::available_parallelism().ok()).map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let (send, done) = mpsc::channel();
    std::thread::scope(|scope| {
        for thread in 0..at_once.min(things.len()) {
            let (send, work, next) = (send.clone(), &work, &next);
            scope.spawn(move || {
                // ORDERING: Relaxed. Each number is taken once, and nothing else goes with it.
                while let Some((index, thing)) = at(things, next.fetch_add(1, Ordering::Relaxed)) {
                    // The receiver is gone if something could not be told: then nothing more is
                    // wanted.
                    if send.send((index, work(thread, thing))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        tell_in_order(things, done, &mut tell)
    })
}

fn at<T>(things: &[T], index: usize) -> Option<(usize, &T)> {
    things.get(index).map(|thing| (index, thing))
}

/// Tells each result when all before it are there.
fn tell_in_order<T, R>(
    things: &[T],
    done: mpsc::Receiver<(usize, R)>,
    tell: &mut impl FnMut(&T, R) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let bar = bar(things.len());
    let (mut early, mut told) = (HashMap::new(), 0);
    for (index, result) in done {
        bar.inc(1);
        early.insert(index, result);
        while let Some(result) = early.remove(&told) {
            bar.suspend(|| tell(&things[told], result))?;
            told += 1;
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// A line on standard error; none where that is not a terminal.
fn bar(things: usize) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(4);
    let bar = ProgressBar::with_draw_target(Some(things as u64), target);
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  about {eta} left");
    bar.set_style(style.expect("the template is right"));
    bar.tick();
    bar
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::in_order;

    #[test]
    fn results_are_told_in_order_up_to_the_first_that_cannot_be() {
        let things: Vec<u32> = (0..100).collect();
        let mut told = Vec::new();
        let tell = |thing: &u32, result: u32| {
            told.push(*thing);
            anyhow::ensure!(result < 50, "that is too much");
            Ok(())
        };
        let done = in_order(&things, NonZeroUsize::new(3), |_, thing| *thing, tell);
        assert!(done.is_err());
        assert_eq!(told, (0..=50).collect::<Vec<_>>());
    }
}
