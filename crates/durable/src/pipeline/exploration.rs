//! All orders of events for a few commits over two entities, against a model of what durable actors
//! promise (`docs/semantics.md`).
//!
//! A world has the pipelines of two entities, their shared commits, a store that answers as stores
//! do, and the threads that carry commands out, one lock at a time. From each state, every move
//! that is possible is tried; states that were seen before are not tried again.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashSet, VecDeque};
use std::hash::{Hash, Hasher};

use coact_core::behaviour::NotCommitted;
use coact_persist::{CommitRefusal, EntityId, Epoch, Position, Seq, StoreError};

use super::commit_outcome::{CommitOutcome, RuntimeEnded};
use super::commit_pipeline::{
    CommitPipeline, EntryKind, NextDelivery, OwnerStanding, PipelineCommand, PipelineCommands,
    PipelineEntry, PipelineResources, QueueEntry, SubmittedCommit, WaitId,
};
use super::pipelined_commit::PipelinedCommit;

/// A decision, by its place in the script.
type DecisionIndex = usize;
/// An entity, by its place among those of a world.
type EntityIndex = usize;

#[derive(Clone, Debug)]
struct TestResources;

impl PipelineResources for TestResources {
    type PostCommit = DecisionIndex;
    type SharedCommit = DecisionIndex;
    type Waiter = Sleeper;
    type Timeout = ();
    type Hold = ();
}

type TestPipeline = CommitPipeline<TestResources>;
type TestCommands = PipelineCommands<TestResources>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sleeper {
    /// What decides next waits for this entity.
    Decider,
    /// A recovery of this entity waits.
    Recovery(EntityIndex),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DecisionKind {
    /// A command that persists something.
    Command,
    /// A command that persists nothing.
    Question,
    /// A command that persists nothing, and is confirmed.
    Check,
    /// A pipelined behaviour that persists something.
    Pipelined,
    /// A pipelined behaviour that persists nothing.
    PipelinedQuestion,
    /// A behaviour that waits for its commit, and holds its members.
    Behaviour,
}

#[derive(Clone, Debug)]
struct Decision {
    kind: DecisionKind,
    /// The members, each with whether it is changed.
    members: Vec<(EntityIndex, bool)>,
}

fn command(entity: EntityIndex) -> Decision {
    Decision { kind: DecisionKind::Command, members: vec![(entity, true)] }
}

fn question(entity: EntityIndex) -> Decision {
    Decision { kind: DecisionKind::Question, members: vec![(entity, false)] }
}

fn check(entity: EntityIndex) -> Decision {
    Decision { kind: DecisionKind::Check, members: vec![(entity, false)] }
}

fn pipelined(members: [bool; 2]) -> Decision {
    let kind = match members.contains(&true) {
        true => DecisionKind::Pipelined,
        false => DecisionKind::PipelinedQuestion,
    };
    Decision { kind, members: members.into_iter().enumerate().collect() }
}

fn pipelined_alone(entity: EntityIndex) -> Decision {
    Decision { kind: DecisionKind::Pipelined, members: vec![(entity, true)] }
}

fn behaviour(members: [bool; 2]) -> Decision {
    Decision { kind: DecisionKind::Behaviour, members: members.into_iter().enumerate().collect() }
}

impl Decision {
    fn has(&self, entity: EntityIndex) -> bool {
        self.members.iter().any(|(member, _)| *member == entity)
    }

    fn changes(&self, entity: EntityIndex) -> bool {
        self.members.contains(&(entity, true))
    }

    fn asks_store(&self) -> bool {
        !matches!(self.kind, DecisionKind::Question | DecisionKind::PipelinedQuestion)
    }
}

/// What those who wait for a decision are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Stored,
    Refused,
    Lost,
    /// It was not decided on.
    Rejected,
}

/// What the store says of a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
enum StoreAnswer {
    /// It was not asked.
    Missing,
    Open,
    Unknown,
    Stored,
    Refused,
    /// The observer is gone.
    Dropped,
}

