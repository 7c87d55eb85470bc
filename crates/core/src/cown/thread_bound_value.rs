//! Values that may be bound to one thread, in a box that is always `Send`.

use crate::current;
use std::fmt;
use std::hint::cold_path;
use std::mem::{ManuallyDrop, needs_drop};

/// A value that is either **free**, and then [`Send`], or **bound** to the thread that created it,
/// and then of any type. The box itself is always [`Send`]: it can be moved and stored anywhere,
/// but a bound value is accessible only on its thread. Each access checks that; for a free value
/// the check is one comparison.
///
/// With it, one type of cell can hold both actors that stay on a [`Pump`](crate::runtime::Pump)'s
/// thread and actors that run anywhere.
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
/// If the box of a bound value is dropped on another thread, the value is **leaked**, since its
/// destructor must not run there. This is reported through [`tracing`].
pub struct ThreadBound<T> {
    /// The number of the thread, or [`FREE`].
    thread: u64,
    value: ManuallyDrop<T>,
}

/// A number that no thread has.
const FREE: u64 = 0;

// SAFETY: moving the box only moves the bytes of the value. A value that is not `Send` was passed
// to `here`, since `free` accepts only `Send` ones: so the box has the number of a thread, which no
// other thread ever has, and every access to the value, including its destructor, first compares
// the two.
unsafe impl<T> Send for ThreadBound<T> {}
// SAFETY: a shared box gives shared references to the value, which is `Sync`; a bound one only on
// its own thread.
unsafe impl<T: Sync> Sync for ThreadBound<T> {}

impl<T> ThreadBound<T> {
    /// Boxes a value that any thread may access.
    #[inline]
    pub fn free(value: T) -> Self
    where
        T: Send,
    {
        Self { thread: FREE, value: ManuallyDrop::new(value) }
    }

    /// Boxes a value that only this thread may access.
    pub fn here(value: T) -> Self {
        Self { thread: current::number(), value: ManuallyDrop::new(value) }
    }

    /// Returns whether the current thread may access the value.
    #[inline]
    pub fn is_within_reach(&self) -> bool {
        self.thread == FREE || current::is_number(self.thread)
    }

    /// Returns the value.
    ///
    /// # Panics
    /// Panics if it is bound to another thread.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> &T {
        self.assert_within_reach();
        &self.value
    }

    /// Returns the value mutably.
    ///
    /// # Panics
    /// Panics if it is bound to another thread.
    #[inline]
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.assert_within_reach();
        &mut self.value
    }

    /// Returns the value mutably, if the current thread may access it.
    #[inline]
    pub fn reach_mut(&mut self) -> Option<&mut T> {
        self.is_within_reach().then_some(&mut *self.value)
    }

    /// Takes the value out of the box.
    ///
    /// # Panics
    /// Panics if it is bound to another thread.
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
            cold_path();
            // The only call does not return, so callers save no registers for it.
            if !current::is_number(self.thread) {
                bound_elsewhere(std::any::type_name::<T>());
            }
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn bound_elsewhere(what: &str) -> ! {
    panic!("a `{what}` is bound to another thread, and accessible only there");
}

impl<T> Drop for ThreadBound<T> {
    #[inline]
    fn drop(&mut self) {
        if !needs_drop::<T>() {
            return;
        }
        if self.thread != FREE {
            cold_path();
            if !current::is_number(self.thread) {
                return report_forgotten::<T>();
            }
        }
        // SAFETY: the value is dropped with its box, once.
        unsafe { ManuallyDrop::drop(&mut self.value) };
    }
}

#[cold]
fn report_forgotten<T>() {
    tracing::error!(
        value = std::any::type_name::<T>(),
        "a value was dropped on a thread that must not access it, and is leaked"
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
        // Both are leaked.
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
