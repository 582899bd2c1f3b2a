//! The server as its clients see it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod access;
mod codes;
mod contract;
mod conversations;
mod edges;
mod files;
mod jobs;
mod kit;
mod load;
mod openai;
mod openapi;
mod pages;
mod query;
mod reading;
mod reports;
mod shares;
mod skills;
mod turns;