/// What a thread does next, under one lock.
#[derive(Clone, Debug)]
enum ThreadStep {
    /// A delivery was scheduled.
    Delivery(EntityIndex),
    NextDelivery(EntityIndex),
    /// The answer of a commit of one entity.
    CommitAnswered(DecisionIndex, Result<Position, CommitRefusal>),
    MemberAnswered(EntityIndex, DecisionIndex, Result<Position, CommitRefusal>, bool),
    SharedAnswered(DecisionIndex, CommitOutcome),
    PartDecided(DecisionIndex, EntityIndex),
    PartCompleted(DecisionIndex, EntityIndex, CommitOutcome),
    Unknown(EntityIndex),
    BehaviourTold(DecisionIndex, CommitOutcome),
    AbandonAll(EntityIndex),
    PartAbandoned(DecisionIndex, EntityIndex),
    Rest(EntityIndex),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RecoveryProgress {
    Idle,
    Begun,
    Asleep,
    Reading,
}

#[derive(Clone, Debug)]
struct TestEntity {
    pipeline: TestPipeline,
    recovery: RecoveryProgress,
    is_held: bool,
    is_delivering: bool,
    unknown_wait: Option<WaitId>,
    has_wait_lasted: bool,
    /// Whether the pipeline was told that the state is not what is stored.
    is_undone: bool,
    is_fenced: bool,
    /// Whether the store has refused a change since it was read last.
    is_broken_in_store: bool,
    /// The first decision since the last recovery.
    since: DecisionIndex,
}

#[derive(Clone, Debug)]
struct SharedEntry {
    state: PipelinedCommit<DecisionIndex>,
    /// The numbers of its parts.
    numbers: [Option<u64>; 2],
}

/// How often what is rare may happen.
#[derive(Clone, Copy, Debug)]
struct Budget {
    refusals: usize,
    fences: usize,
    unknowns: usize,
    cancels: usize,
}

#[derive(Clone, Debug)]
struct World {
    script: Vec<Decision>,
    entities: Vec<TestEntity>,
    shared: Vec<Option<SharedEntry>>,
    submitted: Vec<Option<SubmittedCommit>>,
    store: Vec<StoreAnswer>,
    verdicts: Vec<Option<Verdict>>,
    /// What is decided next, or is decided and not submitted.
    next: DecisionIndex,
    is_decided: bool,
    is_decider_asleep: bool,
    /// The behaviour that holds its members.
    behaviour: Option<DecisionIndex>,
    threads: Vec<VecDeque<ThreadStep>>,
    /// Whether the runtime of an entity has ended, and which.
    is_cancelled: bool,
    has_runtime_ended: [bool; 2],
    budget: Budget,
}

#[derive(Clone, Copy, Debug)]
enum WorldMove {
    Decide,
    Submit,
    Answer(DecisionIndex, bool),
    Fence(DecisionIndex, EntityIndex),
    LoseAnswer(DecisionIndex),
    DropObserver(DecisionIndex),
    Thread(usize),
    /// The runtime drops a delivery that was scheduled.
    DropDelivery(usize),
    BeginRecovery(EntityIndex),
    TakeOver(EntityIndex),
    EndRecovery(EntityIndex),
    Timeout(EntityIndex),
    /// The runtime ends, or that of the first entity alone.
    Cancel {
        is_of_both: bool,
    },
}

impl World {
    fn new(script: Vec<Decision>, budget: Budget) -> Self {
        let entity = |key: &str| TestEntity {
            pipeline: CommitPipeline::new(EntityId::new("test", key)),
            recovery: RecoveryProgress::Idle,
            is_held: false,
            is_delivering: false,
            unknown_wait: None,
            has_wait_lasted: false,
            is_undone: false,
            is_fenced: false,
            is_broken_in_store: false,
            since: 0,
        };
        let count = script.len();
        Self {
            script,
            entities: ["0", "1"].map(entity).into(),
            shared: vec![None; count],
            submitted: vec![None; count],
            store: vec![StoreAnswer::Missing; count],
            verdicts: vec![None; count],
            next: 0,
            is_decided: false,
            is_decider_asleep: false,
            behaviour: None,
            threads: Vec::new(),
            is_cancelled: false,
            has_runtime_ended: [false; 2],
            budget,
        }
    }

    fn standing(&self, entity: EntityIndex) -> OwnerStanding {
        self.entities[entity].pipeline.standing(usize::MAX, || None)
    }

    fn is_cown_free(&self, entity: EntityIndex) -> bool {
        let held = |decision: DecisionIndex| self.script[decision].has(entity);
        let is_deciding = self.is_decided && held(self.next);
        !is_deciding && !self.behaviour.is_some_and(held)
    }

    // Which moves are possible.

    fn moves(&self) -> Vec<WorldMove> {
        let mut moves = Vec::new();
        if self.is_decided {
            moves.push(WorldMove::Submit);
        } else if self.may_decide() {
            moves.push(WorldMove::Decide);
        }
        for (decision, answer) in self.store.iter().enumerate() {
            match answer {
                StoreAnswer::Open | StoreAnswer::Unknown => self.answers(decision, &mut moves),
                _ => {}
            }
        }
        for (thread, steps) in self.threads.iter().enumerate() {
            if !steps.is_empty() {
                moves.push(WorldMove::Thread(thread));
                let dropped = |entity: EntityIndex| self.has_runtime_ended[entity];
                if matches!(steps[0], ThreadStep::Delivery(entity) if dropped(entity)) {
                    moves.push(WorldMove::DropDelivery(thread));
                }
            }
        }
        for entity in 0..self.entities.len() {
            self.moves_of(entity, &mut moves);
        }
        if self.budget.cancels > 0 {
            moves.extend([true, false].map(|is_of_both| WorldMove::Cancel { is_of_both }));
        }
        moves
    }

