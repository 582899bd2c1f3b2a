//! Tables through a real sandbox, and queries on real databases.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod attacks;
mod budgets;
mod clickhouse;
mod corpus;
mod databases;
mod embedded;
mod engine;
mod flight;
mod keep;
mod late;
mod limits;
mod lists;
mod onslaught;
mod reach;
mod rows;

mod sail;
mod servers;
mod sqlserver;
mod support;
mod tds;
mod trino;
mod zones;
