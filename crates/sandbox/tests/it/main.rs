//! The sandbox as a whole, on a real Python environment.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod basics;
mod environment;
mod escape;
mod isolation;
mod leaks;
mod limits;
mod pool;
mod results;
mod state;
mod support;
mod user_mode;
