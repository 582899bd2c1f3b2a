//! Answers from a recording, without a network, and says exactly where a request differs (SPEC L4).

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use ba_protocol::text::shorten;
use ba_protocol::{Message, Role};

use crate::model::{Model, ModelError, ModelInfo, ModelReply, ModelRequest, OnDelta};
use crate::recording::Turn;
use crate::scripted::chunks;

/// How strictly a request must equal the recorded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// In order, every message and parameter equal. For tests.
    Exact,
    /// The first unused turn whose last user question and number of answers since it are the same, whatever else
    /// changed (prompt, file list, figures). For demonstrations.
    UserText,
    /// The next turn, whatever was asked.
    Order,
}

/// Characters per delta, so that a replay streams like a model.
const CHUNK: usize = 24;

pub struct ReplayModel {
    info: ModelInfo,
    matching: Matching,
    turns: Vec<Turn>,
    used: Mutex<Vec<bool>>,
}

impl ReplayModel {
    /// Reads a recording. A line that is no turn fails with its number.
    pub fn open(path: &Path, matching: Matching) -> io::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        Self::from_lines(&text, &name, matching)
    }

    pub fn from_lines(text: &str, name: &str, matching: Matching) -> io::Result<Self> {
        let mut turns = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
            let turn = serde_json::from_str(line).map_err(|error| {
                let problem = format!("line {} of {name} is not a recorded turn: {error}", index + 1);
                io::Error::new(io::ErrorKind::InvalidData, problem)
            })?;
            turns.push(turn);
        }
        if turns.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{name} holds no recorded turn")));
        }
        let info =
            ModelInfo { name: format!("replay:{name}"), window: 128_000, offline: false, prices: None };
        let used = Mutex::new(vec![false; turns.len()]);
        Ok(Self { info, matching, turns, used })
    }

    /// Marks and gives the turn that answers `request`.
    fn take(&self, request: &ModelRequest) -> Result<&Turn, ModelError> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let next = used.iter().position(|u| !u);
        let index = match self.matching {
            Matching::UserText => {
                let asked = question(&request.messages);
                let fits = |i: &usize| !used[*i] && question(&self.turns[*i].request.messages) == asked;
                (0..self.turns.len()).find(fits).ok_or_else(|| {
                    mismatch(format!(
                        "no unused turn answers `{}` (answer {} to it)",
                        shorten(&asked.0, 80),
                        asked.1 + 1
                    ))
                })?
            }
            Matching::Exact | Matching::Order => {
                next.ok_or_else(|| mismatch(format!("all {} recorded turns are used", self.turns.len())))?
            }
        };
        if self.matching == Matching::Exact
            && let Some(difference) = difference(&self.turns[index].request, request)
        {
            return Err(mismatch(format!("turn {}: {difference}", index + 1)));
        }
        used[index] = true;
        Ok(&self.turns[index])
    }
}

fn mismatch(detail: String) -> ModelError {
    ModelError::Replay { detail }
}

/// The user's last own question, and how many answers follow it. Observations are no questions.
fn question(messages: &[Message]) -> (String, usize) {
    let is_question = |m: &&Message| {
        m.role == Role::User && m.tool_results().next().is_none() && !m.text().starts_with("<tool_result")
    };
    let at = messages.iter().rposition(|m| is_question(&m));
    let text = at.map(|at| messages[at].text().trim().to_owned()).unwrap_or_default();
    let answers = messages[at.map_or(0, |a| a + 1)..].iter().filter(|m| m.role == Role::Assistant).count();
    (text, answers)
}

/// The first place where two requests differ, in words; `None` when they are equal.
fn difference(recorded: &ModelRequest, given: &ModelRequest) -> Option<String> {
    for (index, (old, new)) in recorded.messages.iter().zip(&given.messages).enumerate() {
        if old.role != new.role {
            let (old, new) = (old.role.as_str(), new.role.as_str());
            return Some(format!("message {index} is from `{new}`, recorded was `{old}`"));
        }
        if old != new {
            return Some(format!("message {index} ({}) {}", new.role.as_str(), text_difference(old, new)));
        }
    }
    let (old, new) = (recorded.messages.len(), given.messages.len());
    if old != new {
        return Some(format!("{new} messages were sent, recorded were {old}"));
    }
    let differs = [
        ("max_tokens", recorded.max_tokens != given.max_tokens),
        ("temperature", recorded.temperature != given.temperature),
        ("schema", recorded.schema != given.schema),
        ("stable_prefix", recorded.stable_prefix != given.stable_prefix),
    ];
    differs.iter().find(|(_, d)| *d).map(|(name, _)| format!("`{name}` differs"))
}

fn text_difference(old: &Message, new: &Message) -> String {
    let (old, new) = (old.wire_text(), new.wire_text());
    let at = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    if old == new {
        return "has other blocks with the same text".to_owned();
    }
    let around = |text: &str| shorten(&text.chars().skip(at.saturating_sub(20)).collect::<String>(), 60);
    format!("differs at character {at}: recorded `{}`, given `{}`", around(&old), around(&new))
}

#[async_trait]
impl Model for ReplayModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        on_delta: OnDelta<'_>,
    ) -> Result<ModelReply, ModelError> {
        let reply = self.take(request)?.reply.clone();
        for delta in chunks(&reply.text, CHUNK) {
            on_delta(delta);
            tokio::task::yield_now().await;
        }
        Ok(reply)
    }
}
