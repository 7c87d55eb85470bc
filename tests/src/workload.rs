//! Seeded mixed work over accounts, whose sum must stay what it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use coact::cown::Poisoned;
use coact::prelude::*;
use coact::runtime::{blocking, spawn_future};

use crate::program::fail;

/// A small generator of random numbers (xorshift64*).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The same seed, the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }
}

/// What all work of one run shares.
#[derive(Clone, Debug)]
pub struct Bank {
    accounts: Arc<[Cown<i64>]>,
    /// How many behaviours have run, and were to run.
    ran: Arc<AtomicU64>,
    spawned: Arc<AtomicU64>,
}

/// What each account begins with.
const BALANCE: i64 = 1000;

impl Bank {
    /// A bank in the current runtime.
    pub fn new(accounts: usize) -> Self {
        let accounts = (0..accounts).map(|_| Cown::new(BALANCE)).collect();
        Self { accounts, ran: Arc::default(), spawned: Arc::default() }
    }

    /// Spawns one random piece of work, and what that leads to.
    pub fn work(&self, dice: &mut Dice) {
        let count = self.accounts.len();
        let first = dice.below(count);
        let second = (first + 1 + dice.below(count - 1)) % count;
        let (a, b) = (&self.accounts[first], &self.accounts[second]);
        let amount = dice.below(10) as i64;
        let done = self.expect(1);
        match dice.below(16) {
            0..=3 => when((a, b), move |(a, b)| done.transfer(a, b, amount)),
            4 => _ = when_here((a, b), move |(a, b)| done.transfer(a, b, amount)),
            5 => when((a.checked(), b.checked()), move |(a, b)| {
                done.transfer(
                    a.unwrap_or_else(Poisoned::clear),
                    b.unwrap_or_else(Poisoned::clear),
                    amount,
                );
            }),
            6 => self.audit(done),
            7 => self.batch(done, a, b, amount),
            8 => self.nested(done, dice, a, b),
            9 => drop(call(a.read(), |a| *a).then(b.read(), move |b, a| {
                done.tell();
                a.unwrap_or(0) + *b
            })),
            10 => {
                let (far_a, far_b) = (a.clone(), b.clone());
                drop(spawn_future(async move {
                    let seen = call((far_a.read(), far_b.read()), |(a, b)| *a + *b).await;
                    done.tell();
                    seen
                }));
            }
            11 => {
                _ = after(Duration::from_micros(amount as u64 * 100), (a, b), move |(a, b)| {
                    done.transfer(a, b, amount);
                })
            }
            12 => drop(blocking(move || done.tell())),
            13 => self.panicking(done, a),
            14 => drop(call(a, move |a| {
                done.tell();
                Box::new(*a)
            })),
            _ => when(a.read(), move |_| done.tell()),
        }
    }

    /// Everything read at once: the sum is right at any time.
    fn audit(&self, done: Done) {
        let expected = self.accounts.len() as i64 * BALANCE;
        when(read_all(&self.accounts), move |all| {
            assert_eq!(all.iter().sum::<i64>(), expected, "money was lost or made");
            done.tell();
        });
    }

    /// A withdrawal and a deposit that nothing can come between.
    fn batch(&self, done: Done, a: &Cown<i64>, b: &Cown<i64>, amount: i64) {
        Batch::new()
            .when(a, move |a| *a -= amount)
            .when((), move |()| done.tell())
            .when(b, move |b| *b += amount)
            .spawn();
    }

    fn nested(&self, done: Done, dice: &mut Dice, a: &Cown<i64>, b: &Cown<i64>) {
        let (bank, mut dice) = (self.clone(), Dice::new(dice.below(1 << 30) as u64));
        when((a.read(), b.read()), move |_| {
            bank.work(&mut dice);
            done.tell();
        });
    }

    /// A panic, whose poison is cleared before anybody else comes by.
    fn panicking(&self, done: Done, a: &Cown<i64>) {
        Batch::new()
            .when(a, |_| fail("on purpose"))
            .when(a.checked(), move |a| {
                a.unwrap_err().clear();
                done.tell();
            })
            .spawn();
    }

    fn expect(&self, count: u64) -> Done {
        self.spawned.fetch_add(count, Ordering::Relaxed);
        Done(Arc::clone(&self.ran))
    }

    /// # Panics
    /// If work was lost, money was, or a cown is still held. To be called when no work is left.
    pub fn close(self) {
        let Self { accounts, ran, spawned } = self;
        let (ran, spawned) = (ran.load(Ordering::Relaxed), spawned.load(Ordering::Relaxed));
        assert_eq!(ran, spawned, "some work was lost");
        let expected = accounts.len() as i64 * BALANCE;
        let total: i64 =
            call(read_all(&accounts), |all| all.iter().sum()).wait().expect("no poison is left");
        assert_eq!(total, expected, "money was lost or made");
    }
}

/// To be told when one piece of work is done.
#[derive(Debug)]
struct Done(Arc<AtomicU64>);

impl Done {
    fn tell(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn transfer(&self, from: &mut i64, to: &mut i64, amount: i64) {
        *from -= amount;
        *to += amount;
        self.tell();
    }
}
