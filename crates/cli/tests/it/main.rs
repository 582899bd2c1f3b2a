//! Tests of the real binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod ask;
mod cluster;
mod commands;
mod crash;
mod docs;
mod model;
#[path = "../../../store/tests/it/postgres.rs"]
mod postgres;