    fn may_decide(&self) -> bool {
        let Some(decision) = self.script.get(self.next) else { return false };
        let is_ready = |(entity, _): &(EntityIndex, bool)| {
            self.is_cown_free(*entity)
                && !matches!(self.standing(*entity), OwnerStanding::Undone(_))
        };
        !self.is_cancelled && !self.is_decider_asleep && decision.members.iter().all(is_ready)
    }

    fn answers(&self, decision: DecisionIndex, moves: &mut Vec<WorldMove>) {
        let is_unknown = self.store[decision] == StoreAnswer::Unknown;
        if self.stale_member(decision).is_some() {
            // What rests on a change that the store does not have is a conflict.
            moves.push(WorldMove::Answer(decision, false));
        } else {
            moves.push(WorldMove::Answer(decision, true));
            if self.budget.refusals > 0 || is_unknown {
                moves.push(WorldMove::Answer(decision, false));
            }
        }
        let is_check = self.script[decision].kind == DecisionKind::Check;
        if self.budget.unknowns > 0 && !is_unknown && !is_check {
            moves.push(WorldMove::LoseAnswer(decision));
        }
        if self.budget.fences > 0 && !is_unknown {
            let members = &self.script[decision].members;
            moves.extend(members.iter().map(|(entity, _)| WorldMove::Fence(decision, *entity)));
        }
        let (first, _) = self.script[decision].members[0];
        if self.has_runtime_ended[first] && is_unknown {
            moves.push(WorldMove::DropObserver(decision));
        }
    }

    /// The member of which the store does not have what the decision has seen.
    fn stale_member(&self, decision: DecisionIndex) -> Option<EntityIndex> {
        let is_stale = |entity: &EntityIndex| {
            let member = &self.entities[*entity];
            let is_missing = |earlier: DecisionIndex| {
                self.script[earlier].changes(*entity)
                    && matches!(self.store[earlier], StoreAnswer::Open | StoreAnswer::Unknown)
            };
            member.is_broken_in_store || (member.since..decision).any(is_missing)
        };
        self.script[decision].members.iter().map(|(entity, _)| *entity).find(is_stale)
    }

    fn moves_of(&self, entity: EntityIndex, moves: &mut Vec<WorldMove>) {
        let TestEntity { recovery, unknown_wait, has_wait_lasted, .. } = &self.entities[entity];
        match recovery {
            RecoveryProgress::Idle
                if matches!(self.standing(entity), OwnerStanding::Undone(_))
                    && self.is_cown_free(entity)
                    && !self.is_cancelled =>
            {
                moves.push(WorldMove::BeginRecovery(entity));
            }
            RecoveryProgress::Begun => moves.push(WorldMove::TakeOver(entity)),
            RecoveryProgress::Reading => moves.push(WorldMove::EndRecovery(entity)),
            _ => {}
        }
        if unknown_wait.is_some() && !has_wait_lasted {
            moves.push(WorldMove::Timeout(entity));
        }
    }

    // Moves.

    fn make(&mut self, next_move: WorldMove) {
        match next_move {
            WorldMove::Decide => self.decide(),
            WorldMove::Submit => self.submit(),
            WorldMove::Answer(decision, is_stored) => self.answer(decision, is_stored),
            WorldMove::Fence(decision, entity) => {
                self.budget.fences -= 1;
                self.refuse(decision, fenced(&self.id(entity)));
            }
            WorldMove::LoseAnswer(decision) => self.lose_answer(decision),
            WorldMove::DropObserver(decision) => self.drop_observer(decision),
            WorldMove::Thread(thread) => self.step(thread),
            WorldMove::DropDelivery(thread) => {
                let Some(ThreadStep::Delivery(entity)) = self.threads[thread].pop_front() else {
                    unreachable!()
                };
                self.entities[entity].is_delivering = false;
                let entries = self.entities[entity].pipeline.delivery_dropped();
                self.abandon(thread, entity, entries);
            }
            WorldMove::BeginRecovery(entity) => self.begin_recovery(entity),
            WorldMove::TakeOver(entity) => self.take_over(entity),
            WorldMove::EndRecovery(entity) => {
                self.entities[entity].recovery = RecoveryProgress::Idle;
                let commands = self.entities[entity].pipeline.recovery_ended(None);
                self.carry_out(entity, commands);
            }
            WorldMove::Timeout(entity) => self.time_out(entity),
            WorldMove::Cancel { is_of_both } => {
                self.budget.cancels -= 1;
                (self.is_cancelled, self.has_runtime_ended) = (true, [true, is_of_both]);
                let ended = (0..2).filter(|entity| self.has_runtime_ended[*entity]);
                self.threads.push(ended.map(ThreadStep::AbandonAll).collect());
            }
        }
        self.threads.retain(|steps| !steps.is_empty());
        // Which thread is which makes no difference.
        self.threads.sort_by_cached_key(|steps| format!("{steps:?}"));
    }

