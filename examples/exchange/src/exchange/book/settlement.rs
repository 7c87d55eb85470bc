//! Settling an order: one atomic step over its book, its account and the accounts that it trades
//! with.
//!
//! Which accounts these are is only known once the book has been read. So this **plans** on the
//! book, **takes** the book and everything in the plan, **checks** that the plan still holds, and
//! **plans again** if it does not. Only the first of the orders that have arrived is planned, and
//! it stays the first until it is settled. So orders trade in the order of their arrival, and none
//! is seen in the book before it has traded.

use coact::cown::{CheckedMembers, Poisoned, checked_all};
use coact::prelude::*;

use crate::rules::account::Account;
use crate::rules::error::Error;
use crate::rules::matching::{execute, makers};
use crate::rules::order::OrderId;

use super::Book;

/// The accounts that the first order may trade with.
#[derive(Clone, PartialEq, Eq)]
struct Plan {
    order: OrderId,
    makers: Vec<Cown<Account>>,
}

impl Book {
    /// Settles the first order that has arrived, if there is one, and then the next.
    pub(super) fn settle_first(&self, this: &Addr<Self>) {
        let (Some(plan), Some(first)) = (self.plan(), self.incoming.front()) else { return };
        let (planned, again) = (plan.makers.clone(), this.clone());
        // A frozen account must not stop the book: so all are taken as they are, poisoned or not.
        let set = (this, first.account.checked(), checked_all(&planned));
        when(set, move |(book, account, makers)| match book.plan() {
            Some(now) if now == plan => {
                book.settle(plan, account, makers);
                book.settle_first(&again);
            }
            // An order was cancelled, or an account was found to be frozen.
            Some(now) if now.order == plan.order => book.settle_first(&again),
            // The book was restarted. The order is lost, and its trader has been told.
            _ => {}
        });
    }

    fn plan(&self) -> Option<Plan> {
        let first = self.incoming.front()?;
        let makers = makers(self.resting.as_ref()?, &first.order, &first.account);
        Some(Plan { order: first.order.id, makers })
    }

    /// Settles the first order with the accounts of its plan. If one of them is frozen, its orders
    /// leave the book, and the order stays the first.
    fn settle(
        &mut self,
        plan: Plan,
        account: Result<&mut Account, Poisoned<'_, Account>>,
        mut makers: CheckedMembers<'_, Account>,
    ) {
        let resting = self.resting.as_mut().expect("there is a plan");
        let (mut sound, mut frozen) = (Vec::new(), Vec::new());
        for (owner, maker) in plan.makers.into_iter().zip(makers.iter_mut()) {
            match maker {
                Ok(maker) => sound.push((owner, maker)),
                Err(_) => frozen.push(owner),
            }
        }
        if !frozen.is_empty() {
            frozen.iter().for_each(|owner| resting.remove_all(owner));
            return self.publish(&[]);
        }
        let first = self.incoming.pop_front().expect("there is a plan");
        let executed = match account {
            Ok(account) => execute(resting, first.order, first.account, account, &mut sound),
            Err(_) => Err(Error::Frozen(first.name)),
        };
        self.publish(executed.as_ref().map_or(&[], |execution| &execution.trades));
        first.reply.send(executed);
    }
}
