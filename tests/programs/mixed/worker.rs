//! The actor of the programs, and the interpreter of what it does.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use coact::Context;
use coact::actor::{Down, Exited, OnDownId};
use coact::mailbox::{Lane, Mailbox};
use coact::prelude::*;
use coact::runtime::{MoveError, spawn_future};
use coact::supervise::{Child, Shutdown, Supervisor, Tree, permanent, temporary, transient};
use coact::system::Host;
use coact::time::sleep;
use coact_model::actors::{
    ActorEvent, ActorHook, ActorSettings, ActorSignal, Item, ItemKind, ItemMember, ItemTarget,
    LaneRule, RestartPolicy, WhenFull,
};

use super::ops::{
    ACTORS, Act, Comeback, Command, NEWEST, Op, Own, Place, Post, Spec, Step, Way, What,
};
use super::world::{Awaited, StateToken, Ticket, Token, World, name_of};

pub struct Worker {
    number: usize,
    traps: bool,
    state: StateToken,
}

impl Worker {
    fn new(number: usize, traps: bool, world: &Arc<World>) -> Self {
        Self { number, traps, state: StateToken { number, token: Token::new(world) } }
    }

    fn world(&self) -> &Arc<World> {
        &self.state.token.0
    }

    fn hook(&self, hook: ActorHook) {
        self.world().note(ActorEvent::Hook(self.number, hook));
    }

    fn begin(&self, context: &mut Context<Self>) {
        if self.traps {
            self.world().note(ActorEvent::Traps(self.number));
            context.trap_exits();
        }
    }
}

impl Actor for Worker {
    fn started(&mut self, context: &mut Context<Self>) {
        self.hook(ActorHook::Started);
        self.begin(context);
    }

    fn restarted(&mut self, reason: &ExitReason, context: &mut Context<Self>) {
        let reason = self.world().reason(reason);
        self.hook(ActorHook::Restarted(reason));
        self.begin(context);
    }

    fn stopped(&mut self, reason: &ExitReason, _: &mut Context<Self>) {
        let reason = self.world().reason(reason);
        self.hook(ActorHook::Stopped(reason));
    }
}

impl Handler<Down> for Worker {
    fn handle(&mut self, down: Down, _: &mut Context<Self>) {
        let world = self.world();
        world.note(ActorEvent::News(self.number));
        let watch = world.watch_of(down.monitor);
        world.note(ActorEvent::Told { watch, reason: world.reason(&down.reason) });
    }
}

impl Handler<Exited> for Worker {
    fn handle(&mut self, exited: Exited, _: &mut Context<Self>) {
        let world = self.world();
        world.note(ActorEvent::News(self.number));
        let reason = world.reason(&exited.reason);
        let Some(from) = world.number(exited.actor) else { return };
        world.note(ActorEvent::Exited { to: self.number, from, reason });
    }
}

/// A message.
pub struct Put {
    ticket: Ticket,
    act: Act,
    job: Job,
}

impl Message for Put {
    type Reply = ();
}

impl Receive<Put> for Worker {
    fn receive(&mut self, put: Put, reply: Reply<()>, context: &mut Context<Self>) {
        let Put { ticket, act, mut job } = put;
        ticket.begin();
        match act {
            Act::Run(body) => {
                job.run(body, Some(Turn { worker: self.number, item: ticket.id, context }));
                ticket.end();
                reply.send(());
            }
            Act::Panic => ticket.fail(),
            Act::Aside(body) => {
                let world = Arc::clone(ticket.world());
                let id = ticket.id;
                // What is set aside must not keep its own actor alive.
                job.actors.fill(None);
                let again = Put { ticket, act: Act::Run(body), job };
                // Before the message is anywhere from where it could come again.
                world.note(ActorEvent::SetAside(id));
                context.stash(again, reply).expect("there is no limit");
            }
            Act::Hold(steps) => {
                let number = self.number;
                ticket.note(ActorEvent::Holds(ticket.id));
                context.hold(reply, move |_, context| {
                    Box::pin(async move {
                        let mut ticket = Some(ticket);
                        for step in steps {
                            let id = ticket.as_ref().expect("it goes on").id;
                            match step {
                                Step::Pause(micros) => {
                                    let _ = sleep(Duration::from_micros(micros)).await;
                                }
                                Step::Run(body) => {
                                    job.run(body, Some(Turn { worker: number, item: id, context }));
                                }
                                Step::Ask(of, act) => job.ask_held(of, act).await,
                                Step::Panic => ticket.take().expect("it goes on").fail(),
                            }
                        }
                        ticket.take().expect("it goes on").end();
                    })
                });
            }
        }
    }
}

