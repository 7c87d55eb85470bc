//! Which threads run the behaviours of a runtime.

use std::thread;

use crate::current::Entered;
use crate::panic::drop_quietly;
use crate::sched::shared::Shared;

impl Shared {
    /// The settings of one of the runtime's threads that run behaviours.
    pub(crate) fn thread_settings(&self, name: String) -> thread::Builder {
        let settings = thread::Builder::new().name(name);
        match self.config.stack_size {
            None => settings,
            Some(bytes) => settings.stack_size(bytes),
        }
    }

    /// Runs what such a thread is for between the user's hooks, and inside of what is [around it](Self::around_thread).
    pub(crate) fn between_hooks(&self, work: impl FnOnce()) {
        self.around_thread(|| {
            call_hook(self.config.on_start.as_deref());
            work();
            call_hook(self.config.on_stop.as_deref());
        });
    }

    /// Runs the life of one of the runtime's threads, inside of what the user wants
    /// around it. In any case it is run, and once.
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

/// Calls a hook of the user's, if there is one.
pub(crate) fn call_hook(hook: Option<&(dyn Fn() + Send + Sync)>) {
    if let Some(hook) = hook {
        drop_quietly(hook);
    }
}
