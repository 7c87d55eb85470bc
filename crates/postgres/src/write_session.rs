//! A session that writes: one round trip for a transaction whose rows are all remembered, and two
//! for others.

use std::collections::HashMap;
use std::time::Duration;

use coact_persist::{CommitId, EntityId, Position};
use tokio::time::timeout;
use tokio::try_join;

use crate::entity_cache::{BatchEntities, EntityCache, EntityRow};
use crate::entity_lookup::{EntityLookup, LookupStatements};
use crate::plan::{PlannedEntity, TransactionPlan, WriteAnswer};
use crate::prepared_statements::prepared_statements;
use crate::request::WriteRequest;
use crate::row::{id_bytes, number};
use crate::session::Session;
use crate::statement_failure::{FailureKind, StatementFailure};
use crate::statement_sender::StatementSender;
use crate::write_statements::{EntityComparison, WriteColumns, WriteStatements};

/// A session that writes.
pub(crate) struct WriteSession {
    pub(crate) session: Session,
    kind_statements: KindStatements,
    lookup_statements: LookupStatements,
    write_statements: WriteStatements,
    /// The numbers of kinds, which never change.
    kinds: HashMap<Vec<u8>, i32>,
    cache: EntityCache,
}

prepared_statements! {
    /// The statements about kinds.
    struct KindStatements {
        /// Runs outside of the transaction. An unused kind does no harm.
        insert_missing: "INSERT INTO kind (name) SELECT n FROM unnest($1::bytea[]) n
         WHERE NOT EXISTS (SELECT FROM kind k WHERE sha256(k.name) = sha256(n)) ORDER BY n
         ON CONFLICT DO NOTHING",
        find: "SELECT k.name, k.id FROM unnest($1::bytea[]) n JOIN kind k ON sha256(k.name) = sha256(n)",
    }
}

/// A committed transaction.
pub(crate) struct CommittedBatch {
    /// The answer to each request.
    pub(crate) answers: Vec<WriteAnswer>,
    /// The position before its first commit; if it stores none, that of the last commit.
    pub(crate) before: Position,
}

/// A failed transaction.
pub(crate) struct FailedBatch {
    pub(crate) failure: StatementFailure,
    /// The answer to each request, if the transaction has committed after all. `None` if it is
    /// undone.
    pub(crate) perhaps: Option<Vec<WriteAnswer>>,
}

impl From<StatementFailure> for FailedBatch {
    fn from(failure: StatementFailure) -> Self {
        Self { failure, perhaps: None }
    }
}

impl WriteSession {
    /// Prepares all statements in one round trip.
    pub(crate) async fn new(session: Session) -> Result<Self, StatementFailure> {
        let (kind_statements, lookup_statements, write_statements) = try_join!(
            KindStatements::prepare(&session, |text| text),
            LookupStatements::prepare(&session, |text| text),
            WriteStatements::prepare(&session),
        )?;
        let (kinds, cache) = (HashMap::new(), EntityCache::default());
        Ok(Self { session, kind_statements, lookup_statements, write_statements, kinds, cache })
    }

    /// Does a batch of requests in order, and deletes old decisions.
    pub(crate) async fn run(
        &mut self,
        all: &[WriteRequest],
        forgotten: &[CommitId],
        patience: Duration,
    ) -> Result<CommittedBatch, FailedBatch> {
        let batch = self.cache.place_entities(all);
        let mut done = None;
        if let Some((expected, planned)) = self.plan_from_cache(all, &batch) {
            let stored = if all.iter().all(WriteRequest::is_check) {
                self.compare(planned, &expected, patience).await
            } else {
                self.store(planned, Some(&expected), &batch, forgotten, patience).await
            };
            let is_wrong = |undone: &FailedBatch| undone.failure.kind == FailureKind::Stale;
            done = Some(stored).filter(|stored| !stored.as_ref().is_err_and(is_wrong));
        }
        let done = match done {
            Some(done) => done,
            None => match self.plan_from_lookup(all, &batch, patience).await {
                Ok(planned) => self.store(planned, None, &batch, forgotten, patience).await,
                Err(failure) => Err(self.undo(failure, patience).await.into()),
            },
        };
        if done.is_err() {
            self.cache.forget_all();
        }
        done
    }

