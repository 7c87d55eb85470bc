//! The checker can fail: for each rule a run that keeps the promise, and the same run with one
//! thing wrong.

use super::{
    ActorEvent, ActorHook, ActorPromise, ActorSettings, ActorSignal, ActorTrace, AskOutcome,
    EndReason, Item, ItemId, ItemKind, ItemMember, ItemTarget, LaneRule, RestartPolicy, WhenFull,
    check,
};
use crate::Seq;

/// A run that is told event by event.
#[derive(Default)]
struct Story {
    trace: ActorTrace,
    clock: Seq,
}

impl Story {
    /// With this many actors that have started.
    fn of(actors: usize) -> Self {
        Self::with(vec![ActorSettings::default(); actors])
    }

    fn with(actors: Vec<ActorSettings>) -> Self {
        let mut story = Self { trace: ActorTrace { actors, events: Vec::new() }, clock: 0 };
        for actor in 0..story.trace.actors.len() {
            story.note(ActorEvent::Hook(actor, ActorHook::Started));
        }
        story
    }

    fn tick(&mut self) -> Seq {
        self.clock += 1;
        self.clock
    }

    fn note(&mut self, event: ActorEvent) -> &mut Self {
        let at = self.tick();
        self.trace.events.push((at, event));
        self
    }

    fn spawned(&mut self, id: ItemId, item: Item) -> &mut Self {
        let call = self.tick();
        self.note(ActorEvent::Spawned { id, item, call })
    }

    fn sent(&mut self, id: ItemId, to: usize) -> &mut Self {
        self.spawned(id, message(to, 0, false))
    }

    fn asked(&mut self, id: ItemId, to: usize) -> &mut Self {
        self.spawned(id, message(to, 0, true))
    }

    fn began(&mut self, id: ItemId) -> &mut Self {
        self.note(ActorEvent::Began { id, home: None })
    }

    fn ended(&mut self, id: ItemId) -> &mut Self {
        self.note(ActorEvent::Ended(id))
    }

    fn ran(&mut self, id: ItemId) -> &mut Self {
        self.began(id).ended(id)
    }

    fn told(&mut self, actor: usize, what: ActorSignal) -> &mut Self {
        let call = self.tick();
        self.note(ActorEvent::Directed { actor, what, call })
    }

    fn hook(&mut self, actor: usize, hook: ActorHook) -> &mut Self {
        self.note(ActorEvent::Hook(actor, hook))
    }

    /// It ends for that reason, with `stopped` unless it was killed.
    fn gone(&mut self, actor: usize, reason: EndReason) -> &mut Self {
        if reason != EndReason::Killed {
            self.hook(actor, ActorHook::Stopped(reason.clone()));
        }
        self.hook(actor, ActorHook::Dropped)
    }

    /// Everything is at rest: those that have ended, each with the reason.
    fn at_rest(&mut self, ended: &[(usize, EndReason)]) -> &mut Self {
        let find = |actor| ended.iter().find(|(of, _)| *of == actor);
        let reason = |actor| find(actor).map(|(_, reason)| reason.clone());
        let actors = self.trace.actors.len();
        for actor in 0..actors {
            self.note(ActorEvent::AtRest(actor, reason(actor)));
        }
        self.note(ActorEvent::LetGo);
        for actor in (0..actors).filter(|actor| reason(*actor).is_none()) {
            self.gone(actor, EndReason::Normal);
        }
        for actor in 0..actors {
            self.note(ActorEvent::AtEnd(actor, reason(actor).or(Some(EndReason::Normal))));
        }
        self
    }
}

fn on(actor: usize) -> ItemMember {
    ItemMember { of: ItemTarget::Actor(actor), read: false }
}

fn message(to: usize, lane: usize, asked: bool) -> Item {
    let kind = ItemKind::Message { lane, asked, by_held: false, limited: false };
    Item { kind, members: vec![on(to)] }
}

fn behaviour(members: Vec<ItemMember>) -> Item {
    Item { kind: ItemKind::Behaviour, members }
}

#[track_caller]
fn keeps(tell: impl FnOnce() -> Story) {
    assert_eq!(check(&tell().trace), Ok(()));
}

#[track_caller]
fn breaks(promise: ActorPromise, tell: impl FnOnce() -> Story) {
    let found = check(&tell().trace).map_err(|breach| breach.promise);
    assert_eq!(found, Err(promise));
}

