//! A conversation as one tar archive, out and in again, so that nothing is locked in. An archive that comes in
//! is hostile: names in it never become paths, its runs are never resumed, its profiles are never trusted.

mod export;
mod import;
mod insert;
mod lines;
mod manifest;
mod unpack;

pub use import::ImportReport;
