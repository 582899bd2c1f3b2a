//! Durable background work: a row per job, claimed under a lease, so that work of a server that died is taken up by
//! another (SPEC N1). A claim counts the job's epoch up; whoever holds an older epoch can no longer finish it.

use std::time::Duration;

use ba_protocol::{ConversationId, UserId};
use jiff::Timestamp;

use crate::cleanup::from_now;
use crate::conversations::now;
use crate::db::{Row, Session, params};
use crate::error::Result;
use crate::store::Store;

/// Characters of an error that are kept with a job.
const MAX_ERROR: usize = 500;

/// What a job is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Reading an upload in; the key is `conversation/upload`.
    Ingest,
    /// Removing everything of a deleted conversation; the key is its id.
    Purge,
    /// Removing what is old; one for the whole database, which puts itself off after each time.
    Cleanup,
}

impl JobKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Purge => "purge",
            Self::Cleanup => "cleanup",
        }
    }

    fn parse(given: &str) -> Option<Self> {
        [Self::Ingest, Self::Purge, Self::Cleanup].into_iter().find(|kind| kind.as_str() == given)
    }
}

/// Work to be done, once or again: the same kind and key is one job.
#[derive(Debug, Clone)]
pub struct NewJob {
    pub kind: JobKind,
    pub key: String,
    /// Whose work it is, for fair shares.
    pub owner: UserId,
    /// Gone with this conversation.
    pub conversation: Option<ConversationId>,
    pub run_at: Timestamp,
}

/// A claimed job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub kind: JobKind,
    pub key: String,
    pub owner: UserId,
    /// This one included.
    pub attempts: u32,
    epoch: u64,
}

macro_rules! claimable {
    ($lock:literal) => {
        concat!(
            "WITH due AS (
                SELECT j.kind, j.key FROM jobs j
                WHERE j.run_at <= $3 AND (j.lease_until IS NULL OR j.lease_until <= $3)
                  AND (SELECT COUNT(*) FROM jobs o WHERE o.owner = j.owner AND o.lease_until > $3) < $4
                ORDER BY (SELECT COUNT(*) FROM jobs o WHERE o.owner = j.owner AND o.lease_until > $3),
                         j.run_at, j.kind, j.key
                LIMIT 1",
            $lock,
            ")
             UPDATE jobs SET lease_owner = $1, lease_until = $2, attempts = attempts + 1, epoch = epoch + 1
             WHERE (kind, key) IN (SELECT kind, key FROM due)
             RETURNING kind, key, owner, attempts, epoch"
        )
    };
}

impl Store {
    pub async fn enqueue(&self, job: NewJob) -> Result<()> {
        self.db().write(move |s| Box::pin(async move { enqueue(s, &job).await })).await
    }