/// A story in few words.
fn story(actors: usize, tell: impl FnOnce(&mut Story)) -> impl FnOnce() -> Story {
    move || {
        let mut story = Story::of(actors);
        tell(&mut story);
        story
    }
}

fn story_with(actors: Vec<ActorSettings>, tell: impl FnOnce(&mut Story)) -> impl FnOnce() -> Story {
    move || {
        let mut story = Story::with(actors);
        tell(&mut story);
        story
    }
}

fn grouped() -> Vec<ActorSettings> {
    vec![ActorSettings { group: Some(0), ..ActorSettings::default() }; 2]
}

fn restartable() -> Vec<ActorSettings> {
    vec![ActorSettings { restartable: true, ..ActorSettings::default() }]
}

fn lane(capacity: usize, when_full: WhenFull) -> Vec<ActorSettings> {
    let lanes = vec![LaneRule { capacity: Some(capacity), when_full }];
    vec![ActorSettings { lanes, ..ActorSettings::default() }]
}

#[test]
fn order_of_one_sender() {
    keeps(story(1, |s| _ = s.sent(0, 0).sent(1, 0).ran(0).ran(1).at_rest(&[])));
    breaks(
        ActorPromise::Order,
        story(1, |s| _ = s.sent(0, 0).sent(1, 0).ran(1).ran(0).at_rest(&[])),
    );
}

#[test]
fn order_by_way_of_others() {
    // 0 before 1 on actor 0, 1 before 2 on actor 1, and 2 was spawned before 0.
    let both = || behaviour(vec![on(0), on(1)]);
    let tell = |s: &mut Story, turn: [ItemId; 3]| {
        s.spawned(2, message(1, 0, false)).spawned(0, message(0, 0, false));
        let call = s.tick();
        s.began(turn[0]);
        s.note(ActorEvent::Spawned { id: 1, item: both(), call });
        s.ended(turn[0]).ran(turn[1]).ran(turn[2]).at_rest(&[]);
    };
    keeps(story(2, |s| tell(s, [0, 2, 1])));
    breaks(ActorPromise::Order, story(2, |s| tell(s, [0, 1, 2])));
}

#[test]
fn lanes_overtake_each_other_but_no_behaviour() {
    let lanes =
        || vec![ActorSettings { lanes: vec![LaneRule::default(); 2], ..ActorSettings::default() }];
    let tell = |second: fn() -> Item| {
        story_with(lanes(), move |s| {
            s.spawned(0, message(0, 1, false)).spawned(1, second()).ran(1).ran(0).at_rest(&[]);
        })
    };
    keeps(tell(|| message(0, 0, false)));
    breaks(ActorPromise::Order, tell(|| message(0, 1, false)));
    breaks(ActorPromise::Order, tell(|| behaviour(vec![on(0)])));
}

#[test]
fn one_turn_at_a_time() {
    let tell = |read: bool| {
        story(1, move |s| {
            let item = || behaviour(vec![ItemMember { read, ..on(0) }]);
            s.spawned(0, item()).spawned(1, item());
            s.began(0).began(1).ended(0).ended(1).at_rest(&[]);
        })
    };
    keeps(tell(true));
    breaks(ActorPromise::Atomicity, tell(false));
}

#[test]
fn no_hook_in_the_middle_of_a_turn() {
    breaks(
        ActorPromise::Atomicity,
        story(1, |s| {
            s.sent(0, 0)
                .told(0, ActorSignal::Stop)
                .began(0)
                .hook(0, ActorHook::Stopped(EndReason::Shutdown));
            s.ended(0).hook(0, ActorHook::Dropped).at_rest(&[(0, EndReason::Shutdown)]);
        }),
    );
}

#[test]
fn members_of_a_group_take_turns_readers_too() {
    let tell = |together: bool| {
        story_with(grouped(), move |s| {
            let read = |actor| behaviour(vec![ItemMember { read: true, ..on(actor) }]);
            s.spawned(0, read(0)).spawned(1, read(1)).began(0);
            if together {
                s.began(1).ended(0).ended(1)
            } else {
                s.ended(0).ran(1)
            };
            s.at_rest(&[]);
        })
    };
    keeps(tell(false));
    breaks(ActorPromise::Groups, tell(true));
}

