//! Fibers and their stacks beside what they should be.

#[cfg(unix)]
mod child;
mod ends;
#[cfg(unix)]
mod overflows;
#[cfg(target_os = "linux")]
mod pool;
mod switches;

use super::{Fiber, Stack, remaining_stack};
use crate::label::FiberLabel;

const LABEL: FiberLabel =
    FiberLabel { name: "`a test`", number: 7, advice: "give it more with `stack_size`" };

/// A small stack.
fn small() -> Stack {
    Stack::take(64 * 1024).unwrap()
}

/// A fiber on a small stack.
fn fiber<I: 'static, O: 'static>(body: impl FnOnce(I) + 'static) -> Fiber<I, O> {
    Fiber::new(small(), LABEL, body)
}

/// Calls `f` when no more than this much is left of the fiber's stack.
#[inline(never)]
fn down_to<R>(left: usize, f: &mut dyn FnMut() -> R) -> R {
    let mut frame = [1_u8; 256];
    std::hint::black_box(&mut frame);
    let result = if remaining_stack().unwrap() > left { down_to(left, f) } else { f() };
    std::hint::black_box(&mut frame);
    result
}

/// The message of a panic.
fn message(payload: Box<dyn std::any::Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => (*payload.downcast::<&str>().unwrap()).to_owned(),
    }
}
