//! Skills teach the agent a way of working, loaded only when needed (SPEC S1–S6).
//!
//! Loading, levels, activation chains, context modifiers, install and approval. Everything in a skill is hostile
//! input. Knows no model, no tool and no server: token counts come in as a function, results go out as values.

pub mod activation;
pub mod business;
pub mod catalog;
pub mod error;
pub mod front_matter;
mod git_import;
pub mod import;
pub mod ledger;
pub mod levels;
pub mod library;
pub mod limits;
pub mod modifiers;
pub mod name;
pub mod rank;
pub mod skill;
pub mod tool_names;
pub mod tree;
mod zip_import;

pub use activation::{ActivationError, ActivationRequest, SkillState};
pub use business::{BUSINESS_MD, BusinessNotes, business_notes, load_business};
pub use catalog::{Catalog, Entry, Root, Status, Trust};
pub use error::{LoadError, ManageError};
pub use import::Origin;
pub use levels::{CountTokens, LoadLevel};
pub use library::{LibraryConfig, SkillLibrary};
pub use limits::Limits;
pub use modifiers::{Base, Effective, Modifiers};
pub use name::{DONE, SkillName};
pub use skill::{Skill, Source};
