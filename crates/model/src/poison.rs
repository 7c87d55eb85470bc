//! Poison: what a panic leaves behind on cowns, and who is skipped because of it.
//!
//! The rules, in the order in which they apply when it is a behaviour's turn:
//!
//! 1. A behaviour is **skipped** if and only if a cown that it writes or reads without a check is
//!    poisoned. A skipped behaviour takes its turn in the order and does nothing: its body does not
//!    run, it clears nothing and poisons nothing.
//! 2. A checked access **sees** whether its cown is poisoned, and by itself changes nothing. The
//!    poison stays for those that follow, unless the body clears it ([`Access::Clear`]).
//! 3. A behaviour that **panics** poisons every cown that it held exclusively, checked ones and
//!    those it has cleared included. Cowns held for reading stay as they were.
//!
//! [`Access::Clear`]: crate::Access::Clear

use std::collections::BTreeMap;

use crate::plan::{Footprint, PlannedBehaviour};
use crate::program::{Access, BehaviourId, CownIndex};

/// The poisoned cowns, each with the behaviour whose panic poisoned it last.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PoisonedCowns(BTreeMap<CownIndex, BehaviourId>);

impl PoisonedCowns {
    /// The behaviour whose panic poisoned `cown`, or `None` where it is sound.
    pub fn on(&self, cown: CownIndex) -> Option<BehaviourId> {
        self.0.get(&cown).copied()
    }

    /// The poisoned cowns.
    pub fn cowns(&self) -> impl Iterator<Item = CownIndex> {
        self.0.keys().copied()
    }

    /// A poisoned cown because of which a behaviour is skipped, if there is one.
    pub(crate) fn skips(&self, footprint: &Footprint) -> Option<CownIndex> {
        let unchecked = footprint.iter().filter(|(_, access)| !access.is_checked());
        unchecked.map(|(cown, _)| cown).find(|cown| self.0.contains_key(cown))
    }

    /// A behaviour runs its body.
    pub(crate) fn clear(&mut self, footprint: &Footprint) {
        for (cown, _) in footprint.iter().filter(|(_, access)| *access == Access::Clear) {
            self.0.remove(&cown);
        }
    }

    /// Behaviour `by` has panicked.
    pub(crate) fn spread(&mut self, footprint: &Footprint, by: BehaviourId) {
        for (cown, _) in footprint.iter().filter(|(_, access)| access.is_exclusive()) {
            self.0.insert(cown, by);
        }
    }

    /// A behaviour has its whole turn, from start to end, alone.
    pub(crate) fn replay(&mut self, behaviour: &PlannedBehaviour<'_>, skipped: bool) {
        if skipped {
            return;
        }
        self.clear(&behaviour.footprint);
        if behaviour.spawn.panics {
            self.spread(&behaviour.footprint, behaviour.id());
        }
    }
}
