//! Where a run's events go: the server's event bus, or a terminal.

use ba_protocol::{Event, RunEvent, RunId};

pub trait EventSink: Send + Sync {
    /// A durable event, after it was committed.
    fn publish(&self, event: &Event);

    /// `text.delta` and `tool.progress`: shown to whoever watches now, not kept.
    fn passing(&self, run_id: &RunId, event: RunEvent);

    /// This process drives the run no longer, though it has not ended: its events come from elsewhere.
    fn left(&self, _run_id: &RunId) {}
}

/// Nobody watches.
pub struct NoSink;

impl EventSink for NoSink {
    fn publish(&self, _event: &Event) {}
    fn passing(&self, _run_id: &RunId, _event: RunEvent) {}
}
