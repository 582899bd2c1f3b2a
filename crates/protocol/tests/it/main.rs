//! Integration tests of the protocol: the parser against a corpus, random input and mutations.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod corpus;
mod invariants;
mod random;
