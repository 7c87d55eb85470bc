//! Groups waiting requests into transactions, and answers them.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use coact_persist::{
    Claim, CommitId, CommitRefusal, CommitSettlement, Position, StoreError, StoreOutcome,
};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep};
use tracing::warn;

use crate::connect_error::ConnectError;
use crate::connection_settings::{AccessMode, ConnectionSettings};
use crate::plan::{CommitDecision, WriteAnswer};
use crate::reconnect::{PreparedSession, ReconnectingSession};
use crate::request::{StoreRequest, WriteRequest, tell};
use crate::schema::{self, TableSetup};
use crate::session::{Session, of_failure};
use crate::statement_failure::{FailureKind, StatementFailure};
use crate::write_session::{CommittedBatch, FailedBatch, WriteSession};

/// The most requests in one transaction, and roughly how many bytes.
const BATCH: (usize, usize) = (1_024, 8 << 20);

/// How often to try a transaction that collides with others.
const TRIES: u32 = 10;

/// How many reported decisions of this store to keep, and how many more trigger a deletion.
const KEPT: (usize, usize) = (10_000, 1_000);

/// How long to keep all other decisions, and how often to delete older ones.
const RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const SWEEP: Duration = Duration::from_secs(24 * 60 * 60);

impl PreparedSession for WriteSession {
    async fn open(settings: &ConnectionSettings, tables: TableSetup) -> Result<Self, ConnectError> {
        let session = Session::open(settings, AccessMode::Write).await?;
        schema::ready(settings, &session, (AccessMode::Write, tables)).await?;
        let prepared = settings.in_time(Self::new(session)).await;
        prepared.map_err(|failure| of_failure(settings, &failure))
    }

    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn into_session(self) -> Session {
        self.session
    }
}

pub(crate) struct StoreWriter {
    session: ReconnectingSession<WriteSession>,
    /// With their sizes.
    jobs: UnboundedReceiver<StoreRequest<(WriteRequest, usize)>>,
    /// How long the server may take for each half of a transaction.
    patience: Duration,
    memory: DecisionMemory,
    swept: Option<Instant>,
}

/// Tracks which decisions of this store may be deleted (`docs/design/0035-postgresql.md`).
#[derive(Default)]
struct DecisionMemory {
    /// Reported decisions, oldest first.
    told: VecDeque<CommitId>,
    /// Commits reported as unknown and not settled yet.
    unknown: HashSet<CommitId>,
}

impl DecisionMemory {
    /// Returns the decisions that may be deleted now.
    fn old(&self) -> Vec<CommitId> {
        let (kept, more) = KEPT;
        if self.told.len() < kept + more {
            return Vec::new();
        }
        self.told.iter().take(more).copied().collect()
    }

    fn tell(&mut self, id: CommitId) {
        if !self.unknown.is_empty() {
            self.unknown.remove(&id);
        }
        self.told.push_back(id);
    }
}

impl StoreWriter {
    pub(crate) async fn open(
        settings: ConnectionSettings,
        jobs: UnboundedReceiver<StoreRequest<(WriteRequest, usize)>>,
    ) -> Result<Self, ConnectError> {
        let patience = settings.answer_timeout();
        let session = ReconnectingSession::open(settings).await?;
        Ok(Self { session, jobs, patience, memory: DecisionMemory::default(), swept: None })
    }

    /// Serves requests until the queue is closed or dropped.
    pub(crate) async fn run(mut self) {
        loop {
            let first = tokio::select! {
                biased;
                job = self.jobs.recv() => job,
                () = self.session.keep_connected() => continue,
            };
            let Some(first) = first else { break };
            let (all, closes) = self.all_that_waits(first);
            if !all.is_empty() {
                self.write(all).await;
            }
            if closes {
                break;
            }
        }
        self.session.close().await;
        self.jobs.close();
        while let Some(job) = self.jobs.recv().await {
            if let StoreRequest::Do((job, _)) = job {
                job.refuse(&StoreError::Closed);
            }
        }
    }

    /// Takes the waiting requests of one batch. Returns whether the queue was closed behind them.
    fn all_that_waits(
        &mut self,
        first: StoreRequest<(WriteRequest, usize)>,
    ) -> (Vec<WriteRequest>, bool) {
        let (most, most_bytes) = BATCH;
        let (mut all, mut bytes) = (Vec::new(), 0);
        let mut next = Some(first);
        while let Some(job) = next {
            let StoreRequest::Do((job, size)) = job else { return (all, true) };
            bytes += size;
            all.push(job);
            let has_room = all.len() < most && bytes < most_bytes;
            next = if has_room { self.jobs.try_recv().ok() } else { None };
        }
        (all, false)
    }

    /// Runs a batch as one transaction, or each request alone if the server rejects one.
    async fn write(&mut self, all: Vec<WriteRequest>) {
        match self.attempt(&all).await {
            Ok(done) => self.tell(all, done),
            Err(FailedBatch { failure, perhaps: Some(answers) }) => {
                self.tell_unknown(all, answers, &failure.unavailable());
            }
            Err(FailedBatch { failure, .. })
                if failure.kind == FailureKind::Statement && all.len() > 1 =>
            {
                for job in all {
                    let alone = vec![job];
                    match self.attempt(&alone).await {
                        Ok(done) => self.tell(alone, done),
                        Err(FailedBatch { failure, perhaps: Some(answers) }) => {
                            self.tell_unknown(alone, answers, &failure.unavailable());
                        }
                        Err(FailedBatch { failure, .. }) => refuse(alone, &failure.unavailable()),
                    }
                }
            }
            Err(FailedBatch { failure, .. }) => refuse(all, &failure.unavailable()),
        }
    }

