//! A trace, sorted by what it is about.

use std::collections::BTreeMap;

use super::promise_violation::{ActorPromise, PromiseViolation};
use super::trace::{
    ActorEvent, ActorHook, ActorSettings, ActorSignal, ActorTrace, AskOutcome, EndReason, Item,
    ItemId, ItemKind, ItemTarget,
};
use crate::Seq;

/// What became of one item.
#[derive(Clone, Debug)]
pub(super) struct ItemHistory {
    pub(super) id: ItemId,
    pub(super) item: Item,
    /// Before and after the call that spawned it; of a free item, all of the time.
    pub(super) call: Seq,
    pub(super) ret: Seq,
    /// It was given back, and whether the mailbox was full.
    pub(super) refused: Option<bool>,
    pub(super) turns: Vec<ItemTurn>,
    pub(super) dropped: Option<Seq>,
    pub(super) answers: Vec<(Seq, AskOutcome)>,
    pub(super) abandoned: bool,
    pub(super) quits: Option<Seq>,
}

/// One turn of an item: two or more if it was set aside.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemTurn {
    pub(super) began: Seq,
    pub(super) end: Option<(Seq, EndOfTurn)>,
    pub(super) held: bool,
    pub(super) home: Option<usize>,
}

/// How a turn ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EndOfTurn {
    Done,
    Aside,
    Panic,
    /// Its future was dropped.
    Cut,
}

impl ItemHistory {
    /// The turn in which it was done, if it was.
    pub(super) fn is_done(&self) -> bool {
        self.ends_with(EndOfTurn::Done)
    }

    pub(super) fn ends_with(&self, how: EndOfTurn) -> bool {
        self.turns.last().and_then(|turn| turn.end).is_some_and(|(_, end)| end == how)
    }

    /// When it was dropped without having been handled (but set aside, perhaps).
    pub(super) fn unhandled(&self) -> Option<Seq> {
        self.dropped.filter(|_| !self.ends_with(EndOfTurn::Cut))
    }

    /// By when its spawn had taken effect.
    pub(super) fn effect(&self) -> Seq {
        self.turns.first().map_or(self.ret, |turn| turn.began.min(self.ret))
    }

    pub(super) fn is_free(&self) -> bool {
        self.item.kind == ItemKind::Free
    }

    pub(super) fn is_alone_on(&self, actor: usize) -> bool {
        self.item.members.len() == 1 && self.needs(actor).is_some()
    }

    /// Whether it needs the actor, and then, whether only for reading.
    pub(super) fn needs(&self, actor: usize) -> Option<bool> {
        let of = ItemTarget::Actor(actor);
        self.item.members.iter().find(|member| member.of == of).map(|member| member.read)
    }

    pub(super) fn actors(&self) -> impl Iterator<Item = (usize, bool)> {
        self.item.members.iter().filter_map(|member| match member.of {
            ItemTarget::Actor(actor) => Some((actor, member.read)),
            ItemTarget::Cown(_) => None,
        })
    }

    /// The lane of a message.
    pub(super) fn lane(&self) -> Option<usize> {
        match self.item.kind {
            ItemKind::Message { lane, .. } => Some(lane),
            _ => None,
        }
    }
}

/// What happened to one actor.
#[derive(Clone, Debug, Default)]
pub(super) struct ActorLife {
    pub(super) hooks: Vec<(Seq, ActorHook)>,
    pub(super) signals: Vec<(Seq, Seq, ActorSignal)>,
    pub(super) news: Vec<Seq>,
    pub(super) gone: Vec<Seq>,
    pub(super) moves: Vec<(Seq, Seq, usize)>,
    pub(super) traps: bool,
    pub(super) at_rest: Option<Option<EndReason>>,
    pub(super) at_end: Option<Option<EndReason>>,
}

impl ActorLife {
    pub(super) fn end(&self) -> Option<&EndReason> {
        self.at_end.as_ref()?.as_ref()
    }

    /// Whether it had a state that began, and was not yet dropped.
    pub(super) fn is_up_at(&self, at: Seq) -> bool {
        let last = self.hooks.iter().rev().find(|(when, _)| *when < at);
        last.is_some_and(|(_, hook)| matches!(hook, ActorHook::Started | ActorHook::Restarted(_)))
    }

    /// When a state was dropped next.
    pub(super) fn next_drop(&self, after: Seq) -> Option<Seq> {
        let drops = self.hooks.iter().filter(|(_, hook)| *hook == ActorHook::Dropped);
        drops.map(|(at, _)| *at).find(|at| *at > after)
    }

