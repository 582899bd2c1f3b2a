//! The store's one integration suite: every case runs on SQLite and on a real PostgreSQL.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod harness;
mod postgres;

mod accounts;
mod archive;
mod cleanup;
mod code;
mod conversations;
mod crash;
mod faults;
mod files;
mod jobs;
mod load;
mod locks;
mod migrations;
mod private;
mod quota;
mod runs;
mod s3;
mod servers;
mod shares;
mod versions;