#[test]
fn nothing_comes_while_an_actor_is_held() {
    let tell = |actors: Vec<ActorSettings>, to: usize| {
        story_with(actors, move |s| {
            s.sent(0, 0).sent(1, to).began(0).note(ActorEvent::Holds(0));
            s.began(1).ended(1).ended(0).at_rest(&[]);
        })
    };
    keeps(tell(vec![ActorSettings::default(); 2], 1));
    breaks(ActorPromise::Waiting, tell(vec![ActorSettings::default(); 2], 0));
    breaks(ActorPromise::Waiting, tell(grouped(), 1));
}

#[test]
fn no_news_comes_while_an_actor_is_held() {
    let tell = |early: bool| {
        story(1, move |s| {
            s.sent(0, 0).began(0).note(ActorEvent::Holds(0));
            if early {
                s.note(ActorEvent::News(0)).ended(0)
            } else {
                s.ended(0).note(ActorEvent::News(0))
            };
            s.at_rest(&[]);
        })
    };
    keeps(tell(false));
    breaks(ActorPromise::Waiting, tell(true));
}

#[test]
fn each_message_is_handled_once() {
    breaks(ActorPromise::Once, story(1, |s| _ = s.sent(0, 0).ran(0).ran(0).at_rest(&[])));
    breaks(ActorPromise::Once, story(1, |s| _ = s.sent(0, 0).at_rest(&[])));
    breaks(ActorPromise::Once, story(1, |s| _ = s.sent(0, 0).began(0).at_rest(&[])));
    breaks(
        ActorPromise::Once,
        story(1, |s| _ = s.sent(0, 0).ran(0).note(ActorEvent::Dropped(0)).at_rest(&[])),
    );
}

#[test]
fn a_message_is_dropped_only_by_an_end() {
    keeps(story(1, |s| {
        s.sent(0, 0)
            .told(0, ActorSignal::Stop)
            .gone(0, EndReason::Shutdown)
            .note(ActorEvent::Dropped(0));
        s.at_rest(&[(0, EndReason::Shutdown)]);
    }));
    // The actor goes on.
    breaks(
        ActorPromise::Once,
        story(1, |s| _ = s.sent(0, 0).note(ActorEvent::Dropped(0)).sent(1, 0).ran(1).at_rest(&[])),
    );
}

#[test]
fn a_handler_is_not_cut_off() {
    let tell = |held: bool| {
        story_with(restartable(), move |s| {
            s.asked(0, 0).began(0);
            if held {
                s.note(ActorEvent::Holds(0));
            }
            s.told(0, ActorSignal::Restart).note(ActorEvent::Dropped(0));
            s.hook(0, ActorHook::Stopped(EndReason::Shutdown)).hook(0, ActorHook::Dropped);
            s.hook(0, ActorHook::Restarted(EndReason::Shutdown));
            s.note(ActorEvent::Answered(0, AskOutcome::NoReply)).at_rest(&[]);
        })
    };
    keeps(tell(true));
    breaks(ActorPromise::Once, tell(false));
}

#[test]
fn what_is_given_back_is_not_handled() {
    let refused = |s: &mut Story| {
        let call = s.tick();
        s.note(ActorEvent::Refused { id: 0, item: message(0, 0, false), call, full: false });
    };
    keeps(story(1, |s| {
        s.told(0, ActorSignal::Kill).gone(0, EndReason::Killed);
        refused(s);
        s.at_rest(&[(0, EndReason::Killed)]);
    }));
    breaks(
        ActorPromise::Once,
        story(1, |s| {
            s.told(0, ActorSignal::Kill).gone(0, EndReason::Killed);
            refused(s);
            s.note(ActorEvent::Dropped(0)).at_rest(&[(0, EndReason::Killed)]);
        }),
    );
    // It had not ended.
    breaks(
        ActorPromise::Once,
        story(1, |s| {
            refused(s);
            s.sent(1, 0).ran(1).at_rest(&[]);
        }),
    );
}

