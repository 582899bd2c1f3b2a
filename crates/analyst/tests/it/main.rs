//! The offline analyst against stand-in tools over real tables: the evaluation set, reports, follow-ups, bad input.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[allow(dead_code, reason = "shared with other programs")]
#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod bounds;
mod chinese;
mod cleaned;
mod english;
mod figures;
mod hints;
mod operations;
mod phrases;
mod questions;
mod reach;
mod readings;
mod reports;
mod senses;
mod small;
mod trades;
mod undated;
mod wording;