    /// Tells this state from others of the same script.
    fn fingerprint(&self) -> u64 {
        let Self { entities, shared, submitted, store, verdicts, threads, budget, .. } = self;
        let Self { next, is_decided, is_decider_asleep, behaviour, is_cancelled, .. } = self;
        let decider = (next, is_decided, is_decider_asleep, behaviour);
        let ended = (is_cancelled, &self.has_runtime_ended);
        let commits = (shared, submitted, store, verdicts);
        let mut hasher = DefaultHasher::new();
        format!("{entities:?} {commits:?} {threads:?} {decider:?} {ended:?} {budget:?}")
            .hash(&mut hasher);
        hasher.finish()
    }

    fn id(&self, entity: EntityIndex) -> EntityId {
        EntityId::new("test", entity.to_string().as_str())
    }

    fn decide(&mut self) {
        let decision = self.script[self.next].clone();
        for (entity, _) in &decision.members {
            let is_ready = match self.standing(*entity) {
                OwnerStanding::Free => true,
                OwnerStanding::Committing => decision.kind != DecisionKind::Behaviour,
                OwnerStanding::Waiting => false,
                OwnerStanding::Undone(_) => unreachable!("it is recovered first"),
                OwnerStanding::Never(_) => {
                    self.verdicts[self.next] = Some(Verdict::Rejected);
                    self.next += 1;
                    return;
                }
            };
            if !is_ready {
                let unused = self.entities[*entity].pipeline.add_waiter(Sleeper::Decider);
                self.is_decider_asleep = unused.is_none();
                return;
            }
        }
        self.is_decided = true;
    }

    fn submit(&mut self) {
        let (index, decision) = (self.next, self.script[self.next].clone());
        self.is_decided = false;
        self.next += 1;
        let (entity, changes) = decision.members[0];
        match decision.kind {
            DecisionKind::Command | DecisionKind::Check => {
                let pipeline = &mut self.entities[entity].pipeline;
                self.submitted[index] = Some(pipeline.enqueue_commit(index, changes, 1));
                self.hold(entity);
            }
            DecisionKind::Question => {
                let known = self.entities[entity].pipeline.enqueue_reader(index);
                known.into_iter().for_each(|(index, outcome)| self.tell(index, &outcome));
            }
            DecisionKind::Pipelined | DecisionKind::PipelinedQuestion => {
                self.submit_shared(index, &decision);
            }
            DecisionKind::Behaviour => self.behaviour = Some(index),
        }
        if decision.asks_store() {
            self.store[index] = StoreAnswer::Open;
        }
    }

    fn submit_shared(&mut self, index: DecisionIndex, decision: &Decision) {
        let is_settled =
            |(entity, _): &(EntityIndex, bool)| self.entities[*entity].pipeline.is_settled();
        if !decision.asks_store() && decision.members.iter().all(is_settled) {
            return self.tell(index, &CommitOutcome::Stored(Position::ZERO));
        }
        let state = PipelinedCommit::new(decision.members.len(), decision.asks_store(), index);
        let mut numbers = [None; 2];
        for (entity, changes) in &decision.members {
            let pipeline = &mut self.entities[*entity].pipeline;
            numbers[*entity] = Some(pipeline.enqueue_part(index, *changes, 1));
        }
        self.shared[index] = Some(SharedEntry { state, numbers });
        decision.members.iter().for_each(|(entity, _)| self.hold(*entity));
        if !decision.asks_store() {
            let outcome = CommitOutcome::Stored(Position::ZERO);
            self.threads.push([ThreadStep::SharedAnswered(index, outcome)].into());
        }
    }

    fn hold(&mut self, entity: EntityIndex) {
        let TestEntity { pipeline, is_held, .. } = &mut self.entities[entity];
        if pipeline.needs_hold() {
            *is_held |= pipeline.offer_hold(()).is_none();
        }
        if self.has_runtime_ended[entity] {
            self.threads.push([ThreadStep::AbandonAll(entity)].into());
        }
    }

    fn answer(&mut self, decision: DecisionIndex, is_stored: bool) {
        if is_stored {
            self.finish(decision, StoreAnswer::Stored, Ok(Position::new(1)));
            return;
        }
        let refusal = match self.stale_member(decision) {
            Some(entity) => conflict(&self.id(entity)),
            None if self.store[decision] == StoreAnswer::Unknown => CommitRefusal::Aborted,
            None => {
                self.budget.refusals -= 1;
                CommitRefusal::Store(StoreError::Unavailable { why: "away".into() })
            }
        };
        self.refuse(decision, refusal);
    }