#[test]
fn every_ask_has_the_answer_that_fits() {
    let handled = |answer: Option<AskOutcome>| {
        story(1, move |s| {
            s.asked(0, 0).ran(0);
            if let Some(answer) = answer {
                s.note(ActorEvent::Answered(0, answer));
            }
            s.at_rest(&[]);
        })
    };
    keeps(handled(Some(AskOutcome::Given)));
    for wrong in [AskOutcome::NoReply, AskOutcome::Panicked, AskOutcome::Timeout, AskOutcome::Full]
    {
        breaks(ActorPromise::Asks, handled(Some(wrong)));
    }
    for wrong in [AskOutcome::Cycle, AskOutcome::Cancelled, AskOutcome::Stopped(EndReason::Normal)]
    {
        breaks(ActorPromise::Asks, handled(Some(wrong)));
    }
    breaks(ActorPromise::Asks, handled(None));
    let dropped = |answer: AskOutcome| {
        story(1, move |s| {
            s.asked(0, 0).told(0, ActorSignal::Kill).gone(0, EndReason::Killed);
            s.note(ActorEvent::Dropped(0)).note(ActorEvent::Answered(0, answer));
            s.at_rest(&[(0, EndReason::Killed)]);
        })
    };
    keeps(dropped(AskOutcome::Stopped(EndReason::Killed)));
    breaks(ActorPromise::Asks, dropped(AskOutcome::Stopped(EndReason::Shutdown)));
    breaks(ActorPromise::Asks, dropped(AskOutcome::Given));
    breaks(
        ActorPromise::Asks,
        story(1, |s| {
            s.asked(0, 0).ran(0).note(ActorEvent::Answered(0, AskOutcome::Given));
            s.note(ActorEvent::Answered(0, AskOutcome::Given)).at_rest(&[]);
        }),
    );
}

#[test]
fn hooks_come_in_their_order() {
    let twice = |s: &mut Story| _ = s.hook(0, ActorHook::Started).at_rest(&[]);
    breaks(ActorPromise::Hooks, story(1, twice));
    let after_stopped = |s: &mut Story| {
        s.told(0, ActorSignal::Stop)
            .sent(0, 0)
            .hook(0, ActorHook::Stopped(EndReason::Shutdown))
            .ran(0);
        s.hook(0, ActorHook::Dropped).at_rest(&[(0, EndReason::Shutdown)]);
    };
    breaks(ActorPromise::Hooks, story(1, after_stopped));
    let not_killed_quietly = |s: &mut Story| {
        s.told(0, ActorSignal::Kill)
            .hook(0, ActorHook::Stopped(EndReason::Killed))
            .hook(0, ActorHook::Dropped);
        s.at_rest(&[(0, EndReason::Killed)]);
    };
    breaks(ActorPromise::Hooks, story(1, not_killed_quietly));
    let no_stopped = |s: &mut Story| {
        s.told(0, ActorSignal::Stop)
            .hook(0, ActorHook::Dropped)
            .at_rest(&[(0, EndReason::Shutdown)]);
    };
    breaks(ActorPromise::Hooks, story(1, no_stopped));
}

#[test]
fn a_restart_is_for_those_that_can_and_for_the_reason_that_was_said() {
    let tell = |actors: Vec<ActorSettings>, why: EndReason| {
        story_with(actors, move |s| {
            s.told(0, ActorSignal::Restart)
                .gone(0, EndReason::Shutdown)
                .hook(0, ActorHook::Restarted(why));
            s.at_rest(&[]);
        })
    };
    keeps(tell(restartable(), EndReason::Shutdown));
    breaks(ActorPromise::Hooks, tell(restartable(), EndReason::Killed));
    breaks(ActorPromise::Hooks, tell(vec![ActorSettings::default()], EndReason::Shutdown));
}

#[test]
fn a_temporary_child_is_not_restarted() {
    let child = |supervision| {
        let actors =
            vec![ActorSettings { supervised: Some(supervision), ..ActorSettings::default() }];
        story_with(actors, |s| {
            s.sent(0, 0).began(0).note(ActorEvent::Panicked(0)).gone(0, EndReason::Panicked(0));
            s.hook(0, ActorHook::Restarted(EndReason::Panicked(0))).gone(0, EndReason::Shutdown);
            s.at_rest(&[(0, EndReason::Shutdown)]);
        })
    };
    keeps(child(RestartPolicy::Transient));
    breaks(ActorPromise::Hooks, child(RestartPolicy::Temporary));
}

