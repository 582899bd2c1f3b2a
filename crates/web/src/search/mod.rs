//! Search providers behind one trait. Never connects by itself: requests go through `fetch::Web::call`.
//! What comes back is text from outside: cut, freed of markup, and never believed.

mod engine;
mod error;
mod hit;
mod providers;

pub use engine::{Found, Search, Setup};
pub use error::SearchError;
pub use hit::{Hit, normalised};
pub use providers::{Provider, Query, provider};
