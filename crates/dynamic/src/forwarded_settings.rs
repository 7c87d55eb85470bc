//! The settings that all builders of this crate pass on to the one of actors.

/// The methods of a builder with a field `spawn`: a
/// [`Spawn<DynActor>`](coact_actor::actor::Spawn).
macro_rules! forwarded_settings {
    () => {
        /// Sets where the actor runs: see [`Spawn::on`](coact_actor::actor::Spawn::on).
        pub fn on(mut self, host: impl Into<coact_actor::system::Host>) -> Self {
            self.spawn = self.spawn.on(host);
            self
        }

        /// Makes the actor a member of a group: see
        /// [`Spawn::in_group`](coact_actor::actor::Spawn::in_group).
        pub fn in_group(mut self, group: &coact_core::Group) -> Self {
            self.spawn = self.spawn.in_group(group);
            self
        }

        /// Sets the mailbox: see [`Spawn::mailbox`](coact_actor::actor::Spawn::mailbox). Skipped
        /// messages count like those that wait. (Where the oldest is dropped, the skipped ones
        /// have as much room again.)
        pub fn mailbox(mut self, mailbox: coact_actor::mailbox::Mailbox) -> Self {
            self.spawn = self.spawn.mailbox(mailbox);
            self
        }

        /// Gives the actor a name: see [`Spawn::named`](coact_actor::actor::Spawn::named).
        pub fn named(mut self, name: impl Into<std::sync::Arc<str>>) -> Self {
            self.spawn = self.spawn.named(name);
            self
        }
    };
}

pub(crate) use forwarded_settings;