#[test]
fn signals_come_before_the_next_message() {
    let tell = |late: usize| {
        story(1, move |s| {
            (0..4).for_each(|id| _ = s.sent(id, 0));
            s.told(0, ActorSignal::Stop);
            (0..late).for_each(|id| _ = s.ran(id));
            s.gone(0, EndReason::Shutdown);
            (late..4).for_each(|id| _ = s.note(ActorEvent::Dropped(id)));
            s.at_rest(&[(0, EndReason::Shutdown)]);
        })
    };
    keeps(tell(0));
    keeps(tell(1));
    breaks(ActorPromise::Signals, tell(2));
    let not_processed = |s: &mut Story| {
        s.told(0, ActorSignal::Kill);
        s.note(ActorEvent::AtRest(0, None))
            .note(ActorEvent::LetGo)
            .note(ActorEvent::AtEnd(0, Some(EndReason::Killed)));
    };
    breaks(ActorPromise::Hooks, story(1, not_processed));
}

#[test]
fn a_drain_stands_between_messages() {
    let tell = |handled: ItemId, dropped: ItemId| {
        story(1, move |s| {
            s.sent(0, 0).told(0, ActorSignal::Drain).sent(1, 0).ran(handled);
            s.gone(0, EndReason::Shutdown).note(ActorEvent::Dropped(dropped));
            s.at_rest(&[(0, EndReason::Shutdown)]);
        })
    };
    keeps(tell(0, 1));
    breaks(ActorPromise::Signals, tell(1, 0));
    breaks(
        ActorPromise::Signals,
        story(1, |s| {
            s.sent(0, 0)
                .told(0, ActorSignal::Drain)
                .gone(0, EndReason::Shutdown)
                .note(ActorEvent::Dropped(0));
            s.at_rest(&[(0, EndReason::Shutdown)]);
        }),
    );
}

#[test]
fn a_suspended_actor_waits_and_with_it_its_group() {
    let tell = |actors: Vec<ActorSettings>, to: usize, early: usize| {
        story_with(actors, move |s| {
            (0..4).for_each(|id| _ = s.sent(id, to));
            s.told(0, ActorSignal::Suspend);
            (0..early).for_each(|id| _ = s.ran(id));
            s.told(0, ActorSignal::Resume);
            (early..4).for_each(|id| _ = s.ran(id));
            s.at_rest(&[]);
        })
    };
    let two = || vec![ActorSettings::default(); 2];
    keeps(tell(two(), 0, 1));
    breaks(ActorPromise::Waiting, tell(two(), 0, 2));
    keeps(tell(two(), 1, 2));
    breaks(ActorPromise::Waiting, tell(grouped(), 1, 2));
}

/// What another member has set aside is no exception.
#[test]
fn what_is_set_aside_waits_while_another_member_is_suspended() {
    let tell = |early: usize| {
        story_with(grouped(), move |s| {
            (0..4).for_each(|id| _ = s.sent(id, 1));
            for id in [0, 1, 2] {
                s.began(id).note(ActorEvent::SetAside(id));
            }
            s.began(3).note(ActorEvent::Unstashed(3, 3)).ended(3).told(0, ActorSignal::Suspend);
            (0..early).for_each(|id| _ = s.ran(id));
            s.told(0, ActorSignal::Resume);
            (early..3).for_each(|id| _ = s.ran(id));
            s.at_rest(&[]);
        })
    };
    keeps(tell(1));
    breaks(ActorPromise::Waiting, tell(2));
}

#[test]
fn a_panic_fails_those_that_were_written() {
    let tell = |failed: &'static [usize], read: bool| {
        story(2, move |s| {
            s.spawned(0, behaviour(vec![on(0), ItemMember { read, ..on(1) }])).began(0);
            s.note(ActorEvent::Panicked(0));
            failed.iter().for_each(|actor| _ = s.gone(*actor, EndReason::Panicked(0)));
            let ended: Vec<_> =
                failed.iter().map(|actor| (*actor, EndReason::Panicked(0))).collect();
            s.at_rest(&ended);
        })
    };
    keeps(tell(&[0, 1], false));
    breaks(ActorPromise::Failure, tell(&[0], false));
    keeps(tell(&[0], true));
    breaks(ActorPromise::Failure, tell(&[0, 1], true));
    let goes_on = |s: &mut Story| {
        s.sent(0, 0).sent(1, 0).began(0).note(ActorEvent::Panicked(0)).ran(1);
        s.gone(0, EndReason::Panicked(0)).at_rest(&[(0, EndReason::Panicked(0))]);
    };
    breaks(ActorPromise::Failure, story(1, goes_on));
}

