//! Tells a server to stop a statement that nobody waits for any more.

use futures::future::BoxFuture;

/// The request that stops the statement, sent when this is dropped before `disarm`.
pub(super) struct CancelOnDrop(Option<BoxFuture<'static, Result<(), sqlx::Error>>>);

impl CancelOnDrop {
    pub(super) fn new(stop: impl Future<Output = Result<(), sqlx::Error>> + Send + 'static) -> Self {
        Self(Some(Box::pin(stop)))
    }

    /// The statement has ended.
    pub(super) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let (Some(stop), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move {
                if let Err(error) = stop.await {
                    tracing::warn!(%error, "a statement could not be cancelled");
                }
            });
        }
    }
}
