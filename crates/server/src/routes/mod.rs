//! Handlers, one file per resource: they take the request apart, ask the store or the agent, and shape the answer.

pub mod admin;
pub mod archive;
pub mod board;
pub mod catalog;
pub mod code;
pub mod consents;
pub mod conversations;
pub mod download;
pub mod files;
pub mod health;
pub mod history;
pub mod metrics;
pub mod oversight;
pub mod query;
pub mod report;
pub mod runs;
pub mod samples;
pub mod session;
pub mod setup;
pub mod shared_page;
pub mod shares;
pub mod skills;
pub mod status;
pub mod turns;
pub mod upload;