/// What a handler has beside its message.
struct Turn<'a> {
    worker: usize,
    item: usize,
    context: &'a mut Context<Worker>,
}

/// Who spawns: with addresses of his own.
#[derive(Clone)]
pub struct Job {
    pub world: Arc<World>,
    /// With the one that was spawned last behind those that are there from the start.
    pub actors: Vec<Option<(usize, Addr<Worker>)>>,
    pub cowns: Arc<[Cown<u64>]>,
    pub groups: Arc<[Group]>,
    pub supervisor: Option<Supervisor>,
    /// See [`Script::held_asks`](super::ops::Script).
    pub held_asks: bool,
    pub watch: Option<(usize, usize, OnDownId)>,
}

impl Job {
    pub fn new(world: &Arc<World>, cowns: usize, groups: usize) -> Self {
        Self {
            world: Arc::clone(world),
            actors: vec![None; ACTORS + 1],
            cowns: (0..cowns).map(|_| Cown::new(0)).collect(),
            groups: (0..groups).map(|_| Group::new()).collect(),
            supervisor: None,
            held_asks: false,
            watch: None,
        }
    }

    pub fn perform_all(mut self, body: Vec<Op>) {
        self.run(body, None);
    }

    fn run(&mut self, body: Vec<Op>, mut turn: Option<Turn<'_>>) {
        for op in body {
            self.perform(op, turn.as_mut());
        }
    }

    fn perform(&mut self, op: Op, turn: Option<&mut Turn<'_>>) {
        match op {
            Op::Send { to, lane, way, act } => self.send(to, lane, way, act),
            Op::When { writes, reads, cowns, panics, body } => {
                self.when(&writes, &reads, &cowns, panics, body);
            }
            Op::Direct(to, what) => self.direct(to, what),
            Op::Drop(of) => self.actors[of] = None,
            Op::Move(of, to) => self.move_to(of, to),
            Op::Watch(of) => self.watch(of),
            Op::Unwatch => self.unwatch(),
            Op::Spawn(spec) => {
                // Children are declared with the tree.
                let place =
                    if let Place::Child(_) = spec.place { Place::Plain } else { spec.place };
                let spawned = self.spawn(Spec { place, ..spec }, false);
                self.actors[NEWEST] = Some(spawned);
            }
            Op::Child(command, of) => self.command(command, of),
            Op::Own(own) => turn.into_iter().for_each(|turn| self.own(turn, own.clone())),
        }
    }

    /// Spawns an actor that is no child.
    pub fn spawn(&self, spec: Spec, kept: bool) -> (usize, Addr<Worker>) {
        let group = match spec.place {
            Place::Group(group) => Some(group),
            _ => None,
        };
        let settings = ActorSettings {
            group,
            lanes: lanes_of(spec.mailbox),
            restartable: spec.restartable,
            supervised: None,
            kept,
        };
        let number = self.world.enlist(settings);
        // ORDERING: Relaxed. Before the address is there.
        self.world.has_callers.fetch_or(spec.place == Place::Caller, Ordering::Relaxed);
        let mut make = self.maker(number, spec.traps);
        let mut setup = actor(make()).mailbox(mailbox_of(spec.mailbox));
        if spec.restartable {
            setup = setup.restartable(make);
        }
        setup = match spec.place {
            Place::Plain | Place::Child(_) => setup,
            Place::Group(group) => setup.in_group(&self.groups[group]),
            Place::Dispatcher => setup.on(self.world.homes[1]),
            Place::Caller => setup.on(Host::caller_for(3)),
            Place::Blocking => setup.on(Host::blocking()),
            Place::Detached => setup.on(Host::detached()),
        };
        let address = setup.spawn();
        self.world.know(number, address.to_any());
        self.watch_over(number, &address);
        (number, address)
    }

    /// Declares a child.
    pub fn declare(
        &self,
        tree: &mut Tree,
        spec: Spec,
        comeback: Comeback,
    ) -> (usize, Addr<Worker>) {
        let supervised = match comeback {
            Comeback::Permanent => RestartPolicy::Permanent,
            Comeback::Transient => RestartPolicy::Transient,
            Comeback::Temporary => RestartPolicy::Temporary,
        };
        let settings = ActorSettings { supervised: Some(supervised), ..ActorSettings::default() };
        let number = self.world.enlist(settings);
        let make = self.maker(number, spec.traps);
        let child: Child<Worker> = match comeback {
            Comeback::Permanent => permanent(make),
            Comeback::Transient => transient(make),
            Comeback::Temporary => temporary(make),
        };
        // Siblings may be stopped in the middle of a behaviour that waits for one that is down.
        let shutdown = Shutdown::stop().within(Duration::from_millis(20));
        let address = tree.child(child.shutdown(shutdown));
        self.world.know(number, address.to_any());
        self.watch_over(number, &address);
        (number, address)
    }

