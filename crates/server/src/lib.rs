//! The HTTP face: routes, streaming, sign-in, the page.
//!
//! `router` is the table of contents. Knows the agent and the store through what it is given; no concrete tool.

pub mod auth;
mod codes;
mod config;
mod envelope;
mod error;
mod event_bus;
mod file_events;
mod follow;
mod forget;
mod headers;
mod http_metrics;
mod ingest;
mod jobs;
mod mcp;
mod openai;
pub mod openapi;
mod paced_body;
mod page;
mod part_heads;
mod places;
mod plain;
mod relay;
mod router;
mod routes;
mod serve;
mod service;
mod sse;
mod state;

pub use codes::{CODES, PROGRAM_CODES};
pub use config::{Access, InvalidNetwork, Limits, Network, Rates, ServerConfig};
pub use error::ApiError;
pub use event_bus::EventBus;
pub use forget::logs_of;
pub use mcp::{Folders, serve_stdio};
pub use page::chart_library;
pub use router::router;
pub use serve::{StartError, check_access, serve};
pub use service::{
    Check, ConnectionInfo, Deps, Ingest, Keeper, ModelSetup, ReportFile, ReportRefusal, ReportWanted,
    Reports, Sample, SampleInfo, SavedModel, Setup, SkillInfo, ToolInfo,
};
pub use state::AppState;