#[test]
fn one_that_quits_ends_after_that_message() {
    let tell = |goes_on: bool| {
        story(1, move |s| {
            s.sent(0, 0).sent(1, 0).began(0).note(ActorEvent::Quits(0)).ended(0);
            if goes_on {
                s.ran(1).gone(0, EndReason::Quit(0));
            } else {
                s.gone(0, EndReason::Quit(0)).note(ActorEvent::Dropped(1));
            }
            s.at_rest(&[(0, EndReason::Quit(0))]);
        })
    };
    keeps(tell(false));
    breaks(ActorPromise::Signals, tell(true));
}

#[test]
fn an_actor_lives_as_long_as_its_address() {
    breaks(
        ActorPromise::LastAddress,
        story(1, |s| _ = s.gone(0, EndReason::Normal).at_rest(&[(0, EndReason::Normal)])),
    );
    let dropped = |s: &mut Story| {
        s.sent(0, 0)
            .note(ActorEvent::AtRest(0, None))
            .note(ActorEvent::LetGo)
            .gone(0, EndReason::Normal);
        s.note(ActorEvent::Dropped(0)).note(ActorEvent::AtEnd(0, Some(EndReason::Normal)));
    };
    breaks(ActorPromise::LastAddress, story(1, dropped));
}

#[test]
fn a_reason_is_one_that_was_given() {
    for reason in
        [EndReason::Shutdown, EndReason::Killed, EndReason::Quit(0), EndReason::Panicked(0)]
    {
        let ended = [(0, reason.clone())];
        breaks(ActorPromise::EndNotices, story(1, move |s| _ = s.gone(0, reason).at_rest(&ended)));
    }
}

#[test]
fn an_end_is_told_once_with_its_reason() {
    let tell = |told: &'static [EndReason]| {
        story(1, move |s| {
            let call = s.tick();
            s.note(ActorEvent::Watched { watch: 0, actor: 0, by: None, call });
            s.told(0, ActorSignal::Kill).gone(0, EndReason::Killed);
            told.iter().for_each(|reason| {
                _ = s.note(ActorEvent::Told { watch: 0, reason: reason.clone() })
            });
            s.at_rest(&[(0, EndReason::Killed)]);
        })
    };
    keeps(tell(&[EndReason::Killed]));
    breaks(ActorPromise::EndNotices, tell(&[]));
    breaks(ActorPromise::EndNotices, tell(&[EndReason::Killed, EndReason::Killed]));
    breaks(ActorPromise::EndNotices, tell(&[EndReason::Shutdown]));
    let early = |s: &mut Story| {
        let call = s.tick();
        s.note(ActorEvent::Watched { watch: 0, actor: 0, by: None, call });
        s.told(0, ActorSignal::Kill).note(ActorEvent::Told { watch: 0, reason: EndReason::Killed });
        s.gone(0, EndReason::Killed).at_rest(&[(0, EndReason::Killed)]);
    };
    breaks(ActorPromise::EndNotices, story(1, early));
}

#[test]
fn an_end_spreads_along_links_and_only_there() {
    let with_killed = || EndReason::Linked(1, Box::new(EndReason::Killed));
    let tell = |linked: bool, spreads: bool| {
        story(2, move |s| {
            if linked {
                let call = s.tick();
                s.note(ActorEvent::Linked { by: 0, to: 1, call });
            }
            s.told(1, ActorSignal::Kill).gone(1, EndReason::Killed);
            let mut ended = vec![(1, EndReason::Killed)];
            if spreads {
                s.gone(0, with_killed());
                ended.push((0, with_killed()));
            }
            s.at_rest(&ended);
        })
    };
    keeps(tell(true, true));
    breaks(ActorPromise::EndNotices, tell(true, false));
    breaks(ActorPromise::EndNotices, tell(false, true));
    let normal = |s: &mut Story| {
        let call = s.tick();
        s.note(ActorEvent::Linked { by: 0, to: 1, call })
            .told(1, ActorSignal::Stop)
            .gone(1, EndReason::Shutdown);
        let why = EndReason::Linked(1, Box::new(EndReason::Shutdown));
        s.gone(0, why.clone()).at_rest(&[(0, why), (1, EndReason::Shutdown)]);
    };
    breaks(ActorPromise::EndNotices, story(2, normal));
}

