//! The offline analyst: a rule-based model (SPEC L3). It sees the messages any model sees and answers in the same
//! protocol. It computes nothing itself: figures come from tool results, or they are not given.

pub mod analyst;
pub mod budget;
mod database;
pub mod dictionary;
pub mod export;
pub mod forecast;
pub mod glossary;
pub mod judge;
pub mod lex;
mod memory;
pub mod names;
pub mod norm;
pub mod observe;
pub mod opinion;
pub mod plain;
pub mod plan;
pub mod question;
pub mod read;
pub mod report;
pub mod source;
pub mod table;
#[cfg(test)]
mod testing;
pub mod timex;
pub mod tolerate;
pub mod turn;
pub mod units;
pub mod values;
pub mod weigh;
pub mod word;

pub use analyst::OfflineAnalyst;
pub use glossary::{Glossary, GlossaryError};
pub use plan::dialect::Dialect;
pub use source::Connection;
