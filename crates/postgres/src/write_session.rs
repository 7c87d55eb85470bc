//! A session that writes: one round trip a transaction if all is known that it is about, and two if
//! not, whatever it does.

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
use crate::write_columns::{EntityComparison, WriteColumns, WriteStatements};

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
        /// Kinds are made outside of the transaction. One that nothing is stored of does no harm.
        insert_missing: "INSERT INTO kind (name) SELECT n FROM unnest($1::bytea[]) n
         WHERE NOT EXISTS (SELECT FROM kind k WHERE sha256(k.name) = sha256(n)) ORDER BY n
         ON CONFLICT DO NOTHING",
        find: "SELECT k.name, k.id FROM unnest($1::bytea[]) n JOIN kind k ON sha256(k.name) = sha256(n)",
    }
}

/// A transaction that is committed.
pub(crate) struct CommittedBatch {
    /// What has come of each thing that was asked.
    pub(crate) answers: Vec<WriteAnswer>,
    /// Before that of the first commit that it has stored; of one that has stored none, that of the
    /// last one that there is.
    pub(crate) before: Position,
}

/// One that has failed.
pub(crate) struct FailedBatch {
    pub(crate) failure: StatementFailure,
    /// What has come of each thing that was asked, if the transaction is committed after all. `None` if it is undone.
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

    /// Does all that is asked, one after the other, and forgets decisions.
    pub(crate) async fn run(
        &mut self,
        all: &[WriteRequest],
        forgotten: &[CommitId],
        patience: Duration,
    ) -> Result<CommittedBatch, FailedBatch> {
        let batch = self.cache.place_entities(all);
        let mut done = None;
        if let Some((expected, planned)) = self.guess(all, &batch) {
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
            None => match self.find_out(all, &batch, patience).await {
                Ok(planned) => self.store(planned, None, &batch, forgotten, patience).await,
                Err(failure) => Err(self.undo(failure, patience).await.into()),
            },
        };
        if done.is_err() {
            self.cache.forget_all();
        }
        done
    }

    /// What is known of the entities, and what is done if they are still so, and no commit was decided on before. `None` if that does not say
    /// all that is to be known, or some of it is refused.
    fn guess<'a>(
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

    /// Finds out how all is that is to be known, and locks it.
    async fn find_out<'a>(
        &mut self,
        all: &'a [WriteRequest],
        batch: &BatchEntities<'a>,
        patience: Duration,
    ) -> Result<AnsweredPlan<'a>, StatementFailure> {
        let begun = timeout(patience, self.begin(all, batch)).await;
        let plan = begun.map_err(|_| StatementFailure::late(patience)).flatten()?;
        Ok(AnsweredPlan::new(plan, all, batch))
    }

    /// Stores what is planned, and ends the transaction; given what is known of the entities, if it is not begun yet.
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
                // (One statement at most has told something.)
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

    /// Compares checks, all at one moment, with what is stored, given what is known of the
    /// entities: by that they pass.
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

    /// Locks the entities, and reads what is to be known.
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

    /// Makes kinds that are not there yet, and learns their numbers.
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

    /// Ends a transaction that is not to be committed. If the connection is not lost, it is free afterwards.
    async fn undo(&self, failure: StatementFailure, patience: Duration) -> StatementFailure {
        if failure.kind == FailureKind::Lost {
            return failure;
        }
        match timeout(patience, self.session.client.batch_execute("ROLLBACK")).await {
            Ok(Ok(())) => failure,
            // The server undoes it when it notices.
            _ => StatementFailure::new(FailureKind::Lost, failure.to_string()),
        }
    }

    /// Forgets decisions that are older than a time, but those.
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

/// What a transaction does, and what comes of all that was asked, if it is committed.
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
