//! Fuzzes the parser of model output against the invariants its tests use.
//! Run: `cargo +nightly fuzz run parse`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/protocol/tests/it/invariants.rs"]
mod invariants;

fuzz_target!(|data: &[u8]| invariants::check(&String::from_utf8_lossy(data)));
