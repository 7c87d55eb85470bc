//! A task each, waiting on its mailbox.

use tokio::sync::{mpsc, oneshot};

use super::{make, witnesses};
use crate::harness::{Measured, Setup};
use crate::workloads::runtime;

/// Makes them inside a task.
pub fn run(setup: &Setup, count: u64) -> Measured {
    let runtime = runtime::tokio(setup);
    let made = runtime.spawn(async move { make(count, actor) });
    let (mailboxes, mut measured) = runtime.block_on(made).expect("they are made");
    for witness in witnesses(count) {
        let (reply, answer) = oneshot::channel();
        mailboxes[witness as usize].as_ref().expect("all are made").send(reply).expect("it lives");
        measured.result += answer.blocking_recv().expect("it answers");
    }
    measured
}

fn actor(number: u64) -> mpsc::UnboundedSender<oneshot::Sender<u64>> {
    let (mailbox, mut requests) = mpsc::unbounded_channel::<oneshot::Sender<u64>>();
    tokio::spawn(async move {
        while let Some(reply) = requests.recv().await {
            // An asker that has gone away needs no reply.
            let _gone = reply.send(number);
        }
    });
    mailbox
}
