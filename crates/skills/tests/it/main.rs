//! The skill library as a server uses it, on real folders.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod library;
mod shipped;
