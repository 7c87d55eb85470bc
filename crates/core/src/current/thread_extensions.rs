//! Thread extensions: what the layers above store per thread.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::rc::Rc;

/// The values stored for one thread, by type.
pub(crate) type ThreadExtensions = Vec<(TypeId, Rc<dyn Any>)>;

thread_local! {
    static THREAD_EXTENSIONS: RefCell<ThreadExtensions> = const { RefCell::new(Vec::new()) };
}

/// Returns the one `T` of the calling thread: created by `T::default()` on first use, and dropped
/// when the thread ends. For per-thread state of the layers above.
///
/// A simulated thread counts as a thread. On a thread that is ending and has already dropped its
/// extensions, each call creates a new `T`.
pub fn thread_extension<T: Default + 'static>() -> Rc<T> {
    if let Some(found) = find_extension() {
        return found;
    }
    // The list is not borrowed while `default` runs: that is foreign code, which may re-enter this
    // function. If it does, the inner value is kept.
    let made = Rc::<T>::default();
    if let Some(first) = find_extension() {
        return first;
    }
    let kept = Rc::clone(&made) as Rc<dyn Any>;
    let _ = THREAD_EXTENSIONS.try_with(|all| all.borrow_mut().push((TypeId::of::<T>(), kept)));
    made
}

/// Returns the one `T` of the calling thread, if it exists.
pub(crate) fn find_extension<T: 'static>() -> Option<Rc<T>> {
    let found = THREAD_EXTENSIONS.try_with(|all| {
        let all = all.borrow();
        let found = all.iter().find(|(of, _)| *of == TypeId::of::<T>());
        found.map(|(_, extension)| Rc::clone(extension))
    });
    found.ok().flatten()?.downcast().ok()
}

/// Installs these extensions on the thread, and returns the previous ones.
#[cfg(feature = "sim")]
pub(crate) fn swap(extensions: ThreadExtensions) -> ThreadExtensions {
    THREAD_EXTENSIONS.replace(extensions)
}

/// Drops the extensions of a simulated thread that ends.
#[cfg(feature = "sim")]
pub(crate) fn end() {
    drop(swap(ThreadExtensions::new()));
}
