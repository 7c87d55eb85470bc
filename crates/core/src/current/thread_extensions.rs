//! What the layers above keep for a thread.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::rc::Rc;

/// Everything that is kept for one thread, by type.
pub(crate) type ThreadExtensions = Vec<(TypeId, Rc<dyn Any>)>;

thread_local! {
    static THREAD_EXTENSIONS: RefCell<ThreadExtensions> = const { RefCell::new(Vec::new()) };
}

/// The one `T` of the calling thread: made by `T::default()` when it is first asked for, and dropped
/// when the thread ends. For the layers above, which keep here what they have to keep for a thread.
///
/// A simulated thread counts as one. On a thread that is ending already, whose
/// extensions are gone, each call makes a new `T`.
pub fn thread_extension<T: Default + 'static>() -> Rc<T> {
    if let Some(found) = find_extension() {
        return found;
    }
    // Made without the list being borrowed: it is foreign code, which may come here again. Should it
    // have made one, that one counts.
    let made = Rc::<T>::default();
    if let Some(first) = find_extension() {
        return first;
    }
    let kept = Rc::clone(&made) as Rc<dyn Any>;
    let _ = THREAD_EXTENSIONS.try_with(|all| all.borrow_mut().push((TypeId::of::<T>(), kept)));
    made
}

/// The one `T` of the calling thread, if it was ever asked for.
pub(crate) fn find_extension<T: 'static>() -> Option<Rc<T>> {
    let found = THREAD_EXTENSIONS.try_with(|all| {
        let all = all.borrow();
        let found = all.iter().find(|(of, _)| *of == TypeId::of::<T>());
        found.map(|(_, extension)| Rc::clone(extension))
    });
    found.ok().flatten()?.downcast().ok()
}

/// Makes these the extensions of the thread, and returns those that it had.
#[cfg(feature = "sim")]
pub(crate) fn swap(extensions: ThreadExtensions) -> ThreadExtensions {
    THREAD_EXTENSIONS.replace(extensions)
}

/// Drops the extensions of a simulated thread that ends.
#[cfg(feature = "sim")]
pub(crate) fn end() {
    drop(swap(ThreadExtensions::new()));
}
