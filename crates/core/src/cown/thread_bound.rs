//! Values that may be bound to one thread, and go everywhere all the same.

use crate::current;
use std::fmt;
use std::mem::{ManuallyDrop, needs_drop};

/// A value that is either **free**, and then [`Send`], or **bound** to the thread that made it, and
/// then anything. The box itself is [`Send`]: it can be moved and kept anywhere, but what is thread-bound is
/// touched on its thread only. Each access of it checks that; for a free value that is one comparison.
///
/// It is what lets one type of cell hold actors that stay on a [`Pump`](crate::runtime::Pump)'s thread and actors
/// that go everywhere.
///
/// ```
/// # use coact_core as coact;
/// use coact::internals::ThreadBound;
/// use std::rc::Rc;
/// use std::thread;
///
/// let bound = ThreadBound::here(Rc::new(7));
/// let back = thread::spawn(move || {
///     assert!(!bound.is_within_reach());
///     bound
/// });
/// assert_eq!(**back.join().unwrap().get(), 7);
/// ```
///
/// A thread-bound value whose box is dropped on another thread is **forgotten**, and that is reported
/// through [`tracing`]: its destructor must not run there.
pub struct ThreadBound<T> {
    /// The number of the thread, or [`FREE`].
    thread: u64,
    value: ManuallyDrop<T>,
}

/// The number of no thread.
const FREE: u64 = 0;

// SAFETY: to move the box moves the bytes of the value, and nothing else. A value that is not `Send` was
// given to `here`, since `free` takes `Send` ones only: so it has the number of a thread, which no other
// thread ever has, and every way to the value, its destructor included, first compares the two.
unsafe impl<T> Send for ThreadBound<T> {}
// SAFETY: a shared box gives shared references to the value, for which it is `Sync`; and those of an
// thread-bound one on its own thread only.
unsafe impl<T: Sync> Sync for ThreadBound<T> {}

impl<T> ThreadBound<T> {
    /// A value that any thread may touch.
    #[inline]
    pub fn free(value: T) -> Self
    where
        T: Send,
    {
        Self { thread: FREE, value: ManuallyDrop::new(value) }
    }

    /// A value that this thread alone may touch.
    pub fn here(value: T) -> Self {
        Self { thread: current::number(), value: ManuallyDrop::new(value) }
    }

    /// Whether the current thread may touch the value.
    #[inline]
    pub fn is_within_reach(&self) -> bool {
        self.thread == FREE || self.thread == current::number()
    }

    /// The value.
    ///
    /// # Panics
    /// If it is thread-bound to another thread.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> &T {
        self.assert_within_reach();
        &self.value
    }

    /// The value, to change it.
    ///
    /// # Panics
    /// If it is thread-bound to another thread.
    #[inline]
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.assert_within_reach();
        &mut self.value
    }

    /// The value, out of the box.
    ///
    /// # Panics
    /// If it is thread-bound to another thread.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.assert_within_reach();
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the box is not dropped, so the value is taken once.
        unsafe { ManuallyDrop::take(&mut this.value) }
    }

    #[inline]
    #[track_caller]
    fn assert_within_reach(&self) {
        if self.thread != FREE {
            self.assert_here();
        }
    }

    #[cold]
    #[track_caller]
    fn assert_here(&self) {
        assert!(
            self.is_within_reach(),
            "a `{}` is bound to another thread, which alone may touch it",
            std::any::type_name::<T>()
        );
    }
}

impl<T> Drop for ThreadBound<T> {
    #[inline]
    fn drop(&mut self) {
        if !needs_drop::<T>() {
            return;
        }
        if self.is_within_reach() {
            // SAFETY: the value is dropped with its box, once.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        } else {
            report_forgotten::<T>();
        }
    }
}

#[cold]
fn report_forgotten<T>() {
    tracing::error!(
        value = std::any::type_name::<T>(),
        "a value was dropped on a thread that must not touch it, and is forgotten"
    );
}

impl<T> fmt::Debug for ThreadBound<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.thread == FREE { "free" } else { "bound" };
        write!(f, "ThreadBound<{}>({kind})", std::any::type_name::<T>())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;
    use std::thread;

    use super::ThreadBound;

    #[test]
    fn what_is_anchored_is_touched_on_its_thread_only() {
        let mut bound = ThreadBound::here(Rc::new(Cell::new(1)));
        bound.get_mut().set(2);
        let mut bound = thread::spawn(move || {
            assert!(catch_unwind(AssertUnwindSafe(|| bound.get().set(3))).is_err());
            assert!(catch_unwind(AssertUnwindSafe(|| bound.get_mut().set(3))).is_err());
            bound
        })
        .join()
        .unwrap();
        assert_eq!(bound.get_mut().get(), 2);
        assert_eq!(bound.into_inner().get(), 2);
    }

    #[test]
    fn it_is_not_taken_out_nor_dropped_elsewhere() {
        let count = Rc::new(());
        let boxes = [ThreadBound::here(Rc::clone(&count)), ThreadBound::here(Rc::clone(&count))];
        let [one, two] = boxes;
        thread::spawn(move || {
            assert!(catch_unwind(AssertUnwindSafe(|| one.into_inner())).is_err());
            drop(two);
        })
        .join()
        .unwrap();
        // Both are forgotten.
        assert_eq!(Rc::strong_count(&count), 3);
        drop(ThreadBound::here(Rc::clone(&count)));
        assert_eq!(Rc::strong_count(&count), 3);
    }

    #[test]
    fn what_is_free_goes_everywhere() {
        let free = ThreadBound::free(vec![1]);
        let back = thread::spawn(move || {
            let mut free = free;
            free.get_mut().push(2);
            free
        });
        assert_eq!(back.join().unwrap().into_inner(), [1, 2]);
    }
}
