//! One file per verb.

pub mod archive;
pub mod ask;
pub mod context;
pub mod doctor;
pub mod eval;
pub mod key;
pub mod logs;
mod progress;
mod readable;
pub mod report;
pub mod serve;
pub mod skill;
pub mod trace;
pub mod user;
pub mod verify;

use ba_protocol::ConversationId;

/// The command was used wrongly: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUse(pub String);

pub fn conversation_id(given: &str) -> anyhow::Result<ConversationId> {
    ConversationId::parse(given).map_err(|e| WrongUse(e.to_string()).into())
}
