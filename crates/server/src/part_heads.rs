//! A byte budget for the heads of multipart parts (SPEC H1). The parser holds what comes until a head is complete; this
//! stream, between the network and the parser, ends a form whose head never does.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use axum::BoxError;
use axum::body::{Body, BodyDataStream, Bytes};
use futures::Stream;

/// From the end of one part to the content of the next. More than a head needs, as it comes in pieces of the network's size.
pub const PART_HEAD_BYTES: u64 = 1024 * 1024;

/// Says when a head is read and when content is; shared with the stream.
#[derive(Clone, Default)]
pub struct HeadBudget(Arc<AtomicU64>);

impl HeadBudget {
    /// The next bytes are a head.
    pub fn head(&self) {
        self.0.store(PART_HEAD_BYTES, Ordering::Release);
    }

    /// The next bytes are content, which is not held.
    pub fn content(&self) {
        self.0.store(u64::MAX, Ordering::Release);
    }

    /// The body with this budget.
    pub fn guard(&self, body: Body) -> Body {
        Body::from_stream(Guarded { stream: body.into_data_stream(), budget: self.clone(), rest: false })
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the head of a part is longer than {PART_HEAD_BYTES} bytes")]
pub struct HeadTooLong;

struct Guarded {
    stream: BodyDataStream,
    budget: HeadBudget,
    /// Whether to pause before the next piece: the parser reads all there is before it looks at any of it.
    rest: bool,
}

impl Stream for Guarded {
    type Item = Result<Bytes, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.rest) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        match Pin::new(&mut self.stream).poll_next(cx) {
            Poll::Ready(Some(Ok(bytes))) => {
                let left = self.budget.0.load(Ordering::Acquire);
                if left == 0 {
                    return Poll::Ready(Some(Err(HeadTooLong.into())));
                }
                if left != u64::MAX {
                    // The piece that ends a head holds content too: the budget is used up by the pieces before it.
                    self.budget.0.store(left.saturating_sub(bytes.len() as u64), Ordering::Release);
                }
                self.rest = true;
                Poll::Ready(Some(Ok(bytes)))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error.into()))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}
