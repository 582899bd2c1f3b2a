//! The public face: start, run, forget, shut down.

use std::sync::Arc;

use crate::{Job, JobEvent, JobOutcome, SandboxConfig, SandboxError, SessionKey, Witness};

/// A running sandbox; clones share it.
#[derive(Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

struct Inner {
    witnesses: Vec<Witness>,
}

impl Sandbox {
    /// Starts the workers and sees every denial happen; fails when one does not.
    pub async fn start(config: SandboxConfig) -> Result<Self, SandboxError> {
        let _ = config;
        Err(SandboxError::Start("not yet available".into()))
    }

    pub fn self_test(&self) -> &[Witness] {
        &self.inner.witnesses
    }

    /// Runs a job to its end. Dropping the future kills the job and keeps the session's earlier state.
    pub async fn run(
        &self,
        job: Job,
        on_event: &(dyn Fn(JobEvent) + Send + Sync),
    ) -> Result<JobOutcome, SandboxError> {
        let _ = (job, on_event);
        Err(SandboxError::ShuttingDown)
    }

    /// Drops the live state of a conversation.
    pub async fn forget(&self, session: &SessionKey) {
        let _ = session;
    }

    pub async fn shutdown(self) {}
}
