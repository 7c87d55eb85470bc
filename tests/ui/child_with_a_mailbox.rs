//! An actor with a mailbox as the child of a supervisor, which could not make it again.

use coact::actor::actor;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::supervise::Supervisor;

#[derive(Actor)]
struct Journal;

fn main() {
    let mut tree = Supervisor::one_for_one();
    let _ = tree.child(actor(Journal).mailbox(Mailbox::bounded(8)));
    let _ = tree.child(Journal);
    let _ = tree.spawn().start_child(|| Journal);
}
