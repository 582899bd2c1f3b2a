//! What a run writes and tells, in one order. A step goes to the store without the run waiting for it; what comes
//! while one is being flushed goes together with the next flush. Events are told when they are durable. What must not
//! happen before the disk knows (a tool with effects, the acknowledgement, the end of the run) waits at `durable`.
//! Refuses to tell anyone of what is not stored, and to store anything after a step that was not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ba_protocol::{Event, RunEvent, RunId};
use ba_store::{NewRun, RunRecord, StepCommit, Store, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::TaskTracker;

use crate::sink::EventSink;

/// How long a step waits for storage that cannot take it.
const PATIENCE: Duration = Duration::from_secs(300);

/// Where ledgers are kept.
pub(crate) struct Desk<'a> {
    pub store: &'a Store,
    pub sink: &'a Arc<dyn EventSink>,
    /// Whoever waits for these at the end knows that everything is stored.
    pub tasks: &'a TaskTracker,
}

#[derive(Clone)]
pub(crate) struct Ledger {
    entries: mpsc::UnboundedSender<Entry>,
    failed: Arc<AtomicBool>,
    /// Milliseconds that steps waited for storage that stumbled.
    stalled: Arc<AtomicU64>,
}

enum Entry {
    Step(Box<StepCommit>),
    Note(Note),
}

/// What needs no write of its own, only its place in the order.
enum Note {
    Passing(RunEvent),
    Barrier(oneshot::Sender<Durable>),
}

type Admission = (NewRun, Option<String>);
/// The run's last event, once it is stored.
type Durable = Result<Option<RunEvent>, StoreError>;

/// Tells passing events in their place among the durable ones.
#[derive(Clone)]
pub(crate) struct Teller(mpsc::UnboundedSender<Entry>);

impl Teller {
    pub(crate) fn tell(&self, event: RunEvent) {
        let _ = self.0.send(Entry::Note(Note::Passing(event)));
    }
}

impl Ledger {
    /// For a run that is already stored.
    pub(crate) fn resume(desk: &Desk<'_>, record: &RunRecord) -> Self {
        Self::open(desk, &record.id, (record.epoch, record.commits), None)
    }

    /// For a new run; the title is that of a conversation made for it. The receiver answers when it is durable.
    pub(crate) fn admit(
        desk: &Desk<'_>,
        new: NewRun,
        new_title: Option<String>,
    ) -> (Self, oneshot::Receiver<Durable>) {
        let run = new.run_id.clone();
        let ledger = Self::open(desk, &run, (1, 0), Some((new, new_title)));
        let durable = ledger.barrier();
        (ledger, durable)
    }

    fn open(desk: &Desk<'_>, run: &RunId, (epoch, commits): (u64, u64), first: Option<Admission>) -> Self {
        let (entries, queue) = mpsc::unbounded_channel();
        let (failed, stalled) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let clerk = Clerk {
            store: desk.store.clone(),
            run: run.clone(),
            epoch,
            commits,
            sink: desk.sink.clone(),
            failed: failed.clone(),
            stalled: stalled.clone(),
            error: None,
            last: None,
        };
        desk.tasks.spawn(clerk.work(first, queue));
        Self { entries, failed, stalled }
    }

    /// An earlier step that was not stored is reported here, or by `durable`.
    pub(crate) async fn commit(&self, step: StepCommit) -> Result<(), StoreError> {
        self.check().await?;
        let _ = self.entries.send(Entry::Step(Box::new(step)));
        Ok(())
    }

    /// Waits until everything so far is stored and told.
    pub(crate) async fn durable(&self) -> Durable {
        self.barrier().await.unwrap_or_else(|_| Err(lost()))
    }

    /// Fails when a step was not stored; asks nobody when all is well.
    pub(crate) async fn check(&self) -> Result<(), StoreError> {
        if self.failed.load(Ordering::Acquire) { self.durable().await.map(|_| ()) } else { Ok(()) }
    }

