//! One small pure pair per provider: a query becomes a request, an answer becomes results. Nothing here connects.

mod bing;
mod bocha;
mod brave;
mod searxng;
mod serper;
mod tavily;
mod zhipu;

use ba_protocol::Secret;
use serde_json::Value;

use super::error::SearchError;
use super::hit::{Hit, Raw};
use crate::fetch::{ApiRequest, ApiResponse};

/// A query within the provider's limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub text: String,
    /// 1–20.
    pub count: usize,
}

pub trait Provider: Send + Sync {
    fn name(&self) -> &'static str;

    fn request(&self, query: &Query, key: Option<&Secret>) -> ApiRequest;

    /// The results of a successful answer.
    fn parse(&self, answer: &Value) -> Result<Vec<Hit>, Unread>;

    /// The HTTP status, or what it should have been where a provider says it elsewhere.
    fn status(&self, answer: &ApiResponse) -> u16 {
        answer.status
    }

    /// What the operator must look at when access is refused.
    fn refused_setting(&self, key_setting: &str) -> String {
        key_setting.to_owned()
    }

    /// Characters of a query the provider takes.
    fn longest_query(&self) -> usize {
        400
    }
}

/// Why an answer with a good status holds no results.
#[derive(Debug, PartialEq, Eq)]
pub enum Unread {
    /// Not the documented shape.
    Shape(String),
    /// The provider itself got nothing.
    Down(String),
}

impl Unread {
    pub(super) fn into_search_error(self, provider: &'static str) -> SearchError {
        match self {
            Self::Shape(detail) => SearchError::Garbled { provider, detail },
            Self::Down(detail) => SearchError::Down { provider, detail },
        }
    }
}

pub fn provider(name: &str) -> Option<Box<dyn Provider>> {
    Some(match name {
        "searxng" => Box::new(searxng::Searxng),
        "brave" => Box::new(brave::Brave),
        "tavily" => Box::new(tavily::Tavily),
        "bing" => Box::new(bing::Bing),
        "serper" => Box::new(serper::Serper),
        "bocha" => Box::new(bocha::Bocha),
        "zhipu" => Box::new(zhipu::Zhipu),
        _ => return None,
    })
}

/// Where a list of results and their fields are; a missing list is an empty one when `owner` is there.
pub(super) struct Shape {
    pub list: &'static str,
    pub title: &'static str,
    pub url: &'static str,
    pub snippet: &'static str,
    /// The first that is there counts.
    pub date: &'static [&'static str],
    pub source: &'static str,
}

impl Shape {
    pub fn read(&self, answer: &Value) -> Result<Vec<Hit>, Unread> {
        let list = match answer.pointer(self.list) {
            Some(Value::Array(items)) => items,
            Some(Value::Null) | None if answer.is_object() => return Ok(Vec::new()),
            _ => return Err(Unread::Shape(format!("no list at {}", self.list))),
        };
        Ok(list.iter().filter_map(|item| self.hit(item)).collect())
    }

    fn hit(&self, item: &Value) -> Option<Hit> {
        let at = |path: &str| item.pointer(path).unwrap_or(&Value::Null);
        let date = self.date.iter().map(|p| at(p)).find(|v| v.is_string()).unwrap_or(&Value::Null);
        Hit::checked(&Raw {
            title: at(self.title),
            url: at(self.url),
            snippet: at(self.snippet),
            date,
            source: at(self.source),
        })
    }
}

/// `Authorization: Bearer …`
fn bearer(key: Option<&Secret>) -> Secret {
    Secret::new(format!("Bearer {}", exposed(key)))
}

fn exposed(key: Option<&Secret>) -> &str {
    key.map(Secret::expose).unwrap_or_default()
}
