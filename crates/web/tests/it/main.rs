//! Fetching, extraction and search. Fetching is against real servers and a real DNS responder: the hostile ones, and honest ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod api;
mod bodies;
mod dns;
mod extraction;
mod manners;
mod namespace;
mod quality;
mod search;
mod site;
mod ssrf;
mod tls;