    fn maker(&self, number: usize, traps: bool) -> impl FnMut() -> Worker + Send + use<> {
        let token = Token::new(&self.world);
        move || Worker::new(number, traps, &token.0)
    }

    /// One watch that is never undone.
    fn watch_over(&self, number: usize, address: &Addr<Worker>) {
        let world = &self.world;
        let (watch, call) = (world.next_watch(), world.tick());
        let far = Arc::clone(world);
        address.on_down(move |down| {
            let reason = far.reason(&down.reason);
            far.note(ActorEvent::Told { watch, reason });
        });
        world.note(ActorEvent::Watched { watch, actor: number, by: None, call });
    }

    fn send(&self, to: usize, lane: Option<usize>, way: Way, act: Act) {
        let Some((number, actor)) = self.actors[to].clone() else { return };
        let world = &self.world;
        let ticket = Ticket::new(world);
        let id = ticket.id;
        let put = Put { ticket, act, job: self.clone() };
        // Which lane it is: the one that is named, or the last.
        let lanes = actor.mailbox().lanes().count().max(1);
        let known = lane.unwrap_or(lanes - 1).min(lanes - 1);
        let (asked, limited) =
            (matches!(way, Way::Ask | Way::AskFor(_)), matches!(way, Way::AskFor(_)));
        let message = ItemKind::Message { lane: known, asked, by_held: false, limited };
        let members = vec![ItemMember { of: ItemTarget::Actor(number), read: false }];
        let item = Item { kind: message, members };
        let call = world.tick();
        match way {
            Way::Send => {
                let sent = match lane {
                    None => actor.send(put),
                    Some(lane) => actor.send_in(lane, put),
                };
                note_sent(world, id, item, call, sent);
            }
            Way::Ask | Way::AskFor(_) => {
                let ask = match lane {
                    None => actor.ask(put),
                    Some(lane) => actor.ask_in(lane, put),
                };
                world.note(ActorEvent::Spawned { id, item, call });
                let ask = match way {
                    Way::AskFor(micros) => ask.timeout(Duration::from_micros(micros)),
                    _ => ask,
                };
                if let Some(asks) = &world.asks {
                    return asks.push((id, ask));
                }
                let far = Arc::clone(world);
                drop(ask.then((), move |(), answer| {
                    let answer = far.answer(&answer);
                    far.note(ActorEvent::Answered(id, answer));
                }));
            }
            Way::Async => {
                let far = Arc::clone(world);
                // The first poll may come any time.
                world.note(ActorEvent::Spawned {
                    id,
                    item: Item { kind: ItemKind::Free, ..item },
                    call,
                });
                let sent = actor.send_async(put);
                drop(actor);
                drop(spawn_future(async move {
                    // What is given back is dropped: it says so itself.
                    if let Err(SendError::Stopped(_)) = sent.await {
                        far.note(ActorEvent::Gone(number));
                    }
                }));
            }
            Way::Later(micros) => {
                world.note(ActorEvent::Spawned {
                    id,
                    item: Item { kind: ItemKind::Free, ..item },
                    call,
                });
                actor.send_later(Duration::from_micros(micros), put);
            }
        }
    }

    /// An ask by a future that holds its actor.
    async fn ask_held(&self, of: usize, act: Act) {
        let Some((number, actor)) = self.actors[of].clone().filter(|_| self.held_asks) else {
            return;
        };
        let world = &self.world;
        let ticket = Ticket::new(world);
        let id = ticket.id;
        let lane = actor.mailbox().lanes().count().max(1) - 1;
        let kind = ItemKind::Message { lane, asked: true, by_held: true, limited: false };
        let members = vec![ItemMember { of: ItemTarget::Actor(number), read: false }];
        let awaited = Awaited { id, token: Token::new(world), is_over: false };
        let call = world.tick();
        let ask = actor.ask(Put { ticket, act, job: self.clone() });
        world.note(ActorEvent::Spawned { id, item: Item { kind, members }, call });
        drop(actor);
        let answer = ask.await;
        awaited.end(world.answer(&answer));
    }

