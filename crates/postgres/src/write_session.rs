//! A session that writes: one round trip a transaction if all is known that it is about, and two if
//! not, whatever it does.

use std::collections::HashMap;
use std::time::Duration;

use coact_persist::{CommitId, EntityId, Position};
use tokio::time::timeout;
use tokio::try_join;

use crate::entity_lookup::{LookupStatements, Needs};
use crate::failure::{Failure, Means};
use crate::job::Write;
use crate::known::{self, Concerned, Known};
use crate::plan::{Answer, Entity, Plan};
use crate::prepared_statements::prepared_statements;
use crate::row::{id_bytes, number};
use crate::session::Session;
use crate::statement_sender::StatementSender;
use crate::write_columns::{Columns, Compared, WriteStatements};

/// A session that writes.
pub(crate) struct WriteSession {
    pub(crate) session: Session,
    kind_statements: KindStatements,
    lookup_statements: LookupStatements,
    write_statements: WriteStatements,
    /// The numbers of kinds, which never change.
    kinds: HashMap<Vec<u8>, i32>,
    known: Known,
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
pub(crate) struct Done {
    /// What has come of each thing that was asked.
    pub(crate) answers: Vec<Answer>,
    /// Before that of the first commit that it has stored; of one that has stored none, that of the
    /// last one that there is.
    pub(crate) before: Position,
}

/// One that has failed.
pub(crate) struct Undone {
    pub(crate) failure: Failure,
    /// What has come of each thing that was asked, if the transaction is committed after all. `None` if it is undone.
    pub(crate) perhaps: Option<Vec<Answer>>,
}

impl From<Failure> for Undone {
    fn from(failure: Failure) -> Self {
        Self { failure, perhaps: None }
    }
}

impl WriteSession {
    /// Prepares all statements in one round trip.
    pub(crate) async fn new(session: Session) -> Result<Self, Failure> {
        let (kind_statements, lookup_statements, write_statements) = try_join!(
            KindStatements::prepare(&session, |text| text),
            LookupStatements::prepare(&session, |text| text),
            WriteStatements::prepare(&session),
        )?;
        let (kinds, known) = (HashMap::new(), Known::default());
        Ok(Self { session, kind_statements, lookup_statements, write_statements, kinds, known })
    }

    /// Does all that is asked, one after the other, and forgets decisions.
    pub(crate) async fn run(
        &mut self,
        all: &[Write],
        forgotten: &[CommitId],
        patience: Duration,
    ) -> Result<Done, Undone> {
        let concerned = self.known.concerned(all);
        let mut done = None;
        if let Some((known, planned)) = self.guess(all, &concerned) {
            let stored = if all.iter().all(Write::is_check) {
                self.compare(planned, &known, patience).await
            } else {
                self.store(planned, Some(&known), &concerned, forgotten, patience).await
            };
            let is_wrong = |undone: &Undone| undone.failure.means == Means::Stale;
            done = Some(stored).filter(|stored| !stored.as_ref().is_err_and(is_wrong));
        }
        let done = match done {
            Some(done) => done,
            None => match self.find_out(all, &concerned, patience).await {
                Ok(planned) => self.store(planned, None, &concerned, forgotten, patience).await,
                Err(failure) => Err(self.undo(failure, patience).await.into()),
            },
        };
        if done.is_err() {
            self.known.forget_all();
        }
        done
    }

    /// What is known of the entities, and what is done if they are still so, and no commit was decided on before. `None` if that does not say
    /// all that is to be known, or some of it is refused.
    fn guess<'a>(
        &self,
        all: &'a [Write],
        concerned: &Concerned<'a>,
    ) -> Option<(Vec<known::Row>, Planned<'a>)> {
        let is_plain = |asked: &Write| match asked {
            Write::Commit(commit, _) => {
                let has_notes = !commit.taken().is_empty() || !commit.left().is_empty();
                !has_notes && !commit.members().any(|(_, member)| member.deletes())
            }
            Write::Claim(..) | Write::Settle(..) => false,
        };
        if !all.iter().all(is_plain) {
            return None;
        }
        let known = self.known.all_of(concerned)?;
        let entities = known.iter().map(|row| Some(Entity::new(*row))).collect();
        let planned = Planned::new(Plan { entities, ..Plan::default() }, all, concerned);
        let is_refused =
            |answer: &Answer| matches!(answer, Answer::Commit(Err(_)) | Answer::Check(Err(_)));
        (!planned.answers.iter().any(is_refused)).then_some((known, planned))
    }

