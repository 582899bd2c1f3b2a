//! Carries events from runs to the readers of their streams. Keeps nothing but the text of the present model turn, for
//! readers who come in the middle of it: what must not be lost is in the store.
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
/// Bytes of a turn's text that are kept for late readers; a longer one they see when it is done.
const TEXT_SO_FAR: usize = 1024 * 1024;

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

    /// One that another server sent; nothing of a kind that does not pass.
    pub fn relayed(name: &str, data: &serde_json::Value) -> Option<Self> {
        let name = ["text.delta", "tool.progress"].into_iter().find(|known| *known == name)?;
        Some(Self { seq: None, name, json: data.to_string(), is_last: false })
    }

    /// A `text.delta` that holds the turn's text from its beginning.
    fn whole_text(written: &Written) -> Self {
        let json =
            serde_json::json!({"text": written.text, "round": written.round, "whole": true}).to_string();
        Self { seq: None, name: "text.delta", json, is_last: false }
    }
}

/// The `data` of an event: without the tag, which is the SSE event name.
fn data_of(event: &RunEvent) -> String {
    let data = match event {
        RunEvent::Turn(answer) | RunEvent::Report(answer) => serde_json::to_string(answer),
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

/// What a reader hears.
#[derive(Debug, Clone)]
pub enum Told {
    Frame(Arc<Frame>),
    /// The store has more of a run that another server drives.
    Look,
}

#[derive(Default)]
struct Channel {
    /// Made when the first reader comes: most runs have none or one.
    sender: Option<broadcast::Sender<Told>>,
    /// The run is driven by this process.
    local: bool,
    /// What the model has written of its present turn.
    written: Written,
}

#[derive(Default)]
struct Written {
    text: String,
    round: u32,
    too_long: bool,
}

impl Written {
    fn add(&mut self, text: &str, round: u32) {
        if round != self.round {
            *self = Self { round, ..Self::default() };
        }
        self.too_long |= self.text.len() + text.len() > TEXT_SO_FAR;
        if self.too_long {
            self.text = String::new();
        } else {
            self.text.push_str(text);
        }
    }
}

/// One reader's place. Leaving it frees what the bus held for the run.
pub struct Subscription {
    pub frames: broadcast::Receiver<Told>,
    /// What the model had written of its turn when the reader came; `frames` goes on from there.
    pub so_far: Option<Arc<Frame>>,
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
                if matches!(event.event, RunEvent::Turn(_)) {
                    channel.written = Written::default();
                }
                channel.sender.clone()
            }
        };
        if let Some(sender) = sender {
            let _ = sender.send(Told::Frame(Arc::new(Frame::durable(event))));
        }
    }

    /// A passing event: only those who listen right now hear it.
    pub fn passing(&self, run: &RunId, event: &RunEvent) {
        // Sent under the lock: a reader who comes now has it either in the text so far or from the channel, not twice.
        let mut runs = self.runs.lock();
        let Some(channel) = runs.get_mut(run) else { return };
        if let RunEvent::TextDelta { text, round } = event {
            channel.written.add(text, *round);
        }
        if let Some(sender) = channel.sender.as_ref().filter(|sender| sender.receiver_count() > 0) {
            let _ = sender.send(Told::Frame(Arc::new(Frame::passing(event))));
        }
    }

    /// A passing event of a run that another server drives, for those who follow it here.
    pub fn relayed(&self, run: &RunId, frame: Frame, data: &serde_json::Value) {
        let mut runs = self.runs.lock();
        let Some(channel) = runs.get_mut(run).filter(|channel| !channel.local) else { return };
        if let (Some(text), Some(round)) = (data["text"].as_str(), data["round"].as_u64()) {
            if data["whole"].as_bool().unwrap_or(false) {
                channel.written = Written::default();
            }
            channel.written.add(text, u32::try_from(round).unwrap_or(0));
        }
        if let Some(sender) = &channel.sender {
            let _ = sender.send(Told::Frame(Arc::new(frame)));
        }
    }

    /// Another server has stored something of these runs, or of any: whoever follows here looks.
    pub fn look(&self, run: Option<&RunId>) {
        let mut runs = self.runs.lock();
        let meant = |(id, channel): &(&RunId, &mut Channel)| run.is_none_or(|r| r == *id) && !channel.local;
        for (_, channel) in runs.iter_mut().filter(meant) {
            channel.written = Written::default();
            if let Some(sender) = &channel.sender {
                let _ = sender.send(Told::Look);
            }
        }
    }

    /// This process drives the run no longer; its readers go on from the store.
    pub fn left(&self, run: &RunId) {
        let mut runs = self.runs.lock();
        let Some(channel) = runs.get_mut(run) else { return };
        channel.local = false;
        match &channel.sender {
            Some(sender) if sender.receiver_count() > 0 => drop(sender.send(Told::Look)),
            _ => drop(runs.remove(run)),
        }
    }

    pub fn subscribe(&self, run: &RunId) -> Subscription {
        let mut runs = self.runs.lock();
        let channel = runs.entry(run.clone()).or_default();
        let sender = channel.sender.get_or_insert_with(|| broadcast::channel(READER_BUFFER).0);
        let frames = sender.subscribe();
        let so_far =
            (!channel.written.text.is_empty()).then(|| Arc::new(Frame::whole_text(&channel.written)));
        Subscription { frames, so_far, bus: self.clone(), run: run.clone() }
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

    fn left(&self, run_id: &RunId) {
        Self::left(self, run_id);
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

    async fn heard(reader: &mut Subscription) -> Arc<Frame> {
        match reader.frames.recv().await.unwrap() {
            Told::Frame(frame) => frame,
            Told::Look => panic!("a frame was to come"),
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
            let first = heard(reader).await;
            assert_eq!(
                (first.seq, first.name, first.json.as_str()),
                (None, "text.delta", r#"{"text":"a","round":1}"#)
            );
            let last = heard(reader).await;
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
    async fn a_reader_who_comes_in_the_middle_of_a_turn_gets_its_text_from_the_beginning() {
        let bus = EventBus::new();
        let run = RunId::random();
        let first = bus.subscribe(&run);
        assert!(first.so_far.is_none());
        bus.passing(&run, &delta("{\"a"));
        bus.passing(&run, &delta("b"));
        let mut late = bus.subscribe(&run);
        bus.passing(&run, &delta("c"));
        let so_far = late.so_far.take().unwrap();
        let said: serde_json::Value = serde_json::from_str(&so_far.json).unwrap();
        assert_eq!(said, serde_json::json!({"text": "{\"ab", "round": 1, "whole": true}));
        assert_eq!(heard(&mut late).await.json, r#"{"text":"c","round":1}"#);
        bus.passing(&run, &delta(&"x".repeat(TEXT_SO_FAR)));
        assert!(bus.subscribe(&run).so_far.is_none(), "nothing is kept beyond the limit");
        bus.passing(&run, &RunEvent::TextDelta { text: "next".into(), round: 2 });
        assert!(bus.subscribe(&run).so_far.is_some());
    }

    // SPEC N2
    #[tokio::test]
    async fn words_of_a_run_elsewhere_reach_its_readers_here_and_late_ones_too() {
        let bus = EventBus::new();
        let run = RunId::random();
        let say = |data: serde_json::Value| {
            bus.relayed(&run, Frame::relayed("text.delta", &data).unwrap(), &data);
        };
        say(serde_json::json!({"text": "nobody hears", "round": 1}));
        assert!(bus.is_empty());
        let mut reader = bus.subscribe(&run);
        say(serde_json::json!({"text": "middle", "round": 1}));
        say(serde_json::json!({"text": "from the ", "round": 1, "whole": true}));
        say(serde_json::json!({"text": "start", "round": 1}));
        for _ in 0..3 {
            assert_eq!(heard(&mut reader).await.seq, None);
        }
        let late = bus.subscribe(&run).so_far.take().unwrap();
        assert!(late.json.contains("from the start"), "{}", late.json);
        bus.look(Some(&RunId::random()));
        bus.look(None);
        assert!(matches!(reader.frames.recv().await, Ok(Told::Look)));
        assert!(reader.frames.is_empty(), "another run's news are not ours");
        assert!(
            Frame::relayed("report", &serde_json::json!({})).is_none(),
            "what lasts comes from the store"
        );
    }

    #[tokio::test]
    async fn a_run_that_is_left_is_followed_from_the_store_and_costs_nothing_without_readers() {
        let bus = EventBus::new();
        let (read, unread) = (RunId::random(), RunId::random());
        for run in [&read, &unread] {
            bus.publish(&event(
                run,
                1,
                RunEvent::ToolProgress { tool_call_id: "c".into(), fraction: None, message: String::new() },
            ));
        }
        let mut reader = bus.subscribe(&read);
        bus.left(&read);
        bus.left(&unread);
        assert!(matches!(reader.frames.recv().await, Ok(Told::Look)));
        assert!(!bus.is_local(&read));
        drop(reader);
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
