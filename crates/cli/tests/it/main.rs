//! Tests of the real binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod ask;
mod commands;
mod crash;
mod docs;
mod model;