    pub(super) fn last_drop(&self) -> Option<Seq> {
        let drops = self.hooks.iter().filter(|(_, hook)| *hook == ActorHook::Dropped);
        drops.map(|(at, _)| *at).next_back()
    }

    pub(super) fn was_told(&self, wanted: ActorSignal) -> bool {
        self.signals.iter().any(|(.., what)| *what == wanted)
    }
}

/// A monitor of an actor.
#[derive(Clone, Debug)]
pub(super) struct ActorMonitor {
    pub(super) actor: usize,
    pub(super) by: Option<usize>,
    pub(super) call: Seq,
    pub(super) undone: Option<Seq>,
    pub(super) told: Vec<(Seq, EndReason)>,
}

/// A trace by item, actor, watch and link.
#[derive(Clone, Debug)]
pub(super) struct TraceFacts<'a> {
    pub(super) settings: &'a [ActorSettings],
    pub(super) items: BTreeMap<ItemId, ItemHistory>,
    pub(super) lives: Vec<ActorLife>,
    pub(super) watches: BTreeMap<usize, ActorMonitor>,
    /// By whom, with whom, before and after the call.
    pub(super) links: Vec<(usize, usize, Seq, Seq)>,
    pub(super) unlinks: Vec<(usize, usize)>,
    pub(super) exits: Vec<(Seq, usize, usize, EndReason)>,
    pub(super) unstashed: Vec<(Seq, ItemId, usize)>,
    pub(super) let_go: Seq,
    /// When the runtime was told to end, if it was.
    pub(super) shut_down: Option<Seq>,
}

impl<'a> TraceFacts<'a> {
    pub(super) fn of(trace: &'a ActorTrace) -> Result<Self, PromiseViolation> {
        let mut facts = TraceFacts {
            settings: &trace.actors,
            items: BTreeMap::new(),
            lives: vec![ActorLife::default(); trace.actors.len()],
            watches: BTreeMap::new(),
            links: Vec::new(),
            unlinks: Vec::new(),
            exits: Vec::new(),
            unstashed: Vec::new(),
            let_go: Seq::MAX,
            shut_down: None,
        };
        let mut events: Vec<_> = trace.events.iter().collect();
        events.sort_by_key(|(at, _)| *at);
        for (at, event) in &events {
            facts.declare(*at, event);
        }
        for (at, event) in events {
            facts.note(*at, event)?;
        }
        Ok(facts)
    }

    /// The spawns first: a body may begin before the call that spawned it returns.
    fn declare(&mut self, at: Seq, event: &ActorEvent) {
        let (id, item, call, refused) = match event {
            ActorEvent::Spawned { id, item, call } => (id, item, call, None),
            ActorEvent::Refused { id, item, call, full } => (id, item, call, Some(*full)),
            _ => return,
        };
        let course = ItemHistory {
            id: *id,
            item: item.clone(),
            call: *call,
            ret: at,
            refused,
            turns: Vec::new(),
            dropped: None,
            answers: Vec::new(),
            abandoned: false,
            quits: None,
        };
        self.items.insert(*id, course);
    }

