//! Tavily.

use ba_protocol::Secret;
use serde_json::{Value, json};

use super::{Provider, Query, Shape, Unread, bearer};
use crate::fetch::{ApiRequest, ApiResponse};
use crate::search::hit::Hit;

pub(super) struct Tavily;

const SHAPE: Shape = Shape {
    list: "/results",
    title: "/title",
    url: "/url",
    snippet: "/content",
    date: &["/published_date"],
    source: "/source",
};

impl Provider for Tavily {
    fn name(&self) -> &'static str {
        "tavily"
    }

    fn request(&self, query: &Query, key: Option<&Secret>) -> ApiRequest {
        let body = json!({
            "query": query.text, "max_results": query.count, "search_depth": "basic", "include_answer": false,
            "include_raw_content": false, "include_images": false,
        });
        ApiRequest::post(body).header("Authorization", bearer(key))
    }

    fn parse(&self, answer: &Value) -> Result<Vec<Hit>, Unread> {
        if !answer["results"].is_array() {
            return Err(Unread::Shape("no list of results".to_owned()));
        }
        SHAPE.read(answer)
    }

    /// 432 and 433: the plan or the budget is used up.
    fn status(&self, answer: &ApiResponse) -> u16 {
        if matches!(answer.status, 432 | 433) { 402 } else { answer.status }
    }
}
