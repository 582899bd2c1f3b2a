//! Tools in whole runs, with a scripted model that remembers what it was asked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod answers;
mod databases;
mod gullible;
mod levels;
mod offline;
mod python_state;
#[path = "../../../data/tests/it/servers.rs"]
#[allow(dead_code, reason = "these tests need two of the three servers")]
mod servers;
mod skill_scripts;
mod skills_run;
mod tables;
mod web;
mod web_hostile;
mod web_search;
