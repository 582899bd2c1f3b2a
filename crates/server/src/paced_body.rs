//! A request body that must keep coming: a client that trickles bytes is let go (SPEC H5). Only the time the server
//! waits for the client counts, never the time the server takes itself.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

/// In each span of waiting this long at least so much must come.
pub const BODY_SPAN: Duration = Duration::from_secs(20);
pub const BODY_BYTES_A_SPAN: usize = 4 * 1024;

pub struct PacedBody<B> {
    body: B,
    /// Bytes of this span, and how long it has been waited for.
    came: usize,
    waited: Duration,
    /// Since when the client is waited for, and until when at most.
    since: Option<Instant>,
    alarm: Pin<Box<Sleep>>,
    span: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("the request body came too slowly")]
    TooSlow,
    #[error(transparent)]
    Broken(#[from] hyper::Error),
}

impl<B> PacedBody<B> {
    pub fn new(body: B, span: Duration) -> Self {
        let alarm = Box::pin(tokio::time::sleep(span));
        Self { body, came: 0, waited: Duration::ZERO, since: None, alarm, span }
    }

    fn arrived(&mut self, bytes: usize) {
        if let Some(since) = self.since.take() {
            self.waited += since.elapsed();
        }
        self.came += bytes;
        if self.came >= BODY_BYTES_A_SPAN {
            (self.came, self.waited) = (0, Duration::ZERO);
        }
    }
}

impl<B> Body for PacedBody<B>
where
    B: Body<Data = Bytes, Error = hyper::Error> + Unpin,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        match Pin::new(&mut this.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                this.arrived(frame.data_ref().map_or(0, Bytes::len));
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error.into()))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                if this.since.is_none() {
                    let now = Instant::now();
                    this.since = Some(now);
                    this.alarm.as_mut().reset(now + this.span.saturating_sub(this.waited));
                }
                this.alarm.as_mut().poll(cx).map(|()| Some(Err(BodyError::TooSlow)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