    fn refuse(&mut self, decision: DecisionIndex, refusal: CommitRefusal) {
        for (entity, changes) in &self.script[decision].members {
            self.entities[*entity].is_broken_in_store |= *changes;
        }
        self.finish(decision, StoreAnswer::Refused, Err(refusal));
    }

    fn finish(
        &mut self,
        index: DecisionIndex,
        told: StoreAnswer,
        answer: Result<Position, CommitRefusal>,
    ) {
        let was_unknown = self.store[index] == StoreAnswer::Unknown;
        self.store[index] = told;
        let Decision { kind, members } = self.script[index].clone();
        if matches!(kind, DecisionKind::Command | DecisionKind::Check) {
            return self.threads.push([ThreadStep::CommitAnswered(index, answer)].into());
        }
        let told = members.iter().map(|(entity, _)| {
            ThreadStep::MemberAnswered(*entity, index, answer.clone(), was_unknown)
        });
        let outcome = CommitOutcome::from(&answer);
        let last = match kind {
            DecisionKind::Behaviour => ThreadStep::BehaviourTold(index, outcome),
            _ => ThreadStep::SharedAnswered(index, outcome),
        };
        self.threads.push(told.chain([last]).collect());
    }

    fn lose_answer(&mut self, index: DecisionIndex) {
        self.budget.unknowns -= 1;
        self.store[index] = StoreAnswer::Unknown;
        let Decision { kind, members } = &self.script[index];
        // (Behaviours hold their members meanwhile.)
        if *kind != DecisionKind::Behaviour {
            let told = members.iter().map(|(entity, _)| ThreadStep::Unknown(*entity));
            // Before it is settled.
            let thread = told.collect();
            self.threads.push(thread);
            let last = self.threads.len() - 1;
            while !self.threads[last].is_empty() {
                self.step(last);
            }
            let submitted = self.submitted[index].iter_mut();
            submitted.for_each(|submitted| submitted.is_unknown = true);
        }
    }

    /// The runtime has ended before a commit was settled.
    fn drop_observer(&mut self, index: DecisionIndex) {
        self.store[index] = StoreAnswer::Dropped;
        let Decision { kind, members } = self.script[index].clone();
        let why = NotCommitted::new(RuntimeEnded);
        match kind {
            DecisionKind::Behaviour => self.behaviour_told(index, &CommitOutcome::Lost),
            DecisionKind::Command => {
                let (entity, _) = members[0];
                let Some(submitted) = self.submitted[index] else { return };
                let commands = self.entities[entity].pipeline.commit_lost(submitted, why);
                self.carry_out(entity, commands);
            }
            _ => {
                for (entity, changes) in members {
                    let undone = changes.then(|| why.clone());
                    let commands = self.entities[entity].pipeline.member_lost(undone, true);
                    self.carry_out(entity, commands);
                }
                let lost = ThreadStep::SharedAnswered(index, CommitOutcome::Lost);
                self.threads.push([lost].into());
            }
        }
    }

    fn begin_recovery(&mut self, entity: EntityIndex) {
        self.entities[entity].pipeline.recovery_begun();
        self.entities[entity].recovery = RecoveryProgress::Begun;
    }

    fn take_over(&mut self, entity: EntityIndex) {
        let index = self.next;
        let member = &mut self.entities[entity];
        let Some((is_owner, commands)) = member.pipeline.take_over() else {
            member.recovery = RecoveryProgress::Asleep;
            return member.pipeline.add_patient_waiter(Sleeper::Recovery(entity));
        };
        assert!(is_owner || member.is_fenced, "E8: an owner ends only if it was replaced");
        member.recovery = RecoveryProgress::Reading;
        (member.is_undone, member.is_broken_in_store, member.since) = (false, false, index);
        self.carry_out(entity, commands);
    }

    fn time_out(&mut self, entity: EntityIndex) {
        let member = &mut self.entities[entity];
        let Some(id) = member.unknown_wait else { return };
        member.has_wait_lasted = true;
        if member.pipeline.mark_wait_lasting(id) {
            let commands = member.pipeline.wake_all();
            self.carry_out(entity, commands);
        }
    }

    // Threads.

