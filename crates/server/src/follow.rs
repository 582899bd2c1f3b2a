//! One run's events from any point on: replayed from the store, then live, without a gap and without doubles.
//! The reader subscribes before, so that it also hears what passes while it is being answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_stream::stream;
use ba_protocol::{RunId, UserId};
use ba_store::{EventScope, Store, StoreError, Wake};
use futures::Stream;
use tokio::sync::broadcast::error::RecvError;

use crate::event_bus::{EventBus, Frame, Subscription, Told};

/// Events read from the store at once.
const PAGE: u32 = 200;
/// How often the store is asked about a run that another process drives, which wakes us when there is more.
const POLL: Duration = Duration::from_secs(2);
/// How often about one of this process, which may have lost it to another.
const LOOK: Duration = Duration::from_secs(20);
/// How long a store that stumbles is asked again before the reader is sent away.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub enum Item {
    Frame(Arc<Frame>),
    /// The reader was too slow: so many events were skipped, the durable ones follow again from the store.
    Behind(u64),
    /// The store failed; the reader may come back with the last id it saw.
    Broken,
}

/// What the bus says next, as far as the reader has not seen it.
enum Heard {
    Frame(Arc<Frame>),
    Behind(u64),
    /// Time to look into the store: somebody says so, the run ended meanwhile, or all was silent for long.
    Nothing,
}

async fn hear(subscription: &mut Subscription, last: u64) -> Heard {
    let (bus, run) = (subscription.bus().clone(), subscription.run().clone());
    loop {
        let wait = if bus.is_local(&run) { LOOK } else { POLL };
        match tokio::time::timeout(wait, subscription.frames.recv()).await {
            Ok(Ok(Told::Frame(frame))) if frame.seq.is_some_and(|seq| seq <= last) => {}
            Ok(Ok(Told::Frame(frame))) => return Heard::Frame(frame),
            Ok(Err(RecvError::Lagged(skipped))) => return Heard::Behind(skipped),
            Ok(Err(RecvError::Closed)) => {
                *subscription = bus.subscribe(&run);
                return Heard::Nothing;
            }
            Ok(Ok(Told::Look)) | Err(_) => return Heard::Nothing,
        }
    }
}

async fn is_open(store: &Store, bus: &EventBus, owner: &UserId, run: &RunId) -> Result<bool, StoreError> {
    match bus.is_local(run) {
        true => Ok(true),
        false => store.run(owner, run).await.map(|record| record.status.is_open()),
    }
}

/// Without `after` the reader was there before the run began and hears all of it as it happens.
/// Ends after the run's last event. Whether the owner may see the run is checked by the caller.
pub fn follow(
    store: Store,
    mut subscription: Subscription,
    owner: UserId,
    after: Option<u64>,
) -> impl Stream<Item = Item> + Send + 'static {
    stream! {
        let (bus, run) = (subscription.bus().clone(), subscription.run().clone());
        let mut last = after.unwrap_or(0);
        let mut replay = after.is_some();
        let (mut asked, mut failing) = (false, None::<Instant>);
        loop {
            if replay {
                if !bus.is_local(&run) {
                    store.wake(Wake::Wanted { run: run.clone(), again: asked });
                    asked = true;
                }
                // Asked before the replay: what had ended by then is replayed to its end.
                let status = is_open(&store, &bus, &owner, &run).await;
                loop {
                    let page = match &status {
                        Ok(_) => store.events_after(EventScope::Run(&run), last, PAGE).await.ok(),
                        Err(error) if error.is_not_found() => return,
                        Err(_) => None,
                    };
                    let Some(page) = page else {
                        if failing.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                            yield Item::Broken;
                            return;
                        }
                        tokio::time::sleep(POLL).await;
                        break;
                    };
                    failing = None;
                    let more = page.len() == PAGE as usize;
                    for event in page {
                        last = event.seq;
                        let frame = Frame::durable(&event);
                        let end = frame.is_last;
                        yield Item::Frame(Arc::new(frame));
                        if end {
                            return;
                        }
                    }
                    if !more {
                        break;
                    }
                }
                if failing.is_some() {
                    continue;
                }
                if matches!(status, Ok(false)) {
                    return;
                }
            }
            replay = true;
            // Whoever was there from the start has heard it.
            if let Some(so_far) = subscription.so_far.take().filter(|_| after.is_some()) {
                yield Item::Frame(so_far);
            }
            loop {
                match hear(&mut subscription, last).await {
                    Heard::Frame(frame) => {
                        last = frame.seq.unwrap_or(last);
                        let end = frame.is_last;
                        yield Item::Frame(frame);
                        if end {
                            return;
                        }
                    }
                    Heard::Behind(skipped) => {
                        yield Item::Behind(skipped);
                        break;
                    }
                    Heard::Nothing => break,
                }
            }
        }
    }
}
