//! Search providers behind one trait. Never connects by itself: requests go through `fetch::Web::call`.
