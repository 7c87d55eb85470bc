//! What switches and stacks cost.
//!
//! `cargo run --release -p coact-fiber --example round_trip`
//!
//! A disturbance of the machine only ever adds time, so each figure is the best of several rounds.
//! With a word and a number as arguments (`resume 1000000`), it does that alone, that number of
//! times, for tools that count instructions: the difference between two numbers is what the steps
//! cost.

use std::env;
use std::hint::black_box;
use std::time::Instant;

use coact_fiber::{DEFAULT_STACK_SIZE, Fiber, FiberLabel, ResumeOutcome, Stack, suspend};

const ROUNDS: usize = 9;
const COUNT: u64 = 1_000_000;

/// Something that is done a given number of times.
type Steps = fn(u64);

/// What is measured, by name.
const STEPS: [(&str, Steps); 5] = [
    ("nothing", nothing),
    ("resume and suspend", resume),
    ("resume and suspend, one of 1000 fibers", resume_many),
    ("new fiber, resume, end, drop", whole),
    ("take a stack and drop it", take),
];

const LABEL: FiberLabel = FiberLabel { name: "example", number: 1, advice: "" };

fn stack() -> Stack {
    Stack::take(DEFAULT_STACK_SIZE).expect("this system has stacks")
}

/// A fiber that counts down.
fn countdown() -> Fiber<u64, u64> {
    Fiber::new(stack(), LABEL, |mut left: u64| {
        while left > 0 {
            left = suspend(left - 1);
        }
    })
}

fn nothing(count: u64) {
    (0..count).for_each(|step| _ = black_box(step));
}

fn resume(count: u64) {
    let mut fiber = countdown();
    let mut left = count;
    while let ResumeOutcome::Suspended(next) = fiber.resume(black_box(left)) {
        left = next;
    }
}

fn resume_many(count: u64) {
    let mut fibers: Vec<_> = (0..1000).map(|_| countdown()).collect();
    for _ in 0..count.div_ceil(1000) {
        for fiber in &mut fibers {
            black_box(fiber.resume(black_box(2)));
        }
    }
}

fn whole(count: u64) {
    for step in 0..count {
        let mut fiber = Fiber::<u64, ()>::new(stack(), LABEL, |step| _ = black_box(step));
        black_box(fiber.resume(step));
    }
}

fn take(count: u64) {
    (0..count).for_each(|_| drop(black_box(stack())));
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [name, count] = &arguments[..] {
        let (_, steps) = STEPS.iter().find(|(known, _)| known == name).expect("a known name");
        return steps(count.parse().expect("a number"));
    }
    for (name, steps) in STEPS {
        let round = |_| {
            let start = Instant::now();
            steps(COUNT);
            start.elapsed().as_secs_f64() * 1e9 / COUNT as f64
        };
        let best = (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min);
        println!("{best:8.2} ns  {name}");
    }
}
