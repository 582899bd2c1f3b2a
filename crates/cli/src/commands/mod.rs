//! One file per verb.

pub mod archive;
pub mod ask;
pub mod context;
pub mod doctor;
pub mod eval;
pub mod feedback;
pub mod key;
pub mod logs;
pub mod mcp;
mod progress;
mod readable;
pub mod report;
pub mod serve;
pub mod skill;
pub mod trace;
pub mod user;
pub mod verify;

use ba_agent::AgentError;
use ba_config::{Config, ConfigError};
use ba_protocol::{ConversationId, UserId};
use ba_store::{Store, StoreError};

/// The command was used wrongly: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUse(pub String);

pub fn conversation_id(given: &str) -> anyhow::Result<ConversationId> {
    ConversationId::parse(given).map_err(|e| WrongUse(e.to_string()).into())
}

/// The person a command is about: by name, else the local user.
pub async fn owner(store: &Store, name: Option<&str>) -> anyhow::Result<UserId> {
    let Some(name) = name else { return Ok(UserId::local()) };
    match store.user_by_name(name).await {
        Ok(user) => Ok(user.id),
        Err(error) if error.is_not_found() => {
            Err(WrongUse(format!("there is no user {name}; `ba-agent user list` shows them")).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// A command to type next, with the same data folder and configuration as this one.
pub fn next_command(config: &Config, rest: &str) -> String {
    let mut line = format!("ba-agent {rest}");
    if std::path::absolute("ba-data").ok().as_ref() != Some(&config.data_dir) {
        line.push_str(&format!(" --data-dir '{}'", config.data_dir.display()));
    }
    if let Some(file) = config.file.as_ref().filter(|file| file.as_os_str() != "ba-agent.toml") {
        line.push_str(&format!(" --config '{}'", file.display()));
    }
    line
}

/// SPEC K6: whether whoever typed the command can put it right (2), or something failed on the way (1).
pub fn is_wrong_use(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<WrongUse>()
            || cause.is::<ConfigError>()
            || cause.downcast_ref::<StoreError>().is_some_and(store_refused)
            || cause.downcast_ref::<AgentError>().is_some_and(agent_refused)
            || cause.is::<ba_skills::ManageError>()
    })
}

fn store_refused(error: &StoreError) -> bool {
    use StoreError::{Conflict, InUse, Invalid, NewerSchema, NotFound, TooLarge};
    matches!(
        error,
        NotFound { .. } | Conflict(_) | Invalid(_) | InUse(_) | TooLarge { .. } | NewerSchema { .. }
    )
}

fn agent_refused(error: &AgentError) -> bool {
    use AgentError::{EmptyMessage, MessageTooLong, Store, UnknownFile, UnknownModel};
    match error {
        EmptyMessage | MessageTooLong { .. } | UnknownFile(_) | UnknownModel(..) => true,
        Store(error) => store_refused(error),
        _ => false,
    }
}