    fn note(&mut self, at: Seq, event: &ActorEvent) -> Result<(), PromiseViolation> {
        match event {
            ActorEvent::Spawned { .. } | ActorEvent::Refused { .. } => {}
            ActorEvent::Began { id, home } => {
                let turn = ItemTurn { began: at, end: None, held: false, home: *home };
                let course = self.course(*id)?;
                if course.turns.last().is_some_and(|turn| !turn.is_aside()) {
                    return Err(PromiseViolation::new(
                        ActorPromise::Once,
                        format!("item {id} is handled twice"),
                    ));
                }
                course.turns.push(turn);
            }
            ActorEvent::Holds(id) => self.turn(*id)?.held = true,
            ActorEvent::SetAside(id) => self.turn(*id)?.end = Some((at, EndOfTurn::Aside)),
            ActorEvent::Ended(id) => self.turn(*id)?.end = Some((at, EndOfTurn::Done)),
            ActorEvent::Panicked(id) => self.turn(*id)?.end = Some((at, EndOfTurn::Panic)),
            ActorEvent::Dropped(id) => {
                let course = self.course(*id)?;
                if course.dropped.replace(at).is_some() {
                    return Err(PromiseViolation::new(
                        ActorPromise::Once,
                        format!("item {id} is dropped twice"),
                    ));
                }
                if let Some(turn) = course.turns.last_mut().filter(|turn| turn.end.is_none()) {
                    turn.end = Some((at, EndOfTurn::Cut));
                }
            }
            ActorEvent::Quits(id) => self.course(*id)?.quits = Some(at),
            ActorEvent::Unstashed(id, count) => self.unstashed.push((at, *id, *count)),
            ActorEvent::Answered(id, answer) => {
                self.course(*id)?.answers.push((at, answer.clone()))
            }
            ActorEvent::Abandoned(id) => self.course(*id)?.abandoned = true,
            ActorEvent::Hook(actor, hook) => self.lives[*actor].hooks.push((at, hook.clone())),
            ActorEvent::News(actor) => self.lives[*actor].news.push(at),
            ActorEvent::Gone(actor) => self.lives[*actor].gone.push(at),
            ActorEvent::Directed { actor, what, call } => {
                self.lives[*actor].signals.push((*call, at, *what));
            }
            ActorEvent::Moved { actor, home, call } => {
                self.lives[*actor].moves.push((*call, at, *home))
            }
            ActorEvent::Watched { watch, actor, by, call } => {
                let (actor, by, call) = (*actor, *by, *call);
                let told = self.watches.remove(watch).map_or_else(Vec::new, |early| early.told);
                self.watches.insert(*watch, ActorMonitor { actor, by, call, undone: None, told });
            }
            ActorEvent::Unwatched { watch, call } => {
                if let Some(watch) = self.watches.get_mut(watch) {
                    watch.undone = Some(*call);
                }
            }
            ActorEvent::Told { watch, reason } => {
                // It may be told before the call that asks for it returns.
                let early =
                    ActorMonitor { actor: 0, by: None, call: 0, undone: None, told: Vec::new() };
                let watch = self.watches.entry(*watch).or_insert(early);
                watch.told.push((at, reason.clone()));
            }
            ActorEvent::Linked { by, to, call } => self.links.push((*by, *to, *call, at)),
            ActorEvent::Unlinked { by, to } => self.unlinks.push((*by, *to)),
            ActorEvent::Traps(actor) => self.lives[*actor].traps = true,
            ActorEvent::Exited { to, from, reason } => {
                self.exits.push((at, *to, *from, reason.clone()));
            }
            ActorEvent::AtRest(actor, end) => self.lives[*actor].at_rest = Some(end.clone()),
            ActorEvent::LetGo => self.let_go = at,
            ActorEvent::ShutDown => (self.let_go, self.shut_down) = (at, Some(at)),
            ActorEvent::AtEnd(actor, end) => self.lives[*actor].at_end = Some(end.clone()),
        }
        Ok(())
    }

    fn course(&mut self, id: ItemId) -> Result<&mut ItemHistory, PromiseViolation> {
        let unknown =
            || PromiseViolation::new(ActorPromise::Harness, format!("item {id} was never spawned"));
        self.items.get_mut(&id).ok_or_else(unknown)
    }

    fn turn(&mut self, id: ItemId) -> Result<&mut ItemTurn, PromiseViolation> {
        let none =
            || PromiseViolation::new(ActorPromise::Harness, format!("item {id} is in no turn"));
        self.course(id)?.turns.last_mut().filter(|turn| turn.end.is_none()).ok_or_else(none)
    }

    /// Whether the runtime was about to end at that time.
    pub(super) fn is_ending_at(&self, at: Seq) -> bool {
        self.shut_down.is_some_and(|began| began < at)
    }

    /// The items that need an actor.
    pub(super) fn on(&self, actor: usize) -> impl Iterator<Item = &ItemHistory> {
        self.items.values().filter(move |course| course.needs(actor).is_some())
    }

    /// When items began on an actor: each with whether it only reads.
    pub(super) fn begins_on(&self, actor: usize) -> Vec<(Seq, bool, ItemId)> {
        let of = |course: &'_ ItemHistory| -> Vec<_> {
            let read = course.needs(actor).unwrap_or_default();
            course.turns.iter().map(|turn| (turn.began, read, course.id)).collect()
        };
        let mut all: Vec<_> = self.on(actor).flat_map(of).collect();
        all.sort_unstable();
        all
    }

    /// Whether the item is a message to a mailbox in which one may come in the place of another.
    pub(super) fn is_sorted(&self, course: &ItemHistory) -> bool {
        course.lane().is_some() && course.actors().any(|(actor, _)| self.settings[actor].sorts())
    }

    /// The actor, or all members of its group.
    pub(super) fn mates(&self, actor: usize) -> Vec<usize> {
        match self.settings[actor].group {
            None => vec![actor],
            Some(group) => (0..self.settings.len())
                .filter(|other| self.settings[*other].group == Some(group))
                .collect(),
        }
    }
}

impl ItemTurn {
    fn is_aside(&self) -> bool {
        self.end.is_some_and(|(_, end)| end == EndOfTurn::Aside)
    }
}