    /// Returns the remembered rows, and the plan that holds if they are current and no commit is a
    /// duplicate. `None` if rows or decisions must be looked up, or a request is refused.
    fn plan_from_cache<'a>(
        &self,
        all: &'a [WriteRequest],
        batch: &BatchEntities<'a>,
    ) -> Option<(Vec<EntityRow>, AnsweredPlan<'a>)> {
        let is_plain = |asked: &WriteRequest| match asked {
            WriteRequest::Commit(commit, _) => {
                let has_notes = !commit.taken().is_empty() || !commit.left().is_empty();
                !has_notes && !commit.members().any(|(_, member)| member.deletes())
            }
            WriteRequest::Claim(..) | WriteRequest::Settle(..) => false,
        };
        if !all.iter().all(is_plain) {
            return None;
        }
        let expected = self.cache.all_of(batch)?;
        let entities = expected.iter().map(|row| Some(PlannedEntity::new(*row))).collect();
        let planned = AnsweredPlan::new(
            TransactionPlan { entities, ..TransactionPlan::default() },
            all,
            batch,
        );
        let is_refused = |answer: &WriteAnswer| {
            matches!(answer, WriteAnswer::Commit(Err(_)) | WriteAnswer::Check(Err(_)))
        };
        (!planned.answers.iter().any(is_refused)).then_some((expected, planned))
    }

    /// Locks and looks up what the batch needs, and plans it.
    async fn plan_from_lookup<'a>(
        &mut self,
        all: &'a [WriteRequest],
        batch: &BatchEntities<'a>,
        patience: Duration,
    ) -> Result<AnsweredPlan<'a>, StatementFailure> {
        let begun = timeout(patience, self.begin(all, batch)).await;
        let plan = begun.map_err(|_| StatementFailure::late(patience)).flatten()?;
        Ok(AnsweredPlan::new(plan, all, batch))
    }

    /// Writes a plan and ends the transaction; with `expected` rows, begins it as well.
    async fn store(
        &mut self,
        AnsweredPlan { plan, answers }: AnsweredPlan<'_>,
        expected: Option<&[EntityRow]>,
        batch: &BatchEntities<'_>,
        forgotten: &[CommitId],
        patience: Duration,
    ) -> Result<CommittedBatch, FailedBatch> {
        let columns = WriteColumns::new(&plan, expected, &batch.ids, forgotten);
        let mut to = StatementSender::new(&self.session.client);
        if let Err(failure) = columns.send(&self.write_statements, &mut to) {
            drop(to);
            return Err(self.undo(failure, patience).await.into());
        }
        let ended = timeout(patience, to.answers()).await;
        match ended.map_err(|_| StatementFailure::late(patience)).flatten() {
            Ok(rows) => {
                // (At most one statement returns rows.)
                let counted = rows.iter().flatten().next().map(|row| {
                    let last = number(row, 0);
                    Position::new(last - plan.commits().min(last))
                });
                let before = counted.or(plan.position).unwrap_or_default();
                for (place, entity) in plan.entities.iter().enumerate() {
                    entity.iter().for_each(|found| self.cache.set(batch, place, found.row));
                }
                Ok(CommittedBatch { answers, before })
            }
            Err(failure) if failure.kind == FailureKind::Lost => {
                Err(FailedBatch { failure, perhaps: Some(answers) })
            }
            Err(failure) => Err(self.undo(failure, patience).await.into()),
        }
    }

    /// Runs a batch of checks, which pass by the remembered rows, by comparing these with the
    /// stored ones at one moment.
    async fn compare(
        &self,
        AnsweredPlan { answers, .. }: AnsweredPlan<'_>,
        expected: &[EntityRow],
        patience: Duration,
    ) -> Result<CommittedBatch, FailedBatch> {
        let compared = EntityComparison::new(expected, &[]);
        let mut to = StatementSender::new(&self.session.client);
        compared.send(&self.write_statements, &mut to)?;
        let answers_of_server = timeout(patience, to.answers()).await;
        match answers_of_server.map_err(|_| StatementFailure::late(patience)).flatten() {
            Ok(rows) => {
                let row = rows.iter().flatten().next();
                let (last, same) = row.map_or((0, 0), |row| (number(row, 0), number(row, 1)));
                if same != compared.len() as u64 {
                    return Err(
                        StatementFailure::new(FailureKind::Stale, "an entity was changed").into()
                    );
                }
                Ok(CommittedBatch { answers, before: Position::new(last) })
            }
            Err(failure) => Err(self.undo(failure, patience).await.into()),
        }
    }

    /// Locks the entities, and reads what the batch needs.
    async fn begin<'a>(
        &mut self,
        all: &'a [WriteRequest],
        batch: &BatchEntities<'a>,
    ) -> Result<TransactionPlan<'a>, StatementFailure> {
        self.learn_kinds(&batch.ids).await?;
        let needs = EntityLookup::new(all, batch, &self.kinds);
        let mut to = StatementSender::new(&self.session.client);
        needs.send(&self.lookup_statements, &mut to)?;
        let answers = to.answers().await?;
        Ok(needs.plan(answers, batch.ids.len()))
    }

    /// Makes missing kinds, and learns their numbers.
    async fn learn_kinds(&mut self, entities: &[&EntityId]) -> Result<(), StatementFailure> {
        let kinds = entities.iter().map(|id| id.kind().as_bytes());
        let mut unknown: Vec<&[u8]> =
            kinds.filter(|kind| !self.kinds.contains_key(*kind)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        if unknown.is_empty() {
            return Ok(());
        }
        let mut to = StatementSender::new(&self.session.client);
        let statements = &self.kind_statements;
        to.query(&statements.insert_missing, [&unknown])?;
        to.query(&statements.find, [&unknown])?;
        let found = to.answers().await?.pop().unwrap_or_default();
        self.kinds.extend(found.iter().map(|row| (row.get(0), row.get(1))));
        Ok(())
    }

    /// Rolls a transaction back. Unless the connection is lost, it can be used again.
    async fn undo(&self, failure: StatementFailure, patience: Duration) -> StatementFailure {
        if failure.kind == FailureKind::Lost {
            return failure;
        }
        match timeout(patience, self.session.client.batch_execute("ROLLBACK")).await {
            Ok(Ok(())) => failure,
            // The server rolls back when it finds the connection closed.
            _ => StatementFailure::new(FailureKind::Lost, failure.to_string()),
        }
    }

    /// Deletes decisions that are older than this, except for `kept`.
    pub(crate) async fn forget_old(
        &self,
        seconds: u64,
        kept: impl Iterator<Item = CommitId>,
        patience: Duration,
    ) -> Result<u64, StatementFailure> {
        let kept: Vec<_> = kept.map(id_bytes).collect();
        let seconds = seconds as f64;
        let client = &self.session.client;
        let forget = async {
            client
                .execute(
                    "DELETE FROM decision WHERE at < now() - make_interval(secs => $1::float8)
                     AND NOT id = ANY($2::bytea[])",
                    &[&seconds, &kept],
                )
                .await
        };
        let forgotten =
            timeout(patience, forget).await.map_err(|_| StatementFailure::late(patience))?;
        forgotten.map_err(|error| StatementFailure::from(&error))
    }
}

/// A plan, and the answer to each request if it is committed.
struct AnsweredPlan<'a> {
    plan: TransactionPlan<'a>,
    answers: Vec<WriteAnswer>,
}

impl<'a> AnsweredPlan<'a> {
    fn new(
        mut plan: TransactionPlan<'a>,
        all: &'a [WriteRequest],
        batch: &BatchEntities<'a>,
    ) -> Self {
        let asked = batch.of(all);
        let answers = asked.map(|(asked, places)| plan.add(asked, places)).collect();
        Self { plan, answers }
    }
}
