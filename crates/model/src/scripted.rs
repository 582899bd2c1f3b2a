//! A model that says what it was told to, and remembers what it was asked. For tests.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use crate::model::{Model, ModelError, ModelInfo, ModelReply, ModelRequest, OnDelta, StopReason, Usage};

/// One answer of the script.
#[derive(Debug, Clone)]
pub struct ScriptedReply {
    outcome: Result<ModelReply, ModelError>,
    delay: Duration,
    /// Characters per delta; 0 sends the text as one.
    chunk: usize,
    /// Streams its text and then never ends.
    hangs: bool,
}

impl ScriptedReply {
    pub fn text(text: impl Into<String>) -> Self {
        let reply = ModelReply { text: text.into(), thinking: None, usage: None, stop: StopReason::End };
        Self { outcome: Ok(reply), delay: Duration::ZERO, chunk: 0, hangs: false }
    }

    pub fn reply(reply: ModelReply) -> Self {
        Self { outcome: Ok(reply), delay: Duration::ZERO, chunk: 0, hangs: false }
    }

    pub fn error(error: ModelError) -> Self {
        Self { outcome: Err(error), delay: Duration::ZERO, chunk: 0, hangs: false }
    }

    /// Answers only after `delay`.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Streams `characters` at a time.
    #[must_use]
    pub fn in_chunks(mut self, characters: usize) -> Self {
        self.chunk = characters;
        self
    }

    /// Says its text and then nothing more, without an end.
    #[must_use]
    pub fn then_hangs(mut self) -> Self {
        self.hangs = true;
        self
    }

    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        if let Ok(reply) = &mut self.outcome {
            reply.usage = Some(usage);
        }
        self
    }
}

impl From<&str> for ScriptedReply {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ScriptedReply {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<ModelError> for ScriptedReply {
    fn from(error: ModelError) -> Self {
        Self::error(error)
    }
}

pub struct ScriptedModel {
    info: ModelInfo,
    script: Mutex<VecDeque<ScriptedReply>>,
    requests: Mutex<Vec<ModelRequest>>,
}

impl ScriptedModel {
    pub fn new<R: Into<ScriptedReply>>(replies: impl IntoIterator<Item = R>) -> Self {
        let info =
            ModelInfo { name: "scripted:test".to_owned(), window: 128_000, offline: false, prices: None };
        let script = Mutex::new(replies.into_iter().map(Into::into).collect());
        Self { info, script, requests: Mutex::default() }
    }

    #[must_use]
    pub fn with_info(mut self, info: ModelInfo) -> Self {
        self.info = info;
        self
    }

    /// Adds an answer behind the others.
    pub fn push(&self, reply: impl Into<ScriptedReply>) {
        lock(&self.script).push_back(reply.into());
    }

    /// All that was asked so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.requests).clone()
    }

    /// The request number `index`, from 0.
    pub fn request(&self, index: usize) -> Option<ModelRequest> {
        lock(&self.requests).get(index).cloned()
    }

    pub fn remaining(&self) -> usize {
        lock(&self.script).len()
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        on_delta: OnDelta<'_>,
    ) -> Result<ModelReply, ModelError> {
        let asked = {
            let mut requests = lock(&self.requests);
            requests.push(request.clone());
            requests.len()
        };
        let Some(next) = lock(&self.script).pop_front() else {
            return Err(ModelError::Replay { detail: format!("the script has no answer number {asked}") });
        };
        if !next.delay.is_zero() {
            tokio::time::sleep(next.delay).await;
        }
        let reply = next.outcome?;
        for delta in chunks(&reply.text, next.chunk) {
            on_delta(delta);
            // Lets a reader see the pieces apart.
            tokio::task::yield_now().await;
        }
        if next.hangs {
            std::future::pending::<()>().await;
        }
        Ok(reply)
    }
}

pub(crate) fn chunks(text: &str, characters: usize) -> Vec<&str> {
    if characters == 0 {
        return if text.is_empty() { Vec::new() } else { vec![text] };
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(characters).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
