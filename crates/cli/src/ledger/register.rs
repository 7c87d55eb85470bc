//! The register of names: every distinct account name gets a small dense number.

use indexmap::IndexMap;

use super::fault::Fault;

/// The number of an account: how many other accounts the file had named before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccountId(u32);

impl AccountId {
    /// The account with this number.
    pub fn new(number: u32) -> Self {
        Self(number)
    }

    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }

    /// The number, to index a table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All names seen so far. Its memory is bounded by the distinct names of the file.
#[derive(Debug, Default)]
pub struct Register {
    /// Each name with the last line that named it.
    names: IndexMap<Box<str>, u64, foldhash::fast::RandomState>,
}

impl Register {
    /// Puts the numbers of the names on a line into `ids`. If a name stands there twice, the line is
    /// malformed and leaves no trace.
    ///
    /// # Panics
    /// At 2^32 distinct names, which need hundreds of gigabytes of memory first.
    pub fn enter<'a>(
        &mut self,
        line: u64,
        names: impl Iterator<Item = &'a str>,
        ids: &mut Vec<AccountId>,
    ) -> Result<(), Fault> {
        let known = self.names.len();
        ids.clear();
        for name in names {
            let index = match self.names.get_full_mut(name) {
                Some((index, _, named_on)) if *named_on != line => {
                    *named_on = line;
                    index
                }
                Some(_) => {
                    self.names.truncate(known);
                    return Err(Fault::AccountTwice);
                }
                None => self.names.insert_full(name.into(), line).0,
            };
            let number = u32::try_from(index).expect("fewer than 2^32 distinct accounts");
            ids.push(AccountId(number));
        }
        Ok(())
    }

    /// The name behind a number that this register gave out.
    pub fn name(&self, id: AccountId) -> &str {
        self.names.get_index(id.index()).map_or("", |(name, _)| name)
    }

    /// How many distinct names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(register: &mut Register, line: u64, names: &str) -> Result<Vec<u32>, Fault> {
        let mut ids = Vec::new();
        register.enter(line, names.split(';'), &mut ids)?;
        Ok(ids.into_iter().map(AccountId::get).collect())
    }

    #[test]
    fn numbers_are_dense_and_follow_first_appearance() {
        let mut register = Register::default();
        assert_eq!(enter(&mut register, 2, "b;a"), Ok(vec![0, 1]));
        assert_eq!(enter(&mut register, 3, "c;b"), Ok(vec![2, 0]));
        assert_eq!(register.len(), 3);
        assert_eq!(register.name(AccountId::new(1)), "a");
    }

    #[test]
    fn a_line_that_names_an_account_twice_leaves_no_trace() {
        let mut register = Register::default();
        assert_eq!(enter(&mut register, 2, "a"), Ok(vec![0]));
        assert_eq!(enter(&mut register, 3, "b;a;c;a"), Err(Fault::AccountTwice));
        assert_eq!(enter(&mut register, 4, "d;d"), Err(Fault::AccountTwice));
        assert_eq!(register.len(), 1);
        assert_eq!(enter(&mut register, 5, "c;a"), Ok(vec![1, 0]));
    }
}