    fn step(&mut self, thread: usize) {
        let Some(step) = self.threads[thread].pop_front() else { return };
        match step {
            ThreadStep::Delivery(entity) | ThreadStep::NextDelivery(entity) => {
                self.deliver(thread, entity);
            }
            ThreadStep::CommitAnswered(index, answer) => {
                let (entity, changes) = self.script[index].members[0];
                self.entities[entity].is_undone |= answer.is_err() && changes;
                let Some(submitted) = self.submitted[index] else { return };
                let commands = self.entities[entity].pipeline.commit_answered(submitted, &answer);
                self.carry_out(entity, commands);
            }
            ThreadStep::MemberAnswered(entity, index, answer, was_unknown) => {
                let Decision { kind, .. } = self.script[index];
                let changes = self.script[index].changes(entity);
                let is_pipelined = kind == DecisionKind::Pipelined;
                self.entities[entity].is_undone |= answer.is_err() && changes && is_pipelined;
                let pipeline = &mut self.entities[entity].pipeline;
                let commands = pipeline.member_answered(
                    &answer,
                    changes && is_pipelined,
                    was_unknown && is_pipelined,
                );
                self.carry_out(entity, commands);
            }
            ThreadStep::SharedAnswered(index, outcome) => {
                let Some(shared) = &mut self.shared[index] else { return };
                shared.state.answered(outcome);
                let parts = (0..2).filter(|entity| shared.numbers[*entity].is_some());
                let told = parts.map(|entity| ThreadStep::PartDecided(index, entity));
                self.threads[thread].extend(told);
            }
            ThreadStep::PartDecided(index, entity) => {
                self.tell_part(index, entity, CommitPipeline::part_decided);
            }
            ThreadStep::PartCompleted(index, entity, outcome) => {
                self.tell_part(index, entity, |pipeline, number| {
                    pipeline.part_completed(number, outcome)
                });
            }
            ThreadStep::Unknown(entity) => {
                let why = StoreError::Unavailable { why: "cut off".into() };
                let member = &mut self.entities[entity];
                if let Some(id) = member.pipeline.commit_unknown(&why) {
                    assert_eq!(member.pipeline.timeout_started(id, ()), None);
                    (member.unknown_wait, member.has_wait_lasted) = (Some(id), false);
                }
            }
            ThreadStep::BehaviourTold(index, outcome) => self.behaviour_told(index, &outcome),
            ThreadStep::AbandonAll(entity) => {
                let entries = self.entities[entity].pipeline.abandon_all();
                self.abandon(thread, entity, entries);
            }
            ThreadStep::PartAbandoned(index, entity) => {
                let Some(number) = self.number_of(index, entity) else { return };
                if let Some(entries) = self.entities[entity].pipeline.part_abandoned(number) {
                    self.abandon(thread, entity, entries);
                }
            }
            ThreadStep::Rest(entity) => {
                let commands = self.entities[entity].pipeline.wake_and_release();
                self.carry_out(entity, commands);
            }
        }
    }

    fn number_of(&self, index: DecisionIndex, entity: EntityIndex) -> Option<u64> {
        self.shared[index].as_ref()?.numbers[entity]
    }

    fn tell_part(
        &mut self,
        index: DecisionIndex,
        entity: EntityIndex,
        event: impl FnOnce(&mut TestPipeline, u64) -> TestCommands,
    ) {
        let Some(number) = self.number_of(index, entity) else { return };
        let commands = event(&mut self.entities[entity].pipeline, number);
        self.carry_out(entity, commands);
    }

    fn deliver(&mut self, thread: usize, entity: EntityIndex) {
        match self.entities[entity].pipeline.next_delivery() {
            NextDelivery::Arrived { commit, refusal } => {
                let Some(shared) = &mut self.shared[commit] else { unreachable!() };
                if let Some((index, outcome)) = shared.state.arrived(refusal) {
                    self.tell(index, &outcome);
                    let Some(shared) = &mut self.shared[commit] else { unreachable!() };
                    let outcome = shared.state.completed();
                    let told = (0..2)
                        .map(|entity| ThreadStep::PartCompleted(commit, entity, outcome.clone()));
                    self.threads[thread].extend(told);
                }
                self.threads[thread].push_back(ThreadStep::NextDelivery(entity));
            }
            NextDelivery::Left { entry, outcome, outcome_behind } => {
                if let EntryKind::Own { post_commit, .. } = entry.kind {
                    self.tell(post_commit, &outcome);
                }
                entry.readers.into_iter().for_each(|index| self.tell(index, &outcome_behind));
                self.threads[thread].push_back(ThreadStep::NextDelivery(entity));
            }
            NextDelivery::Finished(commands) => {
                self.entities[entity].is_delivering = false;
                self.carry_out(entity, commands);
            }
        }
    }

    fn abandon(
        &mut self,
        thread: usize,
        entity: EntityIndex,
        entries: Vec<PipelineEntry<TestResources>>,
    ) {
        for QueueEntry { kind, readers, .. } in entries {
            match kind {
                EntryKind::Own { post_commit, .. } => self.tell(post_commit, &CommitOutcome::Lost),
                EntryKind::Part { commit, .. } => {
                    let Some(shared) = &mut self.shared[commit] else { unreachable!() };
                    let post_commit = shared.state.abandon();
                    post_commit.iter().for_each(|index| self.tell(*index, &CommitOutcome::Lost));
                    let parts = (0..2).map(|entity| ThreadStep::PartAbandoned(commit, entity));
                    self.threads[thread].extend(parts);
                }
            }
            readers.into_iter().for_each(|index| self.tell(index, &CommitOutcome::Lost));
        }
        self.threads[thread].push_front(ThreadStep::Rest(entity));
    }

