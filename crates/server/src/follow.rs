//! One run's events from any point on: replayed from the store, then live, without a gap and without doubles.
//! The reader subscribes before, so that it also hears what passes while it is being answered.

use std::sync::Arc;
use std::time::Duration;

use async_stream::stream;
use ba_protocol::UserId;
use ba_store::{EventScope, Store};
use futures::Stream;
use tokio::sync::broadcast::error::RecvError;

use crate::event_bus::{Frame, Subscription};

/// Events read from the store at once.
const PAGE: u32 = 200;
/// How often the store is asked about a run that another process drives.
const POLL: Duration = Duration::from_secs(1);
/// How often about one of this process, which may have lost it to another.
const LOOK: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub enum Item {
    Frame(Arc<Frame>),
    /// The reader was too slow: so many events were skipped, the durable ones follow again from the store.
    Behind(u64),
    /// The store failed; the reader may come back with the last id it saw.
    Broken,
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
        loop {
            if replay {
                // Asked before the replay: what had ended by then is replayed to its end.
                let open = bus.is_local(&run)
                    || store.run(&owner, &run).await.is_ok_and(|record| record.status.is_open());
                loop {
                    let Ok(page) = store.events_after(EventScope::Run(&run), last, PAGE).await else {
                        yield Item::Broken;
                        return;
                    };
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
                if !open {
                    return;
                }
            }
            replay = true;
            loop {
                let wait = if bus.is_local(&run) { LOOK } else { POLL };
                match tokio::time::timeout(wait, subscription.frames.recv()).await {
                    Ok(Ok(frame)) => {
                        if frame.seq.is_some_and(|seq| seq <= last) {
                            continue;
                        }
                        last = frame.seq.unwrap_or(last);
                        let end = frame.is_last;
                        yield Item::Frame(frame);
                        if end {
                            return;
                        }
                    }
                    Ok(Err(RecvError::Lagged(skipped))) => {
                        yield Item::Behind(skipped);
                        break;
                    }
                    Ok(Err(RecvError::Closed)) => {
                        // The run ended while we were elsewhere: the rest is in the store.
                        subscription = bus.subscribe(&run);
                        break;
                    }
                    Err(_) => break,
                }
            }
        }
    }
}
