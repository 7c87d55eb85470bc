//! Sets with owned handles: what remains of a set until its behaviour is spawned later.

use crate::cown::handle::Cown;

pub struct OwnedExclusive<H>(pub(super) H);
pub struct OwnedRead<H>(pub(super) H);
pub struct OwnedChecked<T: Send + 'static>(pub(super) Cown<T>);
pub struct OwnedUnchecked<T: Send + 'static>(pub(super) Cown<T>);
pub struct OwnedSlice<H>(pub(super) Box<[H]>);
pub struct OwnedReadAll<H>(pub(super) Box<[H]>);
pub struct OwnedCheckedRead<T: Send + 'static>(pub(super) Cown<T>);
pub struct OwnedCheckedAll<H>(pub(super) Box<[H]>);
pub struct OwnedCheckedReadAll<H>(pub(super) Box<[H]>);