    /// How long steps have waited for storage that stumbled.
    pub(crate) fn stalled(&self) -> Duration {
        Duration::from_millis(self.stalled.load(Ordering::Acquire))
    }

    pub(crate) fn teller(&self) -> Teller {
        Teller(self.entries.clone())
    }

    fn barrier(&self) -> oneshot::Receiver<Durable> {
        let (reply, answer) = oneshot::channel();
        let _ = self.entries.send(Entry::Note(Note::Barrier(reply)));
        answer
    }
}

fn lost() -> StoreError {
    StoreError::Unavailable("an earlier step of this run was not stored".to_owned())
}

/// Works through the entries of one run, one write at a time.
struct Clerk {
    store: Store,
    run: RunId,
    /// Every commit carries it: one that another server's take-over made stale is refused.
    epoch: u64,
    /// Numbers them: one whose answer was lost is sent again and kept once.
    commits: u64,
    sink: Arc<dyn EventSink>,
    failed: Arc<AtomicBool>,
    stalled: Arc<AtomicU64>,
    error: Option<StoreError>,
    last: Option<RunEvent>,
}

/// What is to be done once a write is durable, in order.
enum After {
    /// The next so many of its events.
    Tell(usize),
    Note(Note),
}

impl Clerk {
    async fn work(mut self, first: Option<Admission>, mut queue: mpsc::UnboundedReceiver<Entry>) {
        if let Some((new, title)) = first {
            self.admit(new, title).await;
        }
        while let Some(entry) = queue.recv().await {
            match entry {
                Entry::Step(step) => self.steps(*step, &mut queue).await,
                Entry::Note(note) => self.settle(note),
            }
        }
    }

    async fn admit(&mut self, new: NewRun, title: Option<String>) {
        let admitted = match title {
            Some(title) => self.store.admit_first(new, &title).await,
            None => self.store.admit(new).await,
        };
        match admitted {
            Ok(event) => self.tell(event),
            Err(error) => self.fail(error),
        }
    }

    /// Stores a step together with those already waiting behind it.
    async fn steps(&mut self, first: StepCommit, queue: &mut mpsc::UnboundedReceiver<Entry>) {
        let mut after = vec![After::Tell(first.events.len())];
        let mut all = first;
        while let Ok(entry) = queue.try_recv() {
            match entry {
                Entry::Step(step) => {
                    after.push(After::Tell(step.events.len()));
                    all = all.and_then(*step);
                }
                Entry::Note(note) => after.push(After::Note(note)),
            }
        }
        let mut events = Vec::new().into_iter();
        if !self.failed.load(Ordering::Acquire) {
            self.commits += 1;
            (all.epoch, all.number) = (self.epoch, self.commits);
            match self.stored(all).await {
                Ok(stored) => events = stored.into_iter(),
                Err(error) => self.fail(error),
            }
        }
        for item in after {
            match item {
                After::Tell(count) => events.by_ref().take(count).for_each(|event| self.tell(event)),
                After::Note(note) => self.settle(note),
            }
        }
    }

