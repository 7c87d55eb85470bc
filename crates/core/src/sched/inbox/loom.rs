//! Models of the inbox: pushes against a take.

use std::ptr::{NonNull, null_mut};

use coact_sync::shim::atomic::AtomicPtr;
use coact_sync::shim::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::Inbox;
use crate::sched::loom::check;
use crate::task::{RunContext, Task, TaskPtr, TaskVTable};

/// A task whose contents loom checks.
#[repr(C)]
struct InboxLetter {
    task: Task,
    link: AtomicPtr<()>,
    number: UnsafeCell<usize>,
}

unsafe fn run(_: TaskPtr, _: &RunContext) -> Option<TaskPtr> {
    unreachable!("letters are only delivered")
}

unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: every task of these models is a letter.
    NonNull::from(unsafe { &task.cast::<InboxLetter>().as_ref().link })
}

static VTABLE: TaskVTable = TaskVTable::new(run, link, || "");

fn push(inbox: &Inbox, number: usize) {
    let letter = InboxLetter {
        task: Task { vtable: &VTABLE },
        link: AtomicPtr::new(null_mut()),
        number: UnsafeCell::new(0),
    };
    // SAFETY: no other thread knows the letter yet.
    letter.number.with_mut(|place| unsafe { *place = number });
    let letter = NonNull::from(Box::leak(Box::new(letter)));
    // SAFETY: the letter is live, and given away.
    unsafe { inbox.push(letter.cast()) };
}

fn take_all(inbox: &Inbox) -> Vec<usize> {
    let read = |task: TaskPtr| {
        // SAFETY: it was created from such a box, and is taken once.
        let letter = unsafe { Box::from_raw(task.cast::<InboxLetter>().as_ptr()) };
        // SAFETY: this thread owns the letter.
        letter.number.with(|number| unsafe { *number })
    };
    inbox.take_all().map(read).collect()
}

/// Two threads push while a third takes: it gets each letter once, each thread's letters in order,
/// and sees their contents.
///
/// Fails with a `Relaxed` success in `push_all`, and with a `Relaxed` exchange in `take_all`.
#[test]
fn push_against_push_against_take() {
    check(|| {
        let inbox = Arc::new(Inbox::new());
        let other = thread::spawn({
            let inbox = inbox.clone();
            move || {
                push(&inbox, 1);
                push(&inbox, 2);
            }
        });
        let third = thread::spawn({
            let inbox = inbox.clone();
            move || push(&inbox, 3)
        });
        let mut got = take_all(&inbox);
        other.join().unwrap();
        third.join().unwrap();
        got.extend(take_all(&inbox));
        assert_eq!(got.len(), 3);
        let at = |number| got.iter().position(|n| *n == number).expect("each letter once");
        assert!(at(1) < at(2) && at(3) < 3, "{got:?}");
    });
}

/// Two workers take at the same time.
#[test]
fn take_against_take() {
    check(|| {
        let inbox = Arc::new(Inbox::new());
        let other = thread::spawn({
            let inbox = inbox.clone();
            move || {
                push(&inbox, 1);
                take_all(&inbox)
            }
        });
        push(&inbox, 2);
        let mut got = take_all(&inbox);
        got.extend(other.join().unwrap());
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
    });
}
