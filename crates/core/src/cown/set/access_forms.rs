//! The forms in which a behaviour names its cowns: for reading, checked, unchecked.

use std::marker::PhantomData;

use super::as_cown::{AsCown, CownRef};
use crate::cown::handle::{Cown, ExactHandle, Read};

/// A cown whose behaviour always runs; see [`Cown::unchecked`].
#[derive(Debug)]
pub struct Unchecked<'c, T: Send + 'static>(pub(crate) &'c Cown<T>);

/// The same for a cown whose type says whether it is in a group; see [`Cown::send_path`].
#[derive(Debug)]
pub struct UncheckedIn<'c, T: Send + 'static, const GROUPED: bool>(pub(crate) &'c Cown<T>);

/// A cown by value whose behaviour always runs; see [`Cown::into_unchecked`].
#[derive(Debug)]
pub struct UncheckedHandle<T: Send + 'static>(pub(crate) Cown<T>);

/// A cown to be read even if poisoned; see [`Read::checked`].
#[derive(Debug)]
pub struct CheckedRead<'c, T: Send + 'static>(pub(super) &'c Cown<T>);

impl<'c, T: Send + Sync + 'static> Read<'c, T> {
    /// Reads the cown even if it is poisoned: the closure receives a `Result`.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, call, when};
    ///
    /// let cown = Cown::new(1);
    /// when(&cown, |n| { *n = 7; panic!("half way") });
    /// let seen = call(cown.read().checked(), |n| match n {
    ///     Ok(sound) => *sound,
    ///     Err(poisoned) => -*poisoned.get_ref(),
    /// });
    /// assert_eq!(seen.wait(), Ok(-7));
    /// ```
    pub fn checked(self) -> CheckedRead<'c, T> {
        CheckedRead(self.0)
    }
}

/// A slice of cowns to be held for reading; see [`read_all`]. Like [`Read`], it requires [`Sync`]
/// states.
#[derive(Debug)]
pub struct ReadAll<'c, T, H = Cown<T>>(pub(super) &'c [H], pub(super) ExactHandle<T, H>);

/// A slice of cowns to be read even if poisoned; see [`ReadAll::checked`].
#[derive(Debug)]
pub struct CheckedReadAll<'c, T, H = Cown<T>>(pub(super) &'c [H], pub(super) ExactHandle<T, H>);

/// A slice of cowns to be held even if poisoned; see [`checked_all`].
#[derive(Debug)]
pub struct CheckedAll<'c, T, H = Cown<T>>(pub(super) &'c [H], pub(super) ExactHandle<T, H>);

/// Names all cowns of a slice for reading.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, call};
/// use coact::cown::read_all;
///
/// let accounts: Vec<Cown<u64>> = (1..=4).map(Cown::new).collect();
/// let sum = call(read_all(&accounts), |all| all.iter().sum::<u64>());
/// assert_eq!(sum.wait().unwrap(), 10);
/// ```
pub fn read_all<R>(cowns: &[R]) -> ReadAll<'_, <R::Handle as AsCown>::View, R>
where
    R: CownRef,
    <R::Handle as AsCown>::State: Sync,
{
    ReadAll(cowns, PhantomData)
}

impl<'c, T, R> ReadAll<'c, T, R> {
    /// Reads the cowns even if some are poisoned, or closed like those of stopped actors: the
    /// closure receives a `Result` for each.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, call, when};
    /// use coact::cown::read_all;
    ///
    /// let accounts: Vec<Cown<u64>> = (1..=4).map(Cown::new).collect();
    /// when(&accounts[2], |_| panic!("half way"));
    /// let report = call(read_all(&accounts).checked(), |all| {
    ///     let sum: u64 = all.iter().flatten().sum();
    ///     let unsound: Vec<_> = (0..all.len()).filter(|at| all.get(*at).unwrap().is_err()).collect();
    ///     (sum, unsound)
    /// });
    /// assert_eq!(report.wait(), Ok((7, vec![2])));
    /// ```
    pub fn checked(self) -> CheckedReadAll<'c, T, R> {
        CheckedReadAll(self.0, PhantomData)
    }
}

/// Names all cowns of a slice, some of which may be poisoned, or closed like those of stopped
/// actors: the closure receives a `Result` for each, and can clear the mark of poisoned ones.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, call, when};
/// use coact::cown::{MemberError, checked_all};
///
/// let accounts: Vec<Cown<u64>> = (1..=4).map(Cown::new).collect();
/// when(&accounts[2], |_| panic!("half way"));
/// when(checked_all(&accounts), |mut all| {
///     for account in all.iter_mut() {
///         match account {
///             Ok(balance) => *balance += 1,
///             Err(MemberError::Poisoned(poisoned)) => *poisoned.clear() = 0,
///             Err(_) => {}
///         }
///     }
/// });
/// assert_eq!(call(&accounts, |all| all.iter().sum::<u64>()).wait(), Ok(10));
/// ```
pub fn checked_all<R: CownRef>(cowns: &[R]) -> CheckedAll<'_, <R::Handle as AsCown>::View, R> {
    CheckedAll(cowns, PhantomData)
}
