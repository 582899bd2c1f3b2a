//! The one way to the web: guarded, bounded in size and time, polite. Never uses a proxy of the environment.

mod api;
mod body;
mod cache;
mod client;
mod config;
mod error;
mod manners;
mod resolve;
mod robots;
mod web;

pub use api::{ApiRequest, ApiResponse, Endpoint, Method};
pub use config::{PRODUCT, Robots, WebConfig};
pub use error::FetchError;
pub use resolve::{Resolve, SystemResolver};
pub use web::{Fetched, Web};