    fn when(
        &self,
        writes: &[usize],
        reads: &[usize],
        cowns: &[usize],
        panics: bool,
        body: Vec<Op>,
    ) {
        let mut known: Vec<usize> = Vec::new();
        let mut named = |of: &[usize]| -> Vec<(usize, Addr<Worker>)> {
            let mut found: Vec<_> = of.iter().filter_map(|of| self.actors[*of].clone()).collect();
            found.retain(|(number, _)| {
                let is_new = !known.contains(number);
                known.push(*number);
                is_new
            });
            found
        };
        let (writes, reads) = (named(writes), named(reads));
        let member =
            |read| move |(of, _): &(usize, _)| ItemMember { of: ItemTarget::Actor(*of), read };
        let mut members: Vec<_> = writes.iter().map(member(false)).collect();
        members.extend(reads.iter().map(member(true)));
        members
            .extend(cowns.iter().map(|of| ItemMember { of: ItemTarget::Cown(*of), read: false }));
        let addresses = |of: Vec<(usize, _)>| of.into_iter().map(|(_, it)| it).collect::<Vec<_>>();
        let (writes, reads) = (addresses(writes), addresses(reads));
        // A cown would stay poisoned.
        let panics = panics && cowns.is_empty();
        let cowns: Vec<_> = cowns.iter().map(|of| self.cowns[*of].clone()).collect();
        let (ticket, mut job) = (Ticket::new(&self.world), self.clone());
        let id = ticket.id;
        let run = move || {
            ticket.begin();
            job.run(body, None);
            if panics { ticket.fail() } else { ticket.end() }
        };
        let call = self.world.tick();
        match (&writes[..], &reads[..], &cowns[..]) {
            ([actor], [], []) => when(actor, move |_| run()),
            ([], [actor], []) => when(actor.read(), move |_| run()),
            ([a, b], [], []) => when((a, b), move |_| run()),
            _ => when((&writes, read_all(&reads), &cowns), move |_| run()),
        }
        let item = Item { kind: ItemKind::Behaviour, members };
        self.world.note(ActorEvent::Spawned { id, item, call });
    }

    fn direct(&self, to: usize, what: What) {
        let Some((number, actor)) = &self.actors[to] else { return };
        let call = self.world.tick();
        let (told, done) = match what {
            What::Restart => (ActorSignal::Restart, actor.restart()),
            What::Stop => (ActorSignal::Stop, actor.stop()),
            What::Drain => (ActorSignal::Drain, actor.drain()),
            What::Kill => (ActorSignal::Kill, actor.kill()),
            What::Suspend(_) => (ActorSignal::Suspend, actor.suspend()),
        };
        note_signal(&self.world, *number, told, call, done);
        if let What::Suspend(micros) = what {
            let (world, number, actor) = (Arc::clone(&self.world), *number, actor.clone());
            after(Duration::from_micros(micros), (), move |()| {
                let call = world.tick();
                note_signal(&world, number, ActorSignal::Resume, call, actor.resume());
            });
        }
    }

    fn move_to(&self, of: usize, home: usize) {
        let Some((actor, address)) = &self.actors[of] else { return };
        let call = self.world.tick();
        match address.move_to(self.world.homes[home]) {
            Ok(()) => self.world.note(ActorEvent::Moved { actor: *actor, home, call }),
            Err(MoveError::Ended | MoveError::ToEnded) if self.world.is_cut_short() => {}
            Err(why) => panic!("{why}"),
        }
    }

    fn watch(&mut self, of: usize) {
        let Some((number, address)) = &self.actors[of] else { return };
        let world = &self.world;
        let (watch, call) = (world.next_watch(), world.tick());
        let far = Arc::clone(world);
        let callback = address.on_down(move |down| {
            let reason = far.reason(&down.reason);
            far.note(ActorEvent::Told { watch, reason });
        });
        world.note(ActorEvent::Watched { watch, actor: *number, by: None, call });
        self.watch = Some((watch, of, callback));
    }

    fn unwatch(&mut self) {
        let Some((watch, of, callback)) = self.watch.take() else { return };
        let Some((_, address)) = &self.actors[of] else { return };
        let call = self.world.tick();
        address.cancel_on_down(callback);
        self.world.note(ActorEvent::Unwatched { watch, call });
    }

    fn command(&self, command: Command, of: usize) {
        let (Some((_, child)), Some(supervisor)) = (&self.actors[of], &self.supervisor) else {
            return;
        };
        match command {
            Command::Terminate => {
                drop(supervisor.terminate_child(child.id()));
                // A wait for it need not be for ever.
                let (id, supervisor) = (child.id(), supervisor.clone());
                after(Duration::from_micros(100), (), move |()| {
                    drop(supervisor.restart_child(id));
                });
            }
            Command::Restart => drop(supervisor.restart_child(child.id())),
            Command::Delete => drop(supervisor.delete_child(child.id())),
        }
    }

