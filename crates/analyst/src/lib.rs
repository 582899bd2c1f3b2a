//! The offline analyst: a rule-based model (SPEC L3). It sees the messages any model sees and answers in the same
//! protocol. It computes nothing itself: figures come from tool results, or they are not given.

mod analyst;
pub mod budget;
mod database;
mod dictionary;
mod export;
mod forecast;
mod glossary;
pub mod judge;
mod lex;
mod memory;
mod names;
mod norm;
pub mod observe;
pub mod opinion;
mod plain;
mod plan;
mod question;
mod report;
mod scope;
mod source;
mod table;
#[cfg(test)]
mod testing;
mod timex;
mod tolerate;
pub mod turn;
mod understand;
mod units;
mod values;
mod weigh;
mod word;

pub use analyst::OfflineAnalyst;
pub use glossary::{Glossary, GlossaryError};
pub use plan::dialect::Dialect;
pub use source::Connection;
