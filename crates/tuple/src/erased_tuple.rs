//! A tuple without its type: its elements, in place or in a counted block, and the functions for
//! them. All of the crate's `unsafe`.

use std::any::TypeId;
use std::cell::UnsafeCell;
use std::fmt::Debug;
use std::mem::{ManuallyDrop, MaybeUninit, align_of, needs_drop, replace, size_of};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::tuple::{ElementType, Tuple};

/// The words of a tuple that is in place.
const WORDS: usize = 3;

/// Room for a small tuple, or for the address of a block. In words that may be addresses, so that a
/// copy of the room may be used as one; and in a cell, since what is in place may be written
/// through a shared reference: an atomic, a lock.
type ElementRoom = UnsafeCell<MaybeUninit<[*const (); WORDS]>>;

/// What is known of a type of tuples. Each type has one, or several that are equal.
pub(crate) struct TupleVtable {
    id: TypeId,
    elements: &'static [ElementType],
    is_in_place: bool,
    /// Makes another share of the same elements.
    ///
    /// # Safety
    /// The room is of this type.
    share: unsafe fn(&ElementRoom) -> ElementRoom,
    /// Drops this share of the elements.
    ///
    /// # Safety
    /// The room is of this type, and not used any more.
    release: unsafe fn(&mut ElementRoom),
    /// Makes this the only share of the elements, which are copied if there are others.
    ///
    /// # Safety
    /// The room is of this type.
    isolate: unsafe fn(&mut ElementRoom),
    /// Whether there are other shares of the elements.
    ///
    /// # Safety
    /// The room is of this type.
    is_shared: unsafe fn(&ElementRoom) -> bool,
}

/// The elements of a tuple of any type, or a share of them.
///
/// Plain data of up to three words, which has nothing to drop, is in place. Everything else is in
/// an [`Arc`], of which the room has the address.
pub(crate) struct ErasedTuple {
    vtable: &'static TupleVtable,
    room: ElementRoom,
}

// SAFETY: `Tuple` requires of its elements that they are `Send` and `Sync`; in an `Arc` they need
// both, as several threads may have shares of them.
unsafe impl Send for ErasedTuple {}
// SAFETY: as above.
unsafe impl Sync for ErasedTuple {}

/// The functions for tuples of type `T`.
struct TypedElements<T>(T);

impl<T: Tuple> TypedElements<T> {
    /// Whether such tuples are in place. Not if they have something to drop: a copy of that costs
    /// more than a count, and would not be shared.
    const IS_IN_PLACE: bool = size_of::<T>() <= size_of::<ElementRoom>()
        && align_of::<T>() <= align_of::<ElementRoom>()
        && !needs_drop::<T>();

    const VTABLE: &'static TupleVtable = &TupleVtable {
        id: TypeId::of::<T>(),
        elements: T::ELEMENTS,
        is_in_place: Self::IS_IN_PLACE,
        share: Self::share,
        release: Self::release,
        isolate: Self::isolate,
        is_shared: Self::is_shared,
    };

    fn room_of(tuple: T) -> ElementRoom {
        let room = ElementRoom::new(MaybeUninit::uninit());
        if Self::IS_IN_PLACE {
            // SAFETY: the room is large and aligned enough for a `T`.
            unsafe { room.get().cast::<T>().write(tuple) };
        } else {
            // SAFETY: the room is large and aligned enough for an address.
            unsafe { room.get().cast::<*const T>().write(Arc::into_raw(Arc::new(tuple))) };
        }
        room
    }

    /// The block of the elements.
    ///
    /// # Safety
    /// The room is of a `T` that is not in place.
    unsafe fn block(room: &ElementRoom) -> ManuallyDrop<Arc<T>> {
        // SAFETY: `room_of` has written the address of an `Arc`, of which the room owns a count;
        // that is not dropped here.
        unsafe { ManuallyDrop::new(Arc::from_raw(room.get().cast::<*const T>().read())) }
    }

    unsafe fn share(room: &ElementRoom) -> ElementRoom {
        if Self::IS_IN_PLACE {
            // SAFETY: the room has a `T`, as this function requires.
            Self::room_of(unsafe { &*room.get().cast::<T>() }.clone())
        } else {
            // SAFETY: the room has a block, as this function requires.
            let block = unsafe { Self::block(room) };
            let _counted = ManuallyDrop::new(Arc::clone(&block));
            // SAFETY: a room with the address of a block is not written through a shared reference.
            // The new room owns the count that was added.
            ElementRoom::new(unsafe { *room.get() })
        }
    }

    unsafe fn release(room: &mut ElementRoom) {
        if !Self::IS_IN_PLACE {
            // SAFETY: the room has a block, as this function requires, and gives its count away: it
            // is not used any more.
            drop(ManuallyDrop::into_inner(unsafe { Self::block(room) }));
        }
    }

    unsafe fn isolate(room: &mut ElementRoom) {
        if !Self::IS_IN_PLACE {
            // SAFETY: the room has a block, as this function requires.
            let block = unsafe { Self::block(room) };
            Arc::make_mut(&mut IsolatedBlock { room, block }.block);
        }
    }

    unsafe fn is_shared(room: &ElementRoom) -> bool {
        if Self::IS_IN_PLACE {
            return false;
        }
        // SAFETY: the room has a block, as this function requires.
        let block = unsafe { Self::block(room) };
        Arc::strong_count(&block) > 1
    }
}

/// A block that becomes the only one of its room. The room gets the address when this is dropped:
/// also if the last share of the old block was dropped by the exchange, and its destructor
/// panics.
struct IsolatedBlock<'r, T> {
    room: &'r mut ElementRoom,
    block: ManuallyDrop<Arc<T>>,
}

