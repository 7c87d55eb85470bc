//! The threads that run the behaviours of a runtime: their settings and hooks.

use std::thread;

use crate::current::EnteredRuntime;
use crate::panic::drop_quietly;
use crate::sched::runtime_shared::RuntimeShared;

impl RuntimeShared {
    /// The settings of one of the runtime's threads that run behaviours.
    pub(crate) fn thread_settings(&self, name: String) -> thread::Builder {
        let settings = thread::Builder::new().name(name);
        match self.config.stack_size {
            None => settings,
            Some(bytes) => settings.stack_size(bytes),
        }
    }

    /// Runs the work of such a thread between the user's hooks, and inside its
    /// [wrapper](Self::around_thread).
    pub(crate) fn between_hooks(&self, work: impl FnOnce()) {
        self.around_thread(|| {
            call_hook(self.config.on_start.as_deref());
            work();
            call_hook(self.config.on_stop.as_deref());
        });
    }

    /// Runs the whole of one of the runtime's threads inside the user's wrapper. It runs once, in
    /// any case.
    pub(crate) fn around_thread(&self, life: impl FnOnce()) {
        // What its hooks do, and their failures, belong to this runtime.
        let _entered = EnteredRuntime::new(self.id);
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

/// Calls a hook of the user, if there is one.
pub(crate) fn call_hook(hook: Option<&(dyn Fn() + Send + Sync)>) {
    if let Some(hook) = hook {
        drop_quietly(hook);
    }
}
