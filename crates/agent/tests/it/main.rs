//! Runs driven end to end with a scripted model, a real store and real files: what the model would see next.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod bench;
mod cancel;
mod endings;
mod gate;
mod logged;
mod long;
mod proof;
mod resume;
mod turns;
mod versions;