#[test]
fn a_trapped_exit_is_told_once() {
    let tell = |times: usize| {
        story(2, move |s| {
            s.note(ActorEvent::Traps(0));
            let call = s.tick();
            s.note(ActorEvent::Linked { by: 0, to: 1, call })
                .told(1, ActorSignal::Kill)
                .gone(1, EndReason::Killed);
            (0..times).for_each(|_| {
                _ = s.note(ActorEvent::Exited { to: 0, from: 1, reason: EndReason::Killed })
            });
            s.at_rest(&[(1, EndReason::Killed)]);
        })
    };
    keeps(tell(1));
    breaks(ActorPromise::EndNotices, tell(2));
}

#[test]
fn a_mailbox_holds_what_it_may_and_refuses_only_when_it_is_full() {
    let full = |waiting: usize| {
        story_with(lane(1, WhenFull::Refuse), move |s| {
            (0..waiting).for_each(|id| _ = s.sent(id, 0));
            (0..waiting).for_each(|id| _ = s.ran(id));
            s.at_rest(&[]);
        })
    };
    // One, and another that is about to begin.
    keeps(full(2));
    breaks(ActorPromise::Mailbox, full(3));
    let refused = |waiting: usize| {
        story_with(lane(2, WhenFull::Refuse), move |s| {
            (0..waiting).for_each(|id| _ = s.sent(id, 0));
            let call = s.tick();
            s.note(ActorEvent::Refused { id: 9, item: message(0, 0, false), call, full: true });
            (0..waiting).for_each(|id| _ = s.ran(id));
            s.at_rest(&[]);
        })
    };
    keeps(refused(2));
    breaks(ActorPromise::Mailbox, refused(1));
    // One that refuses drops nothing.
    let tell = |when_full| {
        story_with(lane(1, when_full), |s| {
            s.sent(0, 0).sent(1, 0).note(ActorEvent::Dropped(0)).ran(1).at_rest(&[]);
        })
    };
    keeps(tell(WhenFull::DropOldest));
    breaks(ActorPromise::Once, tell(WhenFull::Refuse));
}

#[test]
fn what_is_set_aside_comes_first_and_in_its_order() {
    let tell = |turns: &'static [ItemId]| {
        story(1, move |s| {
            (0..4).for_each(|id| _ = s.sent(id, 0));
            for id in [0, 1] {
                s.began(id).note(ActorEvent::SetAside(id));
            }
            s.began(2).note(ActorEvent::Unstashed(2, 2)).ended(2);
            turns.iter().for_each(|id| _ = s.ran(*id));
            s.at_rest(&[]);
        })
    };
    keeps(tell(&[0, 1, 3]));
    breaks(ActorPromise::Stash, tell(&[1, 0, 3]));
    breaks(ActorPromise::Stash, tell(&[0, 3, 1]));
    breaks(ActorPromise::Once, tell(&[0, 3]));
}

#[test]
fn what_was_set_aside_comes_first_in_the_next_life() {
    let tell = |turns: &'static [ItemId]| {
        story_with(restartable(), move |s| {
            s.sent(0, 0)
                .sent(1, 0)
                .began(0)
                .note(ActorEvent::SetAside(0))
                .told(0, ActorSignal::Restart);
            s.gone(0, EndReason::Shutdown).hook(0, ActorHook::Restarted(EndReason::Shutdown));
            turns.iter().for_each(|id| _ = s.ran(*id));
            s.at_rest(&[]);
        })
    };
    keeps(tell(&[0, 1]));
    breaks(ActorPromise::Stash, tell(&[1, 0]));
}

#[test]
fn what_is_sent_after_a_move_runs_there() {
    let tell = |home: usize| {
        story(1, move |s| {
            let call = s.tick();
            s.note(ActorEvent::Moved { actor: 0, home: 1, call }).sent(0, 0);
            s.note(ActorEvent::Began { id: 0, home: Some(home) }).ended(0).at_rest(&[]);
        })
    };
    keeps(tell(1));
    breaks(ActorPromise::Moves, tell(0));
}

#[test]
fn readers_sets_and_groups_move_too() {
    let tell = |actors: Vec<ActorSettings>, item: fn() -> Item, home: usize| {
        story_with(actors, move |s| {
            let call = s.tick();
            s.note(ActorEvent::Moved { actor: 0, home: 1, call }).spawned(0, item());
            s.note(ActorEvent::Began { id: 0, home: Some(home) }).ended(0).at_rest(&[]);
        })
    };
    let two = || vec![ActorSettings::default(); 2];
    let read = || behaviour(vec![ItemMember { read: true, ..on(0) }]);
    let items: [fn() -> Item; 2] = [read, || behaviour(vec![on(0), on(1)])];
    for item in items {
        keeps(tell(two(), item, 1));
        breaks(ActorPromise::Moves, tell(two(), item, 0));
    }
    // A set runs where its first member is.
    keeps(tell(two(), || behaviour(vec![on(1), on(0)]), 0));
    keeps(tell(grouped(), || message(1, 0, false), 1));
    breaks(ActorPromise::Moves, tell(grouped(), || message(1, 0, false), 0));
}

