//! Which conversation a chat request goes on with.
//!
//! The protocol has no conversation id: clients send the whole history each time. What we answered is remembered by a
//! hash of the history up to it, so that the next question finds its conversation, files and code again.

use std::time::Duration;

use ba_protocol::{ConversationId, UserId};
use ba_store::Store;
use sha2::{Digest, Sha256};

use super::wire::ChatMessage;

const NAMESPACE: &str = "openai-conversations";
const LIFETIME: Duration = Duration::from_secs(30 * 24 * 3600);

/// The question, and what came before it.
pub struct Request {
    pub question: String,
    earlier: Vec<(String, String)>,
    instructions: Vec<String>,
}

impl Request {
    /// `None` when there is no question: no message, or the last one is not the user's.
    pub fn read(messages: &[ChatMessage]) -> Option<Self> {
        let (last, before) = messages.split_last().filter(|(last, _)| last.role == "user")?;
        let question = last.text();
        let mut request = Self { question, earlier: Vec::new(), instructions: Vec::new() };
        for message in before {
            match message.role.as_str() {
                "system" | "developer" => request.instructions.push(message.text()),
                _ => request.earlier.push((message.role.clone(), message.text())),
            }
        }
        (!request.question.trim().is_empty()).then_some(request)
    }

    /// The conversation this history belongs to, when it was ours.
    pub async fn conversation(&self, store: &Store, owner: &UserId) -> Option<ConversationId> {
        if self.earlier.is_empty() {
            return None;
        }
        let known = store.cache_get(NAMESPACE, &key(owner, &self.earlier)).await.ok()??;
        let id = ConversationId::parse(&known).ok()?;
        store.conversation(owner, &id).await.ok().map(|conversation| conversation.id)
    }

    /// The question for a conversation that does not know what came before.
    pub fn with_history(&self) -> String {
        let mut text = String::new();
        for instruction in self.instructions.iter().filter(|text| !text.trim().is_empty()) {
            text.push_str(&format!("【要求】\n{instruction}\n\n"));
        }
        for (role, content) in &self.earlier {
            let who = if role == "assistant" { "助手" } else { "用户" };
            text.push_str(&format!("【此前 {who}】\n{content}\n\n"));
        }
        if text.is_empty() { self.question.clone() } else { format!("{text}【问题】\n{}", self.question) }
    }

    /// Remembers where this exchange lives. Forgetting it costs only context, so a failure is not the client's.
    pub async fn remember(&self, store: &Store, owner: &UserId, answer: &str, conversation: &ConversationId) {
        let mut history = self.earlier.clone();
        history.push(("user".to_owned(), self.question.clone()));
        history.push(("assistant".to_owned(), answer.to_owned()));
        let stored = store.cache_put(NAMESPACE, &key(owner, &history), conversation.as_str(), LIFETIME).await;
        if let Err(error) = stored {
            tracing::warn!(%error, "could not remember a chat's conversation");
        }
    }
}

/// White space at the ends is not kept by every client.
fn key(owner: &UserId, history: &[(String, String)]) -> String {
    let mut hash = Sha256::new();
    hash.update(owner.as_str());
    for (role, content) in history {
        let content = content.trim();
        hash.update([0]);
        hash.update(role.as_bytes());
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content.as_bytes());
    }
    hex::encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(json: serde_json::Value) -> Vec<ChatMessage> {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn the_last_user_message_is_the_question() {
        let request = Request::read(&messages(serde_json::json!([
            {"role": "system", "content": "answer in English"},
            {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
            {"role": "user", "content": [{"type": "text", "text": "c"}, {"type": "image_url", "image_url": {"url": "x"}}]}
        ])))
        .unwrap();
        assert_eq!(request.question, "c");
        assert_eq!(
            request.with_history(),
            "【要求】\nanswer in English\n\n【此前 用户】\na\n\n【此前 助手】\nb\n\n【问题】\nc"
        );
        assert!(Request::read(&[]).is_none());
        assert!(
            Request::read(&messages(serde_json::json!([{"role": "assistant", "content": "x"}]))).is_none()
        );
        assert!(Request::read(&messages(serde_json::json!([{"role": "user"}]))).is_none());
    }

    #[test]
    fn keys_differ_by_owner_and_by_every_boundary() {
        let alice = UserId::parse("alice").unwrap();
        let history = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(r, c)| ((*r).to_owned(), (*c).to_owned())).collect()
        };
        let one = key(&alice, &history(&[("user", "ab"), ("assistant", "c")]));
        assert_eq!(one, key(&alice, &history(&[("user", "ab\n"), ("assistant", " c")])));
        assert_ne!(one, key(&alice, &history(&[("user", "a"), ("assistant", "bc")])));
        assert_ne!(one, key(&UserId::local(), &history(&[("user", "ab"), ("assistant", "c")])));
    }
}
