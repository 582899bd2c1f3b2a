//! All files of a conversation in one value, and whether they have changed since they were read.
//!
//! A run asks for them before every model call and every tool call; most of the time nothing has changed, and this
//! answers without the database. Replicas on one PostgreSQL cannot know of each other's writes: there it always reads.

use std::sync::atomic::{AtomicU64, Ordering};

use ba_protocol::{Artifact, CodeFile, ConversationId, Upload};
use futures::future::BoxFuture;

use crate::db::Session;
use crate::error::Result;
use crate::store::Store;

/// Conversations that share a counter cause a needless read for each other, never a missed change.
const STRIPES: usize = 1024;

/// Counts the changes of files, many conversations to a counter, so that the memory it takes is fixed.
pub(crate) struct Changes(Box<[AtomicU64]>);

impl Default for Changes {
    fn default() -> Self {
        Self((0..STRIPES).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Changes {
    fn of(&self, conversation: &ConversationId) -> &AtomicU64 {
        let hash = conversation.as_str().bytes().fold(5381usize, |h, b| h.wrapping_mul(33) ^ usize::from(b));
        &self.0[hash % STRIPES]
    }
}

/// What `Store::files` read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConversationFiles {
    pub codes: Vec<CodeFile>,
    pub uploads: Vec<Upload>,
    pub artifacts: Vec<Artifact>,
    seen: u64,
}

impl Store {
    pub async fn files(&self, conversation: &ConversationId) -> Result<ConversationFiles> {
        // Taken before reading: what changes meanwhile makes this value old, not wrongly new.
        let seen = self.changes().of(conversation).load(Ordering::Acquire);
        let (codes, uploads, artifacts) = tokio::try_join!(
            self.codes(conversation),
            self.uploads(conversation),
            self.artifacts(conversation)
        )?;
        Ok(ConversationFiles { codes, uploads, artifacts, seen })
    }

    /// The files of a conversation that is only now being made.
    pub fn no_files(&self, conversation: &ConversationId) -> ConversationFiles {
        ConversationFiles {
            seen: self.changes().of(conversation).load(Ordering::Acquire),
            ..ConversationFiles::default()
        }
    }

    /// Whether nothing changed since `files` was read.
    pub fn is_current(&self, conversation: &ConversationId, files: &ConversationFiles) -> bool {
        !self.db().engine().is_shared()
            && files.seen == self.changes().of(conversation).load(Ordering::Acquire)
    }

    /// Every write of code, uploads or artifacts goes through here.
    pub(crate) async fn write_files<T, F>(&self, conversation: &ConversationId, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut dyn Session) -> BoxFuture<'s, Result<T>> + Send + 'static,
    {
        let written = self.db().write(work).await;
        self.changes().of(conversation).fetch_add(1, Ordering::Release);
        written
    }
}