    /// Makes sure that a job is there, and leaves one alone that is.
    pub async fn enqueue_once(&self, job: NewJob) -> Result<()> {
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    s.execute(
                        "INSERT INTO jobs (kind, key, owner, conversation_id, run_at, attempts, epoch)
                         VALUES ($1, $2, $3, $4, $5, 0, 0) ON CONFLICT (kind, key) DO NOTHING",
                        values(&job),
                    )
                    .await
                    .map(|_| ())
                })
            })
            .await
    }

    /// The next job that is due, for `worker` and for as long as `lease`. Who has the fewest jobs going comes first, and
    /// nobody has more than `per_owner`.
    pub async fn claim_job(&self, worker: &str, lease: Duration, per_owner: u32) -> Result<Option<Job>> {
        let at = now();
        let sql = match self.db().engine().is_shared() {
            true => claimable!(" FOR UPDATE OF j SKIP LOCKED"),
            // A write transaction of SQLite is alone from its start.
            false => claimable!(""),
        };
        let given = params![worker, from_now(lease), at, per_owner];
        let row = self.db().write(move |s| Box::pin(async move { s.one(sql, given).await })).await?;
        Ok(row.as_ref().map(from_row).transpose()?.flatten())
    }

    /// One job by its name, unless it is going or gone.
    pub async fn claim_this(
        &self,
        kind: JobKind,
        key: &str,
        worker: &str,
        lease: Duration,
    ) -> Result<Option<Job>> {
        let given = params![worker, from_now(lease), now(), kind.as_str(), key];
        let row = self
            .db()
            .write(move |s| {
                Box::pin(async move {
                    s.one(
                        "UPDATE jobs SET lease_owner = $1, lease_until = $2, attempts = attempts + 1, epoch = epoch + 1
                         WHERE kind = $4 AND key = $5 AND (lease_until IS NULL OR lease_until <= $3)
                         RETURNING kind, key, owner, attempts, epoch",
                        given,
                    )
                    .await
                })
            })
            .await?;
        Ok(row.as_ref().map(from_row).transpose()?.flatten())
    }

    /// False when the job is no longer the caller's: what it does is then somebody else's to do.
    pub async fn renew_job(&self, job: &Job, lease: Duration) -> Result<bool> {
        self.of_mine(
            "UPDATE jobs SET lease_until = $4 WHERE kind = $1 AND key = $2 AND epoch = $3",
            params![job.kind.as_str(), job.key.as_str(), job.epoch, from_now(lease)],
        )
        .await
    }

    /// Done. False when it was taken over or asked for again meanwhile.
    pub async fn finish_job(&self, job: &Job) -> Result<bool> {
        self.of_mine(
            "DELETE FROM jobs WHERE kind = $1 AND key = $2 AND epoch = $3",
            params![job.kind.as_str(), job.key.as_str(), job.epoch],
        )
        .await
    }

    /// Lets go of it until later: a failure, or a job that comes round.
    pub async fn postpone_job(&self, job: &Job, after: Duration, error: Option<&str>) -> Result<bool> {
        let error = error.map(|e| ba_protocol::text::shorten(e, MAX_ERROR));
        self.of_mine(
            "UPDATE jobs SET run_at = $4, last_error = $5, lease_owner = NULL, lease_until = NULL,
                    attempts = CASE WHEN $5 IS NULL THEN 0 ELSE attempts END
             WHERE kind = $1 AND key = $2 AND epoch = $3",
            params![job.kind.as_str(), job.key.as_str(), job.epoch, from_now(after), error],
        )
        .await
    }

    /// A worker that ends lets others have its jobs at once.
    pub async fn release_jobs(&self, worker: &str) -> Result<()> {
        let released = "UPDATE jobs SET lease_owner = NULL, lease_until = NULL, epoch = epoch + 1 WHERE lease_owner = $1";
        self.of_mine(released, params![worker]).await?;
        self.wake(crate::wakes::Wake::Work);
        Ok(())
    }

    /// For the one server of a database that no other shares: the leases of the server before it are void.
    pub async fn void_job_leases(&self) -> Result<()> {
        if self.db().engine().is_shared() {
            return Ok(());
        }
        self.of_mine(
            "UPDATE jobs SET lease_owner = NULL, lease_until = NULL WHERE lease_until IS NOT NULL",
            vec![],
        )
        .await
        .map(|_| ())
    }

    /// When the next job is due or may be taken over; nothing when there is none.
    pub async fn next_job_at(&self) -> Result<Option<Timestamp>> {
        let row = self
            .db()
            .read_one(
                "SELECT MIN(CASE WHEN lease_until > run_at THEN lease_until ELSE run_at END) FROM jobs",
                vec![],
            )
            .await?;
        row.map_or(Ok(None), |row| row.optional_time(0))
    }

    async fn of_mine(&self, sql: &'static str, given: Vec<crate::db::Param>) -> Result<bool> {
        let changed = self.db().write(move |s| Box::pin(async move { s.execute(sql, given).await })).await?;
        Ok(changed > 0)
    }
}

fn values(job: &NewJob) -> Vec<crate::db::Param> {
    params![
        job.kind.as_str(),
        job.key.as_str(),
        &job.owner,
        job.conversation.as_ref().map(ToString::to_string),
        job.run_at
    ]
}

/// Inside the caller's transaction. A job that is going on under this name is fenced off and begins anew.
pub(crate) async fn enqueue(s: &mut dyn Session, job: &NewJob) -> Result<()> {
    s.execute(
        "INSERT INTO jobs (kind, key, owner, conversation_id, run_at, attempts, epoch)
         VALUES ($1, $2, $3, $4, $5, 0, 0)
         ON CONFLICT (kind, key) DO UPDATE SET run_at = excluded.run_at, attempts = 0, epoch = jobs.epoch + 1,
                 lease_owner = NULL, lease_until = NULL, last_error = NULL",
        values(job),
    )
    .await
    .map(|_| ())
}

/// Inside the caller's transaction: it is no longer wanted.
pub(crate) async fn forget(s: &mut dyn Session, kind: JobKind, key: String) -> Result<()> {
    s.execute("DELETE FROM jobs WHERE kind = $1 AND key = $2", params![kind.as_str(), key]).await.map(|_| ())
}

/// A kind that only a newer program knows is not ours to do.
fn from_row(row: &Row) -> Result<Option<Job>> {
    let Some(kind) = JobKind::parse(row.text(0)?) else { return Ok(None) };
    Ok(Some(Job {
        kind,
        key: row.string(1)?,
        owner: row.id(2)?,
        attempts: row.u32(3)?,
        epoch: row.unsigned(4)?,
    }))
}
