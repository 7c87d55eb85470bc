//! Deterministic mode, left out: nothing is ever simulated. The twin of `mod.rs`.

use crate::behaviour::task::TaskPtr;

#[inline(always)]
pub(crate) fn is_active() -> bool {
    false
}

#[inline(always)]
pub(crate) fn is_inside() -> bool {
    false
}

#[inline(always)]
pub(crate) fn point() {}

#[inline(always)]
pub(crate) fn block_until(_: &dyn Fn() -> bool) -> bool {
    false
}

#[inline(always)]
pub(crate) fn now() -> Option<u64> {
    None
}

pub(crate) fn is_quiet() -> bool {
    true
}

pub(crate) fn ready(_: TaskPtr) {
    unreachable!("no simulated runtime exists without the feature `sim`");
}

pub(crate) fn spawn_outside(_: Box<dyn FnOnce()>) {
    unreachable!("no simulated runtime exists without the feature `sim`");
}