    fn own(&self, turn: &mut Turn<'_>, own: Own) {
        let (world, by) = (&self.world, turn.worker);
        let context = &mut turn.context;
        match own {
            Own::Quit => {
                world.note(ActorEvent::Quits(turn.item));
                context.stop_with(ExitReason::Failed(name_of(turn.item).into()));
            }
            Own::Unstash(count) => {
                world.note(ActorEvent::Unstashed(turn.item, count));
                context.unstash(count);
            }
            Own::Link(to) => {
                let Some((to, address)) = &self.actors[to] else { return };
                let call = world.tick();
                context.link(address);
                world.note(ActorEvent::Linked { by, to: *to, call });
            }
            Own::Unlink(to) => {
                let Some((to, address)) = &self.actors[to] else { return };
                context.unlink(address);
                world.note(ActorEvent::Unlinked { by, to: *to });
            }
            Own::Monitor(to) => {
                let Some((to, address)) = &self.actors[to] else { return };
                let call = world.tick();
                let watch = world.next_watch();
                // It is told after this handler.
                world.know_monitor(context.monitor(address), watch);
                world.note(ActorEvent::Watched { watch, actor: *to, by: Some(by), call });
            }
            Own::Ask(to, body) => {
                let Some((number, address)) = &self.actors[to] else { return };
                self.ask_beside(context, by, *number, address, body);
            }
        }
    }

    /// An ask whose answer is brought back.
    fn ask_beside(
        &self,
        context: &mut Context<Worker>,
        by: usize,
        number: usize,
        address: &Addr<Worker>,
        body: Vec<Op>,
    ) {
        let world = &self.world;
        let (question, answer) = (Ticket::new(world), Ticket::new(world));
        let (id, back) = (question.id, answer.id);
        let lane = address.mailbox().lanes().count().max(1) - 1;
        let member = |of| vec![ItemMember { of: ItemTarget::Actor(of), read: false }];
        let kind = ItemKind::Message { lane, asked: true, by_held: false, limited: false };
        let awaited = Awaited { id, token: Token::new(world), is_over: false };
        let call = world.tick();
        let put = Put { ticket: question, act: Act::Run(body), job: self.clone() };
        context.ask(address, put, move |_, told, _| {
            answer.begin();
            awaited.end(answer.world().answer(&told));
            answer.end();
        });
        let item = Item { kind, members: member(number) };
        world.note(ActorEvent::Spawned { id, item, call });
        let item = Item { kind: ItemKind::Free, members: member(by) };
        world.note(ActorEvent::Spawned { id: back, item, call });
    }
}

fn note_sent(world: &World, id: usize, item: Item, call: u64, sent: Result<(), SendError<Put>>) {
    match sent {
        Ok(()) => world.note(ActorEvent::Spawned { id, item, call }),
        Err(refused) => {
            let full = matches!(refused, SendError::Full(_));
            refused.into_message().ticket.take_back(item, call, full);
        }
    }
}

fn note_signal(
    world: &World,
    actor: usize,
    what: ActorSignal,
    call: u64,
    done: Result<(), coact::actor::Stopped>,
) {
    world.note(match done {
        Ok(()) => ActorEvent::Directed { actor, what, call },
        Err(_) => ActorEvent::Gone(actor),
    });
}

fn lanes_of(post: Post) -> Vec<LaneRule> {
    let lane = |capacity, when_full| LaneRule { capacity, when_full };
    match post {
        Post::Unbounded => vec![LaneRule::default()],
        Post::Wait(room) | Post::Fail(room) => vec![lane(Some(room), WhenFull::Refuse)],
        Post::DropNewest(room) => vec![lane(Some(room), WhenFull::DropNewest)],
        Post::DropOldest(room) => vec![lane(Some(room), WhenFull::DropOldest)],
        Post::Lanes(room) => vec![
            LaneRule::default(),
            lane(Some(room), WhenFull::Refuse),
            lane(Some(room), WhenFull::DropOldest),
        ],
    }
}

fn mailbox_of(post: Post) -> Mailbox {
    match post {
        Post::Unbounded => Mailbox::unbounded(),
        Post::Wait(room) => Mailbox::bounded(room).wait(),
        Post::Fail(room) => Mailbox::bounded(room).fail(),
        Post::DropNewest(room) => Mailbox::bounded(room).drop_newest(),
        Post::DropOldest(room) => Mailbox::bounded(room).drop_oldest(),
        Post::Lanes(room) => Mailbox::lanes(3)
            .lane(1, Lane::bounded(room).fail())
            .lane(2, Lane::bounded(room).drop_oldest()),
    }
}
