//! A run's events as server-sent events (SPEC A2): the id is the durable sequence number.

use std::convert::Infallible;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use ba_protocol::UserId;
use futures::{Stream, StreamExt};

use crate::event_bus::Subscription;
use crate::follow::{Item, follow};
use crate::state::AppState;

/// Milliseconds a browser waits before it comes back.
const RETRY: std::time::Duration = std::time::Duration::from_millis(1000);

/// Streams a run that the caller may see, from the event after `after`; without it, as it happens.
pub fn run_events(state: &AppState, owner: UserId, reader: Subscription, after: Option<u64>) -> Response {
    let items = follow(state.deps.store.clone(), reader, owner, after).map(to_event);
    respond(state, items)
}

/// Any events as a stream that ends when the server stops; says when to come back.
pub fn respond(state: &AppState, events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let hello = futures::stream::once(async { Event::default().comment("ok").retry(RETRY) });
    plain(state, hello.chain(events))
}

/// The same with nothing but the events: OpenAI's clients take every field of the protocol for data.
pub fn plain(state: &AppState, events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let events = events.take_until(state.stopping.clone().cancelled_owned());
    let alive = KeepAlive::new().interval(state.config.heartbeat).text("heartbeat");
    let mut response = Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

fn to_event(item: Item) -> Event {
    match item {
        Item::Frame(frame) => {
            let event = Event::default().event(frame.name).data(&frame.json);
            match frame.seq {
                Some(seq) => event.id(seq.to_string()),
                None => event,
            }
        }
        Item::Behind(skipped) => {
            Event::default().event("stream.behind").data(format!(r#"{{"skipped":{skipped}}}"#))
        }
        Item::Broken => Event::default().comment("the store failed; come back with the last id"),
    }
}

/// Where a reader wants to go on: `Last-Event-ID`, else `?after=`, else the start.
pub fn resume_point(headers: &HeaderMap, after: Option<u64>) -> u64 {
    let last = headers.get("last-event-id").and_then(|v| v.to_str().ok()).and_then(|v| v.trim().parse().ok());
    last.or(after).unwrap_or(0)
}
