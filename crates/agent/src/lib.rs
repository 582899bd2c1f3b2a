//! The run: a pure machine and its driver, tools, context, skills, response building, telemetry.
//!
//! Knows no axum, no SQL, no Python and no concrete tool.

pub mod context;
mod direct;
mod drive;
mod error;
mod keeper;
pub mod log;
pub mod metrics;
mod parts;
pub mod pipeline;
pub mod prompt;
pub mod respond;
pub mod run;
mod service;
mod sink;
pub mod skills;
pub mod spans;
mod summaries;
pub mod tool;

pub use drive::proof;
pub use drive::proof::{Testimony, Witness, WitnessCase};
pub use error::AgentError;
pub use parts::{AgentParts, Models, RunState};
pub use service::{Admitted, Agent};
pub use sink::{EventSink, NoSink};
pub use skills::Skills;
pub use tool::{
    Body, Briefing, BriefingRequest, CallPlan, Column, Effects, Progress, Registry, Tool, ToolContext,
    ToolError, ToolOutput, ToolSpec, Typed, TypedTool,
};
