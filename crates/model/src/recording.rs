//! Wraps a model and appends every turn to a file, for `ReplayModel` (SPEC L4). Holds no key: requests have none.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::model::{Model, ModelError, ModelInfo, ModelReply, ModelRequest, OnDelta};
use crate::windows::WindowSource;

/// One line of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The model that answered, `provider:model`.
    pub model: String,
    pub request: ModelRequest,
    pub reply: ModelReply,
}

pub struct RecordingModel {
    inner: Arc<dyn Model>,
    file: Mutex<File>,
}

impl RecordingModel {
    /// Appends to `path`, which is made when missing.
    pub fn new(inner: Arc<dyn Model>, path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { inner, file: Mutex::new(file) })
    }

    fn write(&self, turn: &Turn) -> io::Result<()> {
        let mut line = serde_json::to_vec(turn)?;
        line.push(b'\n');
        // One write per line: turns that end at the same time do not mix.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line)?;
        file.flush()
    }
}

#[async_trait]
impl Model for RecordingModel {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    fn window_source(&self) -> WindowSource {
        self.inner.window_source()
    }

    /// A turn that failed is not recorded. A recording that cannot be written is logged and does not fail the turn.
    async fn complete(
        &self,
        request: &ModelRequest,
        on_delta: OnDelta<'_>,
    ) -> Result<ModelReply, ModelError> {
        let reply = self.inner.complete(request, on_delta).await?;
        let turn = Turn { model: self.info().name.clone(), request: request.clone(), reply: reply.clone() };
        if let Err(error) = self.write(&turn) {
            tracing::warn!(%error, "the model's turn could not be recorded");
        }
        Ok(reply)
    }
}
