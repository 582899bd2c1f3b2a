//! The run: a pure machine and its driver, tools, context, skills, response building, telemetry.
//!
//! Knows no axum, no SQL, no Python and no concrete tool.

pub mod pipeline;
pub mod respond;
pub mod run;
pub mod tool;

pub use tool::{
    Body, CallPlan, Column, Effects, Progress, Registry, Tool, ToolContext, ToolOutput, ToolSpec, Typed,
    TypedTool,
};
