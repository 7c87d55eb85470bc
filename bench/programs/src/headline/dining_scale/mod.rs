//! Philosophers who take their time: how much of the work is done at once?

mod behaviour;

use std::time::Duration;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Drawing, Group, Implementation, Measured, Setup, Unit, Workload};

#[derive(Clone, Copy)]
struct Size {
    philosophers: u64,
    /// Meals of each.
    meals: u64,
    /// What a meal takes.
    work: Duration,
}

impl Size {
    fn of(setup: &Setup) -> Size {
        Size { philosophers: 100, meals: setup.scaled(500), work: Duration::from_millis(1) }
    }

    fn all_meals(self) -> u64 {
        self.philosophers * self.meals
    }
}

/// A hundred of them, each between two others.
pub struct DiningScale;

impl Workload for DiningScale {
    fn name(&self) -> &'static str {
        "dining-scale"
    }

    fn about(&self) -> &'static str {
        "100 philosophers have 500 meals each, which take 1 ms and two forks; the whole"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn drawing(&self, setup: &Setup) -> Drawing {
        let size = Size::of(setup);
        Drawing::Workers { ideal: Some(size.all_meals() as f64 * size.work.as_secs_f64()) }
    }

    fn unit(&self) -> Unit {
        Unit::Seconds
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        let Size { philosophers, meals, work } = Size::of(setup);
        vec![("philosophers", philosophers), ("meals", meals), ("work", work.as_micros() as u64)]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of meals", Size::of(setup).all_meals(), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "a behaviour a meal; first the odd ones sit down, then the even",
                run: |setup| behaviour::alternating(setup, Size::of(setup)),
            },
            Implementation {
                name: "coact-sequential",
                about: "the same; they sit down one beside the other",
                run: |setup| behaviour::sequential(setup, Size::of(setup)),
            },
        ]
    }
}