impl<T> Drop for IsolatedBlock<'_, T> {
    fn drop(&mut self) {
        let address = Arc::as_ptr(&self.block);
        // SAFETY: the room is large and aligned enough for an address; it owns the count of the
        // block, whether it is the same as before or a new one.
        unsafe { self.room.get().cast::<*const T>().write(address) };
    }
}

impl ErasedTuple {
    #[inline]
    pub(crate) fn new<T: Tuple>(tuple: T) -> Self {
        Self { vtable: TypedElements::<T>::VTABLE, room: TypedElements::room_of(tuple) }
    }

    /// Whether there is nothing to drop.
    #[inline]
    pub(crate) fn is_in_place(&self) -> bool {
        self.vtable.is_in_place
    }

    pub(crate) fn types(&self) -> &'static [ElementType] {
        self.vtable.elements
    }

    /// A number that tuples of other types do not have; those of one type may have several.
    pub(crate) fn type_key(&self) -> usize {
        std::ptr::from_ref(self.vtable).addr()
    }

    pub(crate) fn is_shared(&self) -> bool {
        // SAFETY: the room is of the vtable's type.
        unsafe { (self.vtable.is_shared)(&self.room) }
    }

    /// Whether it is a `T`.
    #[inline]
    pub(crate) fn is<T: Tuple>(&self) -> bool {
        // Descriptors may be several for one type, so that the address alone does not tell.
        std::ptr::eq(self.vtable, TypedElements::<T>::VTABLE) || self.vtable.id == TypeId::of::<T>()
    }

    /// Where the elements are.
    #[inline]
    fn start(&self) -> NonNull<u8> {
        if self.vtable.is_in_place {
            NonNull::from(&self.room).cast()
        } else {
            // SAFETY: a room that is not in place has the address of a block, which is not null.
            unsafe { self.room.get().cast::<NonNull<u8>>().read() }
        }
    }

    /// The tuple, if it is a `T`.
    #[inline]
    pub(crate) fn view<T: Tuple>(&self) -> Option<&T> {
        // SAFETY: it is a `T`, and as long as `self` is borrowed it is not changed: that takes
        // the only share, borrowed exclusively.
        self.is::<T>().then(|| unsafe { self.start().cast().as_ref() })
    }

    /// The tuple, as the only share of it, if it is a `T`.
    pub(crate) fn view_mut<T: Tuple>(&mut self) -> Option<&mut T> {
        // SAFETY: it is a `T`, and the only share of it, borrowed exclusively.
        self.is::<T>().then(|| unsafe { self.start_mut().cast().as_mut() })
    }

    /// Where the elements are, with this as the only share.
    fn start_mut(&mut self) -> NonNull<u8> {
        // SAFETY: the room is of the vtable's type.
        unsafe { (self.vtable.isolate)(&mut self.room) };
        if self.vtable.is_in_place { NonNull::from(&mut self.room).cast() } else { self.start() }
    }

    /// An element, if there is such a one and it is an `E`.
    #[inline]
    pub(crate) fn get<E: 'static>(&self, at: usize) -> Option<&E> {
        let offset = self.offset_of::<E>(at)?;
        // SAFETY: there is an `E` at this offset, and while `self` is borrowed it is not changed.
        Some(unsafe { self.start().byte_add(offset).cast().as_ref() })
    }

    /// The same, as the only share.
    pub(crate) fn get_mut<E: 'static>(&mut self, at: usize) -> Option<&mut E> {
        let offset = self.offset_of::<E>(at)?;
        // SAFETY: there is an `E` at this offset, and this is the only share, borrowed exclusively.
        Some(unsafe { self.start_mut().byte_add(offset).cast().as_mut() })
    }

    fn offset_of<E: 'static>(&self, at: usize) -> Option<usize> {
        let element = self.vtable.elements.get(at)?;
        (element.id() == TypeId::of::<E>()).then_some(element.offset)
    }

    /// An element, to be formatted.
    pub(crate) fn element(&self, at: usize) -> Option<&dyn Debug> {
        let element = self.vtable.elements.get(at)?;
        // SAFETY: the element is at this offset, of the type that the function is for; while `self`
        // is borrowed it is not changed.
        Some(unsafe { (element.debug)(self.start().byte_add(element.offset)).as_ref() })
    }

    /// The tuple by value, if it is a `T`: a copy, if there are other shares. Leaves the empty
    /// tuple.
    #[inline]
    pub(crate) fn take_out<T: Tuple>(&mut self) -> Option<T> {
        if !self.is::<T>() {
            return None;
        }
        let taken = ManuallyDrop::new(replace(self, Self::new(())));
        if TypedElements::<T>::IS_IN_PLACE {
            // SAFETY: the room has a `T`, and is not used any more.
            return Some(unsafe { taken.room.get().cast::<T>().read() });
        }
        // SAFETY: the room has a block, and gives its count away: it is not used any more.
        let block = unsafe { TypedElements::<T>::block(&taken.room) };
        Some(Arc::unwrap_or_clone(ManuallyDrop::into_inner(block)))
    }
}

impl Clone for ErasedTuple {
    fn clone(&self) -> Self {
        // SAFETY: the room is of the vtable's type.
        Self { vtable: self.vtable, room: unsafe { (self.vtable.share)(&self.room) } }
    }
}

impl Drop for ErasedTuple {
    #[inline]
    fn drop(&mut self) {
        if !self.vtable.is_in_place {
            // SAFETY: the room is of the vtable's type, and is not used again.
            unsafe { (self.vtable.release)(&mut self.room) };
        }
    }
}
