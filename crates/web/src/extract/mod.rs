//! Main text of a page as Markdown. Pure: never fetches.
