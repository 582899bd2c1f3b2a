//! What a fetched body is, and its text. Pure; PDF and packed formats are only named, never opened here.

mod charset;
mod feed;
mod kind;

pub use charset::{Decoded, decode};
pub use feed::{Entry, Feed, parse as parse_feed};
pub use kind::{Kind, kind_of};
