//! The web for the model: guarded fetching ([`fetch`], [`guard`]), text of bodies ([`content`], [`extract`]) and search
//! providers ([`search`]). Every request the model can cause goes through [`fetch::Web`]; nothing else here connects.

pub mod content;
pub mod extract;
pub mod fetch;
pub mod guard;
pub mod search;
