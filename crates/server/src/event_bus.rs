//! Carries events from runs to the readers of their streams. Keeps nothing: what must not be lost is in the store.
//!
//! A reader subscribes first and replays from the store after, so it misses none. Its buffer is bounded; one that
//! falls behind is told so, and reads the durable events again from the store.

use std::collections::HashMap;
use std::sync::Arc;

use ba_agent::EventSink;
use ba_protocol::{Event, RunEvent, RunId};
use parking_lot::Mutex;
use tokio::sync::broadcast;

/// Events a slow reader may be behind before it has to read from the store again.
const READER_BUFFER: usize = 256;

/// An event as it goes over the wire; made once for all readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// `None` for passing events.
    pub seq: Option<u64>,
    pub name: &'static str,
    pub json: String,
    pub is_last: bool,
}

impl Frame {
    pub fn durable(event: &Event) -> Self {
        Self { seq: Some(event.seq), ..Self::passing(&event.event) }
    }

    pub fn passing(event: &RunEvent) -> Self {
        Self { seq: None, name: event.name(), json: data_of(event), is_last: event.is_last() }
    }
}

/// The `data` of an event: without the tag, which is the SSE event name.
fn data_of(event: &RunEvent) -> String {
    let data = match event {
        RunEvent::Round(answer) | RunEvent::Report(answer) => serde_json::to_string(answer),
        RunEvent::ToolFinished(finished) => serde_json::to_string(finished),
        other => serde_json::to_value(other).map(|mut tagged| {
            tagged.get_mut("data").map(serde_json::Value::take).unwrap_or_default().to_string()
        }),
    };
    data.unwrap_or_else(|_| "{}".to_owned())
}

#[derive(Clone, Default)]
pub struct EventBus {
    runs: Arc<Mutex<HashMap<RunId, Channel>>>,
}

#[derive(Default)]
struct Channel {
    /// Made when the first reader comes: most runs have none or one.
    sender: Option<broadcast::Sender<Arc<Frame>>>,
    /// The run is driven by this process.
    local: bool,
}

/// One reader's place. Leaving it frees what the bus held for the run.
pub struct Subscription {
    pub frames: broadcast::Receiver<Arc<Frame>>,
    bus: EventBus,
    run: RunId,
}

impl EventBus {
    pub fn new() -> Self {
        Self::default()
    }

    /// A durable event, after it was committed.
    pub fn publish(&self, event: &Event) {
        let last = event.event.is_last();
        let sender = {
            let mut runs = self.runs.lock();
            if last {
                runs.remove(&event.run_id).and_then(|channel| channel.sender)
            } else {
                let channel = runs.entry(event.run_id.clone()).or_default();
                channel.local = true;
                channel.sender.clone()
            }
        };
        if let Some(sender) = sender {
            let _ = sender.send(Arc::new(Frame::durable(event)));
        }
    }

    /// A passing event: only those who listen right now hear it.
    pub fn passing(&self, run: &RunId, event: &RunEvent) {
        let sender = self.runs.lock().get(run).and_then(|channel| channel.sender.clone());
        if let Some(sender) = sender.filter(|sender| sender.receiver_count() > 0) {
            let _ = sender.send(Arc::new(Frame::passing(event)));
        }
    }

    pub fn subscribe(&self, run: &RunId) -> Subscription {
        let mut runs = self.runs.lock();
        let channel = runs.entry(run.clone()).or_default();
        let sender = channel.sender.get_or_insert_with(|| broadcast::channel(READER_BUFFER).0);
        Subscription { frames: sender.subscribe(), bus: self.clone(), run: run.clone() }
    }

    /// Whether this process drives the run. Events of one that another process drives come only through the store.
    pub fn is_local(&self, run: &RunId) -> bool {
        self.runs.lock().get(run).is_some_and(|channel| channel.local)
    }

    /// How many streams are being read.
    pub fn readers(&self) -> usize {
        let runs = self.runs.lock();
        runs.values().filter_map(|c| c.sender.as_ref()).map(broadcast::Sender::receiver_count).sum()
    }

    /// Runs the bus holds something for: zero when nothing runs and nobody reads.
    pub fn len(&self) -> usize {
        self.runs.lock().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl EventSink for EventBus {
    fn publish(&self, event: &Event) {
        Self::publish(self, event);
    }

    fn passing(&self, run_id: &RunId, event: RunEvent) {
        Self::passing(self, run_id, &event);
    }
}

impl Subscription {
    pub fn bus(&self) -> &EventBus {
        &self.bus
    }

    pub fn run(&self) -> &RunId {
        &self.run
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut runs = self.bus.runs.lock();
        let Some(channel) = runs.get_mut(&self.run) else { return };
        // This receiver still counts: it is dropped after this.
        let alone = channel.sender.as_ref().is_none_or(|sender| sender.receiver_count() <= 1);
        if alone && channel.local {
            channel.sender = None;
        } else if alone {
            runs.remove(&self.run);
        }
    }
}

#[cfg(test)]
mod tests {
    use ba_protocol::ConversationId;

    use super::*;

    fn event(run: &RunId, seq: u64, event: RunEvent) -> Event {
        Event {
            seq,
            conversation_id: ConversationId::random(),
            run_id: run.clone(),
            at: jiff::Timestamp::UNIX_EPOCH,
            event,
        }
    }

    fn delta(text: &str) -> RunEvent {
        RunEvent::TextDelta { text: text.into(), round: 1 }
    }

    #[tokio::test]
    async fn two_readers_see_the_same_and_nothing_stays_behind() {
        let bus = EventBus::new();
        let run = RunId::random();
        let (mut one, mut two) = (bus.subscribe(&run), bus.subscribe(&run));
        bus.passing(&run, &delta("a"));
        bus.publish(&event(&run, 2, RunEvent::RunCancelled { partial: None }));
        for reader in [&mut one, &mut two] {
            let first = reader.frames.recv().await.unwrap();
            assert_eq!(
                (first.seq, first.name, first.json.as_str()),
                (None, "text.delta", r#"{"text":"a","round":1}"#)
            );
            let last = reader.frames.recv().await.unwrap();
            assert_eq!((last.seq, last.is_last), (Some(2), true));
        }
        drop((one, two));
        assert!(bus.is_empty());
    }

    #[tokio::test]
    async fn a_run_without_readers_costs_no_channel_and_leaves_nothing() {
        let bus = EventBus::new();
        let run = RunId::random();
        let started = RunEvent::RunStarted {
            run_id: run.clone(),
            conversation_id: ConversationId::random(),
            message: "q".into(),
            file_ids: vec![],
        };
        bus.publish(&event(&run, 1, started));
        bus.passing(&run, &delta("x"));
        assert!(bus.is_local(&run));
        assert_eq!(bus.readers(), 0);
        drop(bus.subscribe(&run));
        assert!(bus.is_local(&run));
        bus.publish(&event(&run, 2, RunEvent::RunCancelled { partial: None }));
        assert!(bus.is_empty());
    }

    #[tokio::test]
    async fn a_slow_reader_is_told_how_far_behind_it_is() {
        let bus = EventBus::new();
        let run = RunId::random();
        let mut reader = bus.subscribe(&run);
        for i in 0..READER_BUFFER + 10 {
            bus.passing(&run, &delta(&i.to_string()));
        }
        assert!(matches!(reader.frames.recv().await, Err(broadcast::error::RecvError::Lagged(10))));
    }
}
