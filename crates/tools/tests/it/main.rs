//! Tools in whole runs, with a scripted model that remembers what it was asked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod databases;
mod levels;
mod skill_scripts;
mod skills_run;
mod tables;
mod web;
mod web_hostile;
mod web_search;
