//! From a model's tool call to the observation it gets back (SPEC E): levels, retries, cache, formatting, telemetry.
//! The one boundary where untrusted output becomes text for the model: nothing in it can close its tag.

mod cache;
mod errors;
mod executor;
mod level;
mod observation;
mod render;
mod retry;
#[cfg(test)]
mod tests;
mod told;

use std::sync::Arc;

pub use cache::IdempotencyCache;
pub(crate) use errors::failed;
pub use errors::unknown_tool;
pub use executor::{CallRequest, Executed, Executor, ExecutorConfig, ToolData};
pub use level::{LevelInputs, decide as decide_level};
pub use observation::{neutralise, neutralise_all, wrap};
pub use retry::RetryPolicy;
pub use told::Told;

/// Counts the tokens of a text for the model in use.
pub type Counter = Arc<dyn Fn(&str) -> usize + Send + Sync>;
