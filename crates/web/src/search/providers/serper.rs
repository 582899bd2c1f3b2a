//! Serper: results of Google as JSON.

use ba_protocol::Secret;
use serde_json::{Value, json};

use super::{Provider, Query, Shape, Unread, exposed};
use crate::fetch::ApiRequest;
use crate::search::hit::Hit;

pub(super) struct Serper;

const SHAPE: Shape = Shape {
    list: "/organic",
    title: "/title",
    url: "/link",
    snippet: "/snippet",
    date: &["/date"],
    source: "/source",
};

impl Provider for Serper {
    fn name(&self) -> &'static str {
        "serper"
    }

    fn request(&self, query: &Query, key: Option<&Secret>) -> ApiRequest {
        ApiRequest::post(json!({"q": query.text, "num": query.count}))
            .header("X-API-KEY", Secret::new(exposed(key)))
    }

    fn parse(&self, answer: &Value) -> Result<Vec<Hit>, Unread> {
        if !answer["organic"].is_array() && answer.get("searchParameters").is_none() {
            return Err(Unread::Shape("neither `organic` nor `searchParameters`".to_owned()));
        }
        SHAPE.read(answer)
    }
}
