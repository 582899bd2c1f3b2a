//! The words everything else speaks: ids, model output, messages, tool results, events and API bodies.
//!
//! Pure data and pure functions. Never does IO, never knows tokio.

pub mod api;
pub mod audit;
pub mod data_note;
pub mod dialect;
pub mod event;
pub mod file;
pub mod ids;
pub mod language;
pub mod message;
pub mod notice;
pub mod parse;
pub mod profile_budget;
pub mod reading;
pub mod report;
pub mod said;
pub mod secret;
pub mod structured;
pub mod synopsis;
pub mod table;
pub mod telemetry;
pub mod text;
pub mod tool;
pub mod turn;

pub use audit::Audit;
pub use data_note::DataNote;
pub use dialect::Dialect;
pub use event::{Event, RunEvent};
pub use file::{Artifact, CodeFile, FileFacts, Upload};
pub use ids::{CodeId, ConversationId, RunId, UploadId, UserId};
pub use language::Language;
pub use message::{ContentBlock, Message, Role};
pub use parse::{ParseOutcome, Parsed, parse};
pub use report::ReportFor;
pub use said::Said;
pub use secret::Secret;
pub use structured::{Action, Clarification, CodeBlock, StructuredResponse, ToolCall};
pub use telemetry::ToolTelemetry;
pub use tool::{OutputLevel, ToolErrorType, ToolFailure, ToolResult};
pub use turn::{Turn, TurnEnding};
