//! Which threads run the behaviours of a runtime.

use crate::panic::drop_quietly;
use crate::sched::context::Entered;
use crate::sched::shared::Shared;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Host {
    /// Workers, which must not be blocked.
    Workers,
    /// The one thread that calls the [pump](super::Pump).
    Pump,
    /// The threads of the [blocking pool](super::blocking): a behaviour may block.
    Blocking,
}

impl Shared {
    /// Runs the life of one of the runtime's threads, inside of what the user wants
    /// [around it](super::Builder::around_threads). In any case it is run, and once.
    pub(crate) fn around_thread(&self, life: impl FnOnce()) {
        // What its hooks do, and where they fail, is this runtime's.
        let _entered = Entered::new(self.id);
        let Some(around) = &self.config.around_threads else { return life() };
        let mut life = Some(life);
        drop_quietly(|| {
            around(&mut || {
                if let Some(life) = life.take() {
                    life();
                }
            });
        });
        if let Some(life) = life {
            life();
        }
    }
}
