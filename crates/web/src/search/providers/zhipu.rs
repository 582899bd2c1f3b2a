//! Zhipu's web search.

use ba_protocol::Secret;
use serde_json::{Value, json};

use super::{Provider, Query, Shape, Unread, bearer};
use crate::fetch::ApiRequest;
use crate::search::hit::Hit;

pub(super) struct Zhipu;

const SHAPE: Shape = Shape {
    list: "/search_result",
    title: "/title",
    url: "/link",
    snippet: "/content",
    date: &["/publish_date"],
    source: "/media",
};

impl Provider for Zhipu {
    fn name(&self) -> &'static str {
        "zhipu"
    }

    fn request(&self, query: &Query, key: Option<&Secret>) -> ApiRequest {
        let body = json!({
            "search_query": query.text, "search_engine": "search_std", "search_intent": false, "count": query.count,
        });
        ApiRequest::post(body).header("Authorization", bearer(key))
    }

    fn parse(&self, answer: &Value) -> Result<Vec<Hit>, Unread> {
        if !answer["search_result"].is_array() && answer.get("id").is_none() {
            return Err(Unread::Shape("no `search_result`".to_owned()));
        }
        SHAPE.read(answer)
    }

    fn longest_query(&self) -> usize {
        70
    }
}