    /// Runs a transaction; retries it while it collides with others.
    async fn attempt(&mut self, all: &[WriteRequest]) -> Result<CommittedBatch, FailedBatch> {
        let mut tries = 0;
        loop {
            let undone = match self.try_once(all).await {
                Ok(done) => return Ok(done),
                Err(undone) => undone,
            };
            tries += 1;
            let why = undone.failure.to_string();
            match undone.failure.kind {
                FailureKind::Collision | FailureKind::Stale if tries < TRIES => {
                    warn!(why, tries, "a transaction of the store is tried again");
                    sleep(delay(tries)).await;
                }
                FailureKind::Lost | FailureKind::Unavailable => {
                    self.session.drop_connection(&why);
                    return Err(undone);
                }
                FailureKind::Collision | FailureKind::Stale | FailureKind::Statement => {
                    return Err(undone);
                }
            }
        }
    }

    async fn try_once(&mut self, all: &[WriteRequest]) -> Result<CommittedBatch, FailedBatch> {
        // (A batch that writes nothing deletes nothing.)
        let writes = !all.iter().all(WriteRequest::is_check);
        let forgotten = if writes { self.memory.old() } else { Vec::new() };
        let session = self.session.get().await.map_err(|error| {
            let StoreError::Unavailable { why } = error else { unreachable!("nothing was read") };
            StatementFailure::new(FailureKind::Unavailable, why)
        })?;
        if self.swept.is_none_or(|swept| swept.elapsed() > SWEEP) {
            self.swept = Some(Instant::now());
            let kept = self.memory.unknown.iter().copied();
            if let Err(failure) = session.forget_old(RETENTION.as_secs(), kept, self.patience).await
            {
                warn!(%failure, "old decisions of the store were not forgotten");
            }
        }
        let done = session.run(all, &forgotten, self.patience).await?;
        self.memory.told.drain(..forgotten.len());
        Ok(done)
    }

    fn tell(&mut self, all: Vec<WriteRequest>, CommittedBatch { answers, before }: CommittedBatch) {
        let position = |commit| Position::new(before.get() + commit);
        for (asked, answer) in all.into_iter().zip(answers) {
            match (asked, answer) {
                (WriteRequest::Claim(_, done), WriteAnswer::Claim(claim, commits)) => {
                    tell(done, Ok(Claim { position: position(commits), ..claim }));
                }
                (WriteRequest::Commit(check, done), WriteAnswer::Check(checked)) => {
                    // As for commits, below.
                    drop(check);
                    let passed = |commits| StoreOutcome::Committed(position(commits));
                    tell(done, checked.map_or_else(StoreOutcome::Refused, passed));
                }
                (WriteRequest::Commit(commit, done), WriteAnswer::Commit(decided)) => {
                    let outcome = match decided {
                        Ok(CommitDecision::Stored(stored)) => {
                            self.memory.tell(commit.id());
                            StoreOutcome::Committed(position(stored))
                        }
                        Ok(CommitDecision::Before(CommitSettlement::Committed(before))) => {
                            StoreOutcome::Committed(before)
                        }
                        Ok(_) => StoreOutcome::Refused(CommitRefusal::Aborted),
                        Err(refusal) => StoreOutcome::Refused(refusal),
                    };
                    // The submitter may free its memory once it is told.
                    drop(commit);
                    tell(done, outcome);
                }
                (WriteRequest::Settle(id, done), WriteAnswer::Settle(decision)) => {
                    let settled = match decision {
                        CommitDecision::Before(settled) => settled,
                        CommitDecision::Stored(stored) => {
                            CommitSettlement::Committed(position(stored))
                        }
                        CommitDecision::Aborted => CommitSettlement::Aborted,
                    };
                    match settled {
                        CommitSettlement::Committed(_) => self.memory.tell(id),
                        // The decision keeps a late transaction out, as long as there may be one.
                        CommitSettlement::Aborted => drop(self.memory.unknown.remove(&id)),
                    }
                    tell(done, Ok(settled));
                }
                _ => unreachable!("each is answered by its own kind"),
            }
        }
    }

    /// Answers a batch whose transaction may have committed or not.
    fn tell_unknown(
        &mut self,
        all: Vec<WriteRequest>,
        answers: Vec<WriteAnswer>,
        why: &StoreError,
    ) {
        for (asked, answer) in all.into_iter().zip(answers) {
            match (asked, answer) {
                // (That one was stored before is not certain either: the standbys may lack it.)
                (
                    WriteRequest::Commit(commit, done),
                    WriteAnswer::Commit(Ok(
                        CommitDecision::Stored(_)
                        | CommitDecision::Before(CommitSettlement::Committed(_)),
                    )),
                ) => {
                    self.memory.unknown.insert(commit.id());
                    tell(done, StoreOutcome::Unknown(why.clone()));
                }
                // The transaction stores nothing of it, and its reason to refuse may never come
                // true.
                (asked, _) => asked.refuse(why),
            }
        }
    }
}

fn refuse(all: Vec<WriteRequest>, why: &StoreError) {
    all.into_iter().for_each(|asked| asked.refuse(why));
}

/// 1 to 2 ms, and twice that each time, up to 256.
fn delay(tries: u32) -> Duration {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new().hash_one(tries) % 1_000;
    Duration::from_micros((1_000 + random) << (tries - 1).min(7))
}
