//! The run: a pure machine and its driver, tools, context, skills, response building, telemetry.
//!
//! Knows no axum, no SQL, no Python and no concrete tool.

mod ask;
pub mod context;
mod driver;
mod error;
mod finish;
mod ledger;
pub mod log;
pub mod metrics;
pub mod pipeline;
pub mod prompt;
pub mod proof;
pub mod respond;
pub mod run;
mod service;
mod sink;
pub mod skills;
pub mod spans;
mod tally;
pub mod tool;

pub use error::AgentError;
pub use proof::{Testimony, Witness, WitnessCase};
pub use service::{Admitted, Agent, AgentParts, Models, RunState};
pub use sink::{EventSink, NoSink};
pub use skills::Skills;
pub use tool::{
    Body, CallPlan, Column, Effects, Progress, Registry, Tool, ToolContext, ToolOutput, ToolSpec, Typed,
    TypedTool,
};
