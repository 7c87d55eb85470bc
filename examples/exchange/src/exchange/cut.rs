//! A consistent cut: some books, and all accounts, at one moment.

use coact::cown::MemberError;
use coact::prelude::*;

use crate::rules::account::Account;

use super::book::Book;
use super::directory::Directory;

/// What a cut shows.
pub struct Cut<'a> {
    pub accounts: Vec<(&'a Cown<Account>, &'a Account)>,
    /// Accounts as a panic has left them, perhaps half changed.
    pub frozen: Vec<&'a Account>,
    pub books: Vec<&'a mut Book>,
}

/// Calls a closure with all accounts and these books, in one behaviour. A book that has lost its
/// orders is rebuilt first.
///
/// Which accounts there are is only known once the directory has been read. So this plans on the
/// directory, takes it and everything in the plan, and plans again if an account was opened
/// meanwhile: that one could already hold what another one has paid.
pub fn cut(
    directory: &Cown<Directory>,
    books: Vec<Addr<Book>>,
    show: impl FnOnce(Cut<'_>) + Send + 'static,
) {
    let this = directory.clone();
    when(directory.read(), move |directory| take(this, directory.accounts(), books, show));
}

fn take(
    directory: Cown<Directory>,
    planned: Vec<Cown<Account>>,
    books: Vec<Addr<Book>>,
    show: impl FnOnce(Cut<'_>) + Send + 'static,
) {
    let again = (directory.clone(), planned.clone(), books.clone());
    let set = (directory.read(), read_all(&planned).checked(), &books[..]);
    when(set, move |(now, accounts, mut taken)| {
        let (directory, planned, books) = again;
        // Accounts are never removed: the same number means the same accounts.
        if now.len() != planned.len() {
            return take(directory, now.accounts(), books, show);
        }
        let mut cut = Cut { accounts: Vec::new(), frozen: Vec::new(), books: Vec::new() };
        for (handle, account) in planned.iter().zip(accounts.iter()) {
            match account {
                Ok(account) => cut.accounts.push((handle, account)),
                Err(MemberError::Poisoned(left)) => cut.frozen.push(left.get_ref()),
                Err(_) => unreachable!("accounts are plain cowns, which do not end"),
            }
        }
        for book in taken.iter_mut() {
            book.rebuild_if_lost(&cut.accounts);
            cut.books.push(book);
        }
        show(cut);
    });
}
