//! Sets with owned handles: what remains of a set until its behaviour is spawned later.

use crate::cown::handle::Cown;

pub struct Exclusive<H>(pub(super) H);
pub struct Read<H>(pub(super) H);
pub struct Checked<T: Send + 'static>(pub(super) Cown<T>);
pub struct Unchecked<T: Send + 'static>(pub(super) Cown<T>);
pub struct Slice<H>(pub(super) Box<[H]>);
pub struct ReadAll<H>(pub(super) Box<[H]>);
pub struct CheckedRead<T: Send + 'static>(pub(super) Cown<T>);
pub struct CheckedAll<H>(pub(super) Box<[H]>);
pub struct CheckedReadAll<H>(pub(super) Box<[H]>);