    fn carry_out(&mut self, entity: EntityIndex, commands: TestCommands) {
        for command in commands {
            match command {
                PipelineCommand::Cancel(()) => {
                    let member = &mut self.entities[entity];
                    (member.unknown_wait, member.has_wait_lasted) = (None, false);
                }
                PipelineCommand::RecoverActor => {}
                PipelineCommand::StopActor { .. } => self.entities[entity].is_fenced = true,
                PipelineCommand::Wake(sleepers) => {
                    for sleeper in sleepers {
                        match sleeper {
                            Sleeper::Decider => self.is_decider_asleep = false,
                            Sleeper::Recovery(entity) => {
                                self.entities[entity].recovery = RecoveryProgress::Begun;
                            }
                        }
                    }
                }
                PipelineCommand::Release(()) => {
                    assert!(self.entities[entity].is_held, "what is held is released once");
                    self.entities[entity].is_held = false;
                }
                PipelineCommand::Deliver => {
                    let member = &mut self.entities[entity];
                    assert!(!member.is_delivering, "there is one delivery at a time");
                    member.is_delivering = true;
                    self.threads.push([ThreadStep::Delivery(entity)].into());
                }
            }
        }
    }

    fn behaviour_told(&mut self, index: DecisionIndex, outcome: &CommitOutcome) {
        self.tell(index, outcome);
        self.behaviour = None;
        // The core has its members recovered.
        for (entity, changes) in self.script[index].members.clone() {
            let member = &self.entities[entity];
            let is_over = member.pipeline.has_ended() || self.is_cancelled;
            if changes && !matches!(outcome, CommitOutcome::Stored(_)) && !is_over {
                self.begin_recovery(entity);
            }
        }
    }

    // What is promised.

    /// Someone is told the outcome of a decision.
    fn tell(&mut self, index: DecisionIndex, outcome: &CommitOutcome) {
        let verdict = match outcome {
            CommitOutcome::Stored(_) => Verdict::Stored,
            CommitOutcome::NotStored(_) => Verdict::Refused,
            CommitOutcome::Lost => Verdict::Lost,
        };
        assert_eq!(self.verdicts[index], None, "E4: decision {index} is told once");
        self.verdicts[index] = Some(verdict);
        if verdict == Verdict::Lost {
            assert!(self.is_cancelled, "E12: only the end of a runtime loses an outcome");
            return;
        }
        let decision = &self.script[index];
        let earlier = |entity: EntityIndex| {
            let script = &self.script;
            (0..index).filter(move |earlier| script[*earlier].has(entity))
        };
        for (entity, _) in &decision.members {
            for earlier in earlier(*entity) {
                let is_told = self.verdicts[earlier].is_some();
                assert!(is_told, "E4, E23: {index} is told before {earlier}, which it has seen");
            }
        }
        if decision.asks_store() {
            let told =
                if verdict == Verdict::Stored { StoreAnswer::Stored } else { StoreAnswer::Refused };
            return assert_eq!(
                self.store[index], told,
                "E5, E6: {index} is told what the store says"
            );
        }
        let refused = |is_of_interest: &dyn Fn(DecisionIndex, EntityIndex) -> bool| {
            decision.members.iter().any(|(entity, _)| {
                let since = self.entities[*entity].since;
                let mut seen = earlier(*entity).filter(|earlier| *earlier >= since);
                seen.any(|earlier| is_of_interest(earlier, *entity))
            })
        };
        if verdict == Verdict::Stored {
            let has_seen = refused(&|earlier, entity| {
                self.verdicts[earlier] == Some(Verdict::Refused)
                    && self.script[earlier].changes(entity)
            });
            assert!(!has_seen, "E5: {index} has seen what is not stored");
        } else {
            // (E12: a change that is lost may not be stored.)
            let is_lost = |earlier: DecisionIndex, _| {
                matches!(self.verdicts[earlier], Some(Verdict::Refused | Verdict::Lost))
            };
            assert!(refused(&is_lost), "E5: {index} has seen nothing that is not stored");
        }
    }

