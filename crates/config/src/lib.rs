//! TOML file and `BA_*` environment become one validated `Config` (SPEC K2). Nothing else reads the environment.

mod build;
mod engine;
mod error;
mod mcp;
mod models;
mod presets;
mod raw;
mod search;
#[cfg(test)]
mod tests;
mod types;
mod web;

pub use build::{Sources, load};
pub use error::ConfigError;
pub use presets::{PRESETS, Preset};
pub use search::{SEARCH_PRESETS, SearchPreset, SearchProvider};
pub use types::*;
pub use web::Web;
