//! Between servers (SPEC N2): hears what others say and tells the parts it concerns, and relays what a run here says in
//! passing to servers where somebody follows it. A relay is one more reader of the run; what lasts is never sent, only
//! that there is more of it in the store.

use std::collections::HashMap;
use std::time::Duration;

use ba_protocol::RunId;
use ba_store::{Store, Wake};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::event_bus::{EventBus, Frame, Told};
use crate::forget;
use crate::state::AppState;

/// A relay ends when nobody elsewhere has asked for it so long; followers ask again well within it.
const WANTED: Duration = Duration::from_secs(30);
/// What is said in passing goes out together this often.
const FLUSH: Duration = Duration::from_millis(80);
/// Bytes of text in one wake: escaped at its worst it still fits.
const CHUNK: usize = 1_200;
/// Text of a turn so far that a new follower elsewhere gets; a longer one it sees when it is done.
const WHOLE: usize = 64 * 1024;
/// How often the requests counted here are told to the others.
const TELL_RATES: Duration = Duration::from_millis(250);
const RATES_AT_ONCE: usize = 80;

/// How a server asks for a run's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    New,
    Still,
}

/// Hears the other servers until this one stops.
pub async fn work(state: AppState) {
    let store = state.deps.store.clone();
    if !store.is_shared() {
        return;
    }
    let mut woken = store.woken();
    let mut relays: HashMap<RunId, mpsc::Sender<Want>> = HashMap::new();
    let mut tell_rates = tokio::time::interval(TELL_RATES);
    loop {
        let wake = tokio::select! {
            wake = woken.recv() => match wake {
                Ok(wake) => wake,
                Err(RecvError::Lagged(_)) => Wake::Missed,
                Err(RecvError::Closed) => return,
            },
            _ = tell_rates.tick() => {
                for counts in state.rates.taken().chunks(RATES_AT_ONCE) {
                    store.wake(Wake::Taken { counts: counts.to_vec() });
                }
                continue;
            }
            () = state.stopping.cancelled() => return,
        };
        hear(&state, wake, &mut relays).await;
    }
}

async fn hear(state: &AppState, wake: Wake, relays: &mut HashMap<RunId, mpsc::Sender<Want>>) {
    let bus = &state.deps.bus;
    match wake {
        Wake::Wanted { run, again } if bus.is_local(&run) => {
            let want = if again { Want::Still } else { Want::New };
            let going = relays.get(&run).is_some_and(|relay| relay.try_send(want).is_ok());
            if !going {
                relays.retain(|_, relay| !relay.is_closed());
                let (ask, asked) = mpsc::channel(64);
                relays.insert(run.clone(), ask);
                tokio::spawn(relay(state.deps.store.clone(), bus.clone(), run, asked));
            }
        }
        Wake::Events { run } => bus.look(Some(&run)),
        Wake::Passing { run, name, data } => {
            if let Some(frame) = Frame::relayed(&name, &data) {
                bus.relayed(&run, frame, &data);
            }
        }
        Wake::Work => state.wake_worker.notify_one(),
        Wake::Missed => {
            bus.look(None);
            state.wake_worker.notify_one();
        }
        Wake::Forget { conversation } => forget::elsewhere(state, &conversation).await,
        Wake::Taken { counts } => state.rates.taken_elsewhere(&counts),
        Wake::Wanted { .. } | Wake::Cancel { .. } | Wake::Ping => {}
    }
}

/// Tells the other servers what a run of this one says, until it ends or nobody wants it.
async fn relay(store: Store, bus: EventBus, run: RunId, mut asked: mpsc::Receiver<Want>) {
    let mut reader = bus.subscribe(&run);
    let mut out =
        Outbox { store, run: run.clone(), text: String::new(), round: 0, progress: None, due: None };
    out.whole(reader.so_far.take().as_deref());
    let mut until = Instant::now() + WANTED;
    loop {
        let next = out.due.unwrap_or(until);
        tokio::select! {
            told = reader.frames.recv() => match told {
                Ok(Told::Frame(frame)) => {
                    let last = frame.is_last;
                    out.add(&frame);
                    if last {
                        return;
                    }
                }
                Ok(Told::Look) if !bus.is_local(&run) => return,
                Ok(Told::Look) => {}
                Err(RecvError::Lagged(_)) => out.events(),
                Err(RecvError::Closed) => return out.events(),
            },
            want = asked.recv() => match want {
                None => return,
                Some(Want::Still) => until = Instant::now() + WANTED,
                Some(Want::New) => {
                    until = Instant::now() + WANTED;
                    out.flush();
                    reader = bus.subscribe(&run);
                    out.whole(reader.so_far.take().as_deref());
                }
            },
            () = tokio::time::sleep_until(next) => {
                out.flush();
                if Instant::now() >= until {
                    return;
                }
            }
        }
    }
}

/// What is to go out together.
struct Outbox {
    store: Store,
    run: RunId,
    text: String,
    round: u64,
    /// The newest; those before it are of no use.
    progress: Option<Value>,
    due: Option<Instant>,
}

impl Outbox {
    fn add(&mut self, frame: &Frame) {
        if frame.seq.is_some() {
            self.flush();
            return self.events();
        }
        let Ok(data) = serde_json::from_str::<Value>(&frame.json) else { return };
        match (frame.name, data["text"].as_str(), data["round"].as_u64()) {
            ("text.delta", Some(text), Some(round)) => {
                if round != self.round {
                    self.flush();
                    self.round = round;
                }
                self.text.push_str(text);
            }
            _ => self.progress = Some(data),
        }
        self.due.get_or_insert_with(|| Instant::now() + FLUSH);
    }

    /// The turn's text from its beginning: whoever has a part of it begins anew.
    fn whole(&mut self, so_far: Option<&Frame>) {
        self.events();
        let Some(data) = so_far.and_then(|frame| serde_json::from_str::<Value>(&frame.json).ok()) else {
            return;
        };
        let (Some(text), Some(round)) = (data["text"].as_str(), data["round"].as_u64()) else { return };
        if text.len() <= WHOLE {
            self.round = round;
            self.say(text, true);
        }
    }

    fn flush(&mut self) {
        self.due = None;
        let text = std::mem::take(&mut self.text);
        self.say(&text, false);
        if let Some(data) = self.progress.take() {
            self.passing("tool.progress", data);
        }
    }

    fn say(&self, mut text: &str, mut whole: bool) {
        while !text.is_empty() {
            let (now, rest) = text.split_at(text.floor_char_boundary(CHUNK));
            text = rest;
            let data = match std::mem::take(&mut whole) {
                true => json!({"text": now, "round": self.round, "whole": true}),
                false => json!({"text": now, "round": self.round}),
            };
            self.passing("text.delta", data);
        }
    }

    fn passing(&self, name: &str, data: Value) {
        self.store.wake(Wake::Passing { run: self.run.clone(), name: name.to_owned(), data });
    }

    fn events(&self) {
        self.store.wake(Wake::Events { run: self.run.clone() });
    }
}