    /// What holds in each state.
    fn check(&self) {
        if self.is_cancelled {
            return;
        }
        for (entity, member) in self.entities.iter().enumerate() {
            let standing = self.standing(entity);
            let may_decide = matches!(standing, OwnerStanding::Free | OwnerStanding::Committing);
            assert!(!(may_decide && member.is_undone), "E5: what is undone is recovered first");
            assert!(!(may_decide && member.is_fenced), "E8: an owner that was replaced decides");
            assert!(!(may_decide && member.has_wait_lasted), "E10: what lasts is told");
            let pending = (0..self.next).filter(|earlier| {
                let Decision { kind, .. } = self.script[*earlier];
                self.script[*earlier].has(entity)
                    && kind != DecisionKind::Behaviour
                    && self.verdicts[*earlier].is_none()
            });
            let has_pending = pending.count() > 0;
            assert!(
                !(has_pending && standing == OwnerStanding::Free),
                "E2: it waits for what is before"
            );
            // (A question may be pending by itself, behind a delivery.)
            let has_commit = (0..self.next).any(|earlier| {
                self.verdicts[earlier].is_none()
                    && self.script[earlier].has(entity)
                    && matches!(
                        self.script[earlier].kind,
                        DecisionKind::Command | DecisionKind::Pipelined
                    )
            });
            assert!(member.is_held || !has_commit, "E12: the runtime is held while one is pending");
        }
    }

    /// What holds when nothing more can happen.
    fn check_end(&self) {
        for (index, verdict) in self.verdicts.iter().enumerate() {
            let is_submitted = index < self.next;
            assert!(verdict.is_some() || !is_submitted, "E4, E6: {index} is never told");
            assert!(is_submitted || self.is_cancelled, "E2, E10: {index} waits for ever");
        }
        for TestEntity { pipeline, recovery, is_held, unknown_wait, .. } in &self.entities {
            assert!(!is_held && pipeline.needs_hold(), "E12: what is held is released");
            assert_eq!(*recovery, RecoveryProgress::Idle, "E7: a recovery waits for ever");
            assert_eq!(*unknown_wait, None, "E10: a wait is over with what it waits for");
            let is_full = pipeline.standing(1, || None) == OwnerStanding::Waiting;
            assert!(!is_full, "nothing is in flight");
        }
    }
}

fn fenced(entity: &EntityId) -> CommitRefusal {
    let (epoch, owner) = (Epoch::new(1), Epoch::new(2));
    CommitRefusal::Fenced { entity: entity.clone(), epoch, owner }
}

fn conflict(entity: &EntityId) -> CommitRefusal {
    let (expected, found) = (Seq::new(2), Seq::new(1));
    CommitRefusal::Conflict { entity: entity.clone(), expected, found }
}

/// Tries all orders of events. Returns how many states there are, and how many of them are ends.
fn explore(script: &[Decision], budget: Budget) -> (usize, usize) {
    let (mut seen, mut ends) = (HashSet::new(), 0);
    let mut open = vec![World::new(script.to_vec(), budget)];
    while let Some(world) = open.pop() {
        let moves = world.moves();
        if moves.is_empty() {
            world.check_end();
            ends += 1;
        }
        for next_move in moves {
            let mut world = world.clone();
            world.make(next_move);
            world.check();
            if seen.insert(world.fingerprint()) {
                open.push(world);
            }
        }
    }
    (seen.len(), ends)
}

const QUIET: Budget = Budget { refusals: 0, fences: 0, unknowns: 0, cancels: 0 };

fn all_orders(scripts: &[Vec<Decision>], budget: Budget) {
    for script in scripts {
        let (states, ends) = explore(script, budget);
        assert!(states > 5 && ends > 0);
    }
}

fn scripts() -> Vec<Vec<Decision>> {
    vec![
        vec![command(0), command(0), question(0)],
        vec![command(0), check(0), question(0)],
        vec![command(0), pipelined([true, true]), question(1)],
        vec![pipelined([true, false]), pipelined([false, true])],
        vec![pipelined([false, false]), pipelined([true, true])],
        vec![command(1), pipelined([false, false]), command(0)],
        vec![pipelined([true, true]), behaviour([true, false])],
        vec![command(0), behaviour([true, true]), command(1)],
    ]
}

#[test]
fn all_orders_of_answers() {
    all_orders(&scripts(), QUIET);
}

#[test]
fn all_orders_with_a_refusal() {
    all_orders(&scripts(), Budget { refusals: 1, ..QUIET });
}

#[test]
fn all_orders_with_another_owner() {
    all_orders(&scripts(), Budget { fences: 1, ..QUIET });
}

#[test]
fn all_orders_with_an_unknown_outcome() {
    all_orders(&scripts(), Budget { unknowns: 1, ..QUIET });
}

#[test]
fn all_orders_with_the_end_of_the_runtime() {
    let two = [
        vec![command(0), question(0)],
        vec![check(0), command(0)],
        vec![pipelined([true, true])],
        vec![command(0), pipelined_alone(0)],
        vec![behaviour([true, true])],
    ];
    all_orders(&two, Budget { cancels: 1, ..QUIET });
    let one = [vec![command(0)], vec![pipelined_alone(0)]];
    all_orders(&one, Budget { cancels: 1, unknowns: 1, ..QUIET });
}