/// Of moves at the same time each may have been the last one.
#[test]
fn what_runs_after_several_moves_runs_where_one_may_have_left_it() {
    let tell = |home: usize| {
        story(1, move |s| {
            s.note(ActorEvent::Moved { actor: 0, home: 3, call: 0 });
            let (first, second) = (s.tick(), s.tick());
            s.note(ActorEvent::Moved { actor: 0, home: 0, call: first });
            s.note(ActorEvent::Moved { actor: 0, home: 1, call: second }).sent(0, 0);
            let late = s.tick();
            s.note(ActorEvent::Began { id: 0, home: Some(home) });
            s.note(ActorEvent::Moved { actor: 0, home: 2, call: late }).ended(0).at_rest(&[]);
        })
    };
    (0..3).for_each(|home| keeps(tell(home)));
    breaks(ActorPromise::Moves, tell(3));
}

/// Lanes in a group: each message comes in the place of one of its actor's.
#[test]
fn in_a_group_sorted_messages_change_places() {
    // Two to the lanes of actor 0, and what is told for actor 1 before, between and behind them.
    let tell = |turns: &'static [ItemId]| {
        let lanes = vec![LaneRule::default(); 2];
        let mut actors = grouped();
        actors[0].lanes = lanes;
        story_with(actors, move |s| {
            s.sent(0, 1).spawned(1, message(0, 1, false)).sent(2, 1);
            s.spawned(3, message(0, 0, false)).sent(4, 1);
            turns.iter().for_each(|id| _ = s.ran(*id));
            s.at_rest(&[]);
        })
    };
    keeps(tell(&[0, 1, 2, 3, 4]));
    keeps(tell(&[0, 3, 2, 1, 4]));
    breaks(ActorPromise::Groups, tell(&[3, 0, 2, 1, 4]));
    breaks(ActorPromise::Groups, tell(&[0, 3, 1, 2, 4]));
    breaks(ActorPromise::Groups, tell(&[0, 2, 3, 1, 4]));
    breaks(ActorPromise::Groups, tell(&[0, 3, 2, 4, 1]));
}

#[test]
fn a_shutdown_ends_everything_once() {
    let tell = |asked: Option<AskOutcome>, ended: Option<EndReason>, told: usize| {
        story(1, move |s| {
            let call = s.tick();
            s.note(ActorEvent::Watched { watch: 0, actor: 0, by: None, call });
            s.asked(0, 0)
                .note(ActorEvent::ShutDown)
                .hook(0, ActorHook::Dropped)
                .note(ActorEvent::Dropped(0));
            asked.into_iter().for_each(|answer| _ = s.note(ActorEvent::Answered(0, answer)));
            for _ in 0..told {
                s.note(ActorEvent::Told { watch: 0, reason: EndReason::Killed });
            }
            s.note(ActorEvent::AtEnd(0, ended));
        })
    };
    keeps(tell(Some(AskOutcome::Cancelled), Some(EndReason::Killed), 1));
    keeps(tell(Some(AskOutcome::Stopped(EndReason::Killed)), Some(EndReason::Killed), 1));
    breaks(ActorPromise::Asks, tell(None, Some(EndReason::Killed), 1));
    breaks(ActorPromise::LastAddress, tell(Some(AskOutcome::Cancelled), None, 0));
    breaks(ActorPromise::EndNotices, tell(Some(AskOutcome::Cancelled), Some(EndReason::Killed), 0));
    breaks(
        ActorPromise::EndNotices,
        tell(Some(AskOutcome::Cancelled), Some(EndReason::Quit(0)), 1),
    );
}

#[test]
fn a_harness_that_tells_of_the_unknown_is_found_out() {
    breaks(ActorPromise::Harness, story(1, |s| _ = s.ran(7).at_rest(&[])));
    breaks(ActorPromise::Harness, story(1, |s| _ = s.sent(0, 0).ended(0).at_rest(&[])));
}