    /// Finds out how all is that is to be known, and locks it.
    async fn find_out<'a>(
        &mut self,
        all: &'a [Write],
        concerned: &Concerned<'a>,
        patience: Duration,
    ) -> Result<Planned<'a>, Failure> {
        let begun = timeout(patience, self.begin(all, concerned)).await;
        let plan = begun.map_err(|_| Failure::late(patience)).flatten()?;
        Ok(Planned::new(plan, all, concerned))
    }

    /// Stores what is planned, and ends the transaction; given what is known of the entities, if it is not begun yet.
    async fn store(
        &mut self,
        Planned { plan, answers }: Planned<'_>,
        known: Option<&[known::Row]>,
        concerned: &Concerned<'_>,
        forgotten: &[CommitId],
        patience: Duration,
    ) -> Result<Done, Undone> {
        let columns = Columns::new(&plan, known, &concerned.ids, forgotten);
        let mut to = StatementSender::new(&self.session.client);
        if let Err(failure) = columns.send(&self.write_statements, &mut to) {
            drop(to);
            return Err(self.undo(failure, patience).await.into());
        }
        let ended = timeout(patience, to.answers()).await;
        match ended.map_err(|_| Failure::late(patience)).flatten() {
            Ok(rows) => {
                // (One statement at most has told something.)
                let counted = rows.iter().flatten().next().map(|row| {
                    let last = number(row, 0);
                    Position::new(last - plan.commits().min(last))
                });
                let before = counted.or(plan.position).unwrap_or_default();
                for (place, entity) in plan.entities.iter().enumerate() {
                    entity.iter().for_each(|found| self.known.set(concerned, place, found.row));
                }
                Ok(Done { answers, before })
            }
            Err(failure) if failure.means == Means::Lost => {
                Err(Undone { failure, perhaps: Some(answers) })
            }
            Err(failure) => Err(self.undo(failure, patience).await.into()),
        }
    }

    /// Compares checks, all at one moment, with what is stored, given what is known of the
    /// entities: by that they pass.
    async fn compare(
        &self,
        Planned { answers, .. }: Planned<'_>,
        known: &[known::Row],
        patience: Duration,
    ) -> Result<Done, Undone> {
        let compared = Compared::new(known, &[]);
        let mut to = StatementSender::new(&self.session.client);
        compared.send(&self.write_statements, &mut to)?;
        let answers_of_server = timeout(patience, to.answers()).await;
        match answers_of_server.map_err(|_| Failure::late(patience)).flatten() {
            Ok(rows) => {
                let row = rows.iter().flatten().next();
                let (last, same) = row.map_or((0, 0), |row| (number(row, 0), number(row, 1)));
                if same != compared.len() as u64 {
                    return Err(Failure::new(Means::Stale, "an entity was changed").into());
                }
                Ok(Done { answers, before: Position::new(last) })
            }
            Err(failure) => Err(self.undo(failure, patience).await.into()),
        }
    }

    /// Locks the entities, and reads what is to be known.
    async fn begin<'a>(
        &mut self,
        all: &'a [Write],
        concerned: &Concerned<'a>,
    ) -> Result<Plan<'a>, Failure> {
        self.learn_kinds(&concerned.ids).await?;
        let needs = Needs::new(all, concerned, &self.kinds);
        let mut to = StatementSender::new(&self.session.client);
        needs.send(&self.lookup_statements, &mut to)?;
        let answers = to.answers().await?;
        Ok(needs.plan(answers, concerned.ids.len()))
    }

    /// Makes kinds that are not there yet, and learns their numbers.
    async fn learn_kinds(&mut self, entities: &[&EntityId]) -> Result<(), Failure> {
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
    async fn undo(&self, failure: Failure, patience: Duration) -> Failure {
        if failure.means == Means::Lost {
            return failure;
        }
        match timeout(patience, self.session.client.batch_execute("ROLLBACK")).await {
            Ok(Ok(())) => failure,
            // The server undoes it when it notices.
            _ => Failure::new(Means::Lost, failure.to_string()),
        }
    }

    /// Forgets decisions that are older than a time, but those.
    pub(crate) async fn forget_old(
        &self,
        seconds: u64,
        kept: impl Iterator<Item = CommitId>,
        patience: Duration,
    ) -> Result<u64, Failure> {
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
        let forgotten = timeout(patience, forget).await.map_err(|_| Failure::late(patience))?;
        forgotten.map_err(|error| Failure::from(&error))
    }
}

/// What a transaction does, and what comes of all that was asked, if it is committed.
struct Planned<'a> {
    plan: Plan<'a>,
    answers: Vec<Answer>,
}

impl<'a> Planned<'a> {
    fn new(mut plan: Plan<'a>, all: &'a [Write], concerned: &Concerned<'a>) -> Self {
        let asked = concerned.of(all);
        let answers = asked.map(|(asked, places)| plan.add(asked, places)).collect();
        Self { plan, answers }
    }
}
