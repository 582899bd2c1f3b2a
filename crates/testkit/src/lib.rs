//! What tests share: a test app, fixtures, hostile corpora.
