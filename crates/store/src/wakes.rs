//! Words between servers on one PostgreSQL (SPEC N2): LISTEN/NOTIFY carries "look now", never what must not be lost. What
//! lasts is in the tables, and whoever waits for a wake also looks now and then by itself.
//!
//! Wakes go out in bunches and apart from the transactions they are about: a commit that notifies takes a lock that all
//! such commits of the database share. A server alone on its database has nobody to wake.

use std::time::Duration;

use ba_protocol::{ConversationId, RunId};
use serde::{Deserialize, Serialize};
use sqlx::postgres::{PgListener, PgPool};
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;

use crate::store::Store;

const CHANNEL: &str = "ba_agent";
/// PostgreSQL takes less than 8,000 bytes.
const MAX_PAYLOAD: usize = 7_900;
/// Wakes that wait to go out; more are dropped, as their readers look by themselves.
const QUEUE: usize = 4_096;
const BUNCH: usize = 128;
/// What a slow listener in this process may be behind.
const HEARD: usize = 4_096;
/// So often we wake ourselves: a connection that says nothing for longer is dead.
const PING_EVERY: Duration = Duration::from_secs(15);
const SILENCE: Duration = Duration::from_secs(40);
const RECONNECT: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "w", rename_all = "snake_case")]
pub enum Wake {
    /// Someone here follows a run that another server drives; again when it has been asked for before.
    Wanted { run: RunId, again: bool },
    /// A run has new events in the table.
    Events { run: RunId },
    /// What a run says in passing, for its followers elsewhere.
    Passing { run: RunId, name: String, data: serde_json::Value },
    /// Someone asked to stop a run; the table says so too.
    Cancel { run: RunId },
    /// Runs were handed over or jobs queued.
    Work,
    /// A conversation is being deleted: whatever a server keeps of it outside the store goes.
    Forget { conversation: ConversationId },
    /// Requests that were counted against limits, by whom.
    Taken { counts: Vec<(String, u32)> },
    /// Some wakes may have been missed: everybody looks.
    Missed,
    /// Shows that the line works.
    Ping,
}

#[derive(Serialize, Deserialize)]
struct Envelope {
    from: String,
    #[serde(flatten)]
    wake: Wake,
}

/// The line to the other servers.
pub(crate) struct Wakes {
    /// Absent for a server that is alone.
    out: Option<mpsc::Sender<Wake>>,
    heard: broadcast::Sender<Wake>,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Wakes {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Wakes {
    pub(crate) fn alone() -> Self {
        Self { out: None, heard: broadcast::channel(1).0, tasks: Vec::new() }
    }

    pub(crate) fn over(pool: PgPool) -> Self {
        let from = uuid::Uuid::new_v4().simple().to_string();
        let (out, queue) = mpsc::channel(QUEUE);
        let heard = broadcast::channel(HEARD).0;
        let tasks = vec![
            tokio::spawn(speak(pool.clone(), from.clone(), queue)),
            tokio::spawn(listen(pool, from, heard.clone())),
        ];
        Self { out: Some(out), heard, tasks }
    }
}

impl Store {
    /// Wakes the other servers; this one is not told. Never waits, and may be lost.
    pub fn wake(&self, wake: Wake) {
        if let Some(out) = &self.wakes().out
            && out.try_send(wake).is_err()
        {
            tracing::debug!("a wake was dropped: too many wait");
        }
    }

    /// What other servers say from now on. One that lags behind should take it for `Wake::Missed`.
    pub fn woken(&self) -> broadcast::Receiver<Wake> {
        self.wakes().heard.subscribe()
    }
}

async fn speak(pool: PgPool, from: String, mut queue: mpsc::Receiver<Wake>) {
    loop {
        let mut bunch = Vec::new();
        match tokio::time::timeout(PING_EVERY, queue.recv_many(&mut bunch, BUNCH)).await {
            Ok(0) => return,
            Ok(_) => {}
            Err(_) => bunch.push(Wake::Ping),
        }
        let told = bunch.into_iter().map(|wake| Envelope { from: from.clone(), wake });
        let payloads = told.filter_map(|envelope| serde_json::to_string(&envelope).ok());
        let (fitting, longer): (Vec<String>, Vec<String>) = payloads.partition(|p| p.len() <= MAX_PAYLOAD);
        if !longer.is_empty() {
            tracing::debug!(count = longer.len(), "wakes were dropped: too long");
        }
        let sent = sqlx::query("SELECT pg_notify($1, said) FROM unnest($2::text[]) AS said")
            .bind(CHANNEL)
            .bind(fitting)
            .execute(&pool)
            .await;
        match sent {
            Err(_) if pool.is_closed() => return,
            Err(error) => tracing::debug!(%error, "wakes were not sent"),
            Ok(_) => {}
        }
    }
}

async fn listen(pool: PgPool, own: String, heard: broadcast::Sender<Wake>) {
    while !pool.is_closed() {
        if let Err(error) = listen_once(&pool, &own, &heard).await {
            tracing::debug!(%error, "the line to other servers broke; it is opened again");
        }
        let _ = heard.send(Wake::Missed);
        tokio::time::sleep(RECONNECT).await;
    }
}

/// Until the connection breaks or falls silent.
async fn listen_once(pool: &PgPool, own: &str, heard: &broadcast::Sender<Wake>) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    let _ = heard.send(Wake::Missed);
    while let Ok(said) = tokio::time::timeout(SILENCE, listener.try_recv()).await {
        let Some(said) = said? else { return Ok(()) };
        match serde_json::from_str::<Envelope>(said.payload()) {
            Ok(envelope) if envelope.from != own && envelope.wake != Wake::Ping => {
                let _ = heard.send(envelope.wake);
            }
            Ok(_) => {}
            // A newer server says what we do not know.
            Err(error) => tracing::debug!(%error, "a wake could not be read"),
        }
    }
    Ok(())
}