    /// Storage that stumbles is waited for: what was done is not thrown away because a disk was full for a minute.
    async fn stored(&self, step: StepCommit) -> Result<Vec<Event>, StoreError> {
        let mut pause = Duration::from_millis(100);
        let (began, mut stumbled) = (Instant::now(), false);
        loop {
            match self.store.commit_step(&self.run, step.clone()).await {
                Err(error) if error.may_pass() && began.elapsed() < PATIENCE => {
                    tracing::warn!(run = %self.run, %error, "a step was not stored; trying again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(5));
                    stumbled = true;
                }
                done => {
                    if stumbled {
                        let waited = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                        self.stalled.fetch_add(waited, Ordering::AcqRel);
                    }
                    return done;
                }
            }
        }
    }

    fn settle(&mut self, note: Note) {
        match note {
            Note::Passing(event) => self.sink.passing(&self.run, event),
            Note::Barrier(reply) => {
                let failed = self.failed.load(Ordering::Acquire);
                let answer =
                    if failed { Err(self.error.take().unwrap_or_else(lost)) } else { Ok(self.last.take()) };
                let _ = reply.send(answer);
            }
        }
    }

    fn tell(&mut self, event: Event) {
        self.sink.publish(&event);
        if event.event.is_last() {
            self.last = Some(event.event);
        }
    }

    fn fail(&mut self, error: StoreError) {
        self.error = Some(error);
        self.failed.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use ba_protocol::{ConversationId, UserId};
    use ba_store::{RunStatus, StoreConfig};
    use parking_lot::Mutex;

    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<Vec<&'static str>>);

    impl EventSink for Heard {
        fn publish(&self, event: &Event) {
            self.0.lock().push(event.event.name());
        }
        fn passing(&self, _: &RunId, event: RunEvent) {
            self.0.lock().push(event.name());
        }
    }

    fn step(status: RunStatus, event: RunEvent) -> StepCommit {
        StepCommit { events: vec![event], ..StepCommit::new(serde_json::json!({}), status) }
    }

    async fn admitted(heard: &Arc<Heard>) -> (tempfile::TempDir, Store, Ledger, RunId) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(StoreConfig::local(folder.path())).await.unwrap();
        let run = RunId::random();
        let new = NewRun {
            run_id: run.clone(),
            conversation_id: ConversationId::random(),
            owner: UserId::local(),
            message: "q".into(),
            file_ids: Vec::new(),
            state: serde_json::json!({}).into(),
            created_at: jiff::Timestamp::now(),
            holder: None,
            replaces: None,
            model: String::new(),
        };
        let sink: Arc<dyn EventSink> = heard.clone();
        let desk = Desk { store: &store, sink: &sink, tasks: &TaskTracker::new() };
        let (ledger, stored) = Ledger::admit(&desk, new, Some("t".into()));
        stored.await.unwrap().unwrap();
        (folder, store, ledger, run)
    }

    #[tokio::test]
    async fn what_passes_is_told_in_its_place_among_what_lasts() {
        let heard = Arc::new(Heard::default());
        let (_folder, _store, ledger, _run) = admitted(&heard).await;
        let started = RunEvent::ToolStarted {
            tool_call_id: "c".into(),
            tool_name: "t".into(),
            arguments: Default::default(),
            round: 1,
        };
        ledger.commit(step(RunStatus::Running, started)).await.unwrap();
        ledger.teller().tell(RunEvent::TextDelta { text: "x".into(), round: 2 });
        ledger.commit(step(RunStatus::Cancelled, RunEvent::RunCancelled { partial: None })).await.unwrap();
        let last = ledger.durable().await.unwrap();
        assert_eq!(last, Some(RunEvent::RunCancelled { partial: None }));
        assert_eq!(*heard.0.lock(), ["run.started", "tool.started", "text.delta", "run.cancelled"]);
    }

    #[tokio::test]
    async fn after_a_step_that_was_not_stored_nothing_is_told() {
        let heard = Arc::new(Heard::default());
        let (_folder, store, ledger, run) = admitted(&heard).await;
        // Someone else ended the run, so the next step is refused, and the one behind it with it.
        store.commit_step(&run, StepCommit::new(serde_json::json!({}), RunStatus::Failed)).await.unwrap();
        ledger.commit(step(RunStatus::Running, RunEvent::RunCancelled { partial: None })).await.unwrap();
        let _ = ledger.commit(step(RunStatus::Running, RunEvent::RunCancelled { partial: None })).await;
        let error = ledger.durable().await.unwrap_err();
        assert!(error.to_string().contains("has ended"), "{error}");
        assert!(
            ledger.commit(step(RunStatus::Running, RunEvent::RunCancelled { partial: None })).await.is_err()
        );
        assert_eq!(*heard.0.lock(), ["run.started"]);
    }
}
