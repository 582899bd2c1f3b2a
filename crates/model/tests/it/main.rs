//! The wire clients against real loopback servers, and the scripted, recording and replay models.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod bodies;
mod environment;
mod faults;
mod quirks;
mod replay;
mod server;
mod streams;
mod windows;
mod wire;
