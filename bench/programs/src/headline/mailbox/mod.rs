//! Many threads that are no part of the runtime send to one actor, as fast as they can.

mod actor;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

const SENDERS: u64 = 20;

/// Messages of each sender.
fn messages(setup: &Setup) -> u64 {
    setup.scaled(1_000_000)
}

fn all_messages(setup: &Setup) -> u64 {
    SENDERS * messages(setup)
}

/// Twenty senders, one receiver.
pub struct MailboxN1;

impl Workload for MailboxN1 {
    fn name(&self) -> &'static str {
        "mailbox-n1"
    }

    fn about(&self) -> &'static str {
        "20 plain threads send 1,000,000 messages each to one actor; a message"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("senders", SENDERS), ("messages", messages(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of messages", all_messages(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "a message each, into a mailbox without bounds",
            run: |setup| actor::run(setup, messages(setup)),
        }]
    }
}
