//! Brave Search API.

use ba_protocol::Secret;
use serde_json::Value;

use super::{Provider, Query, Shape, Unread, exposed};
use crate::fetch::{ApiRequest, ApiResponse};
use crate::search::hit::Hit;

pub(super) struct Brave;

const SHAPE: Shape = Shape {
    list: "/web/results",
    title: "/title",
    url: "/url",
    snippet: "/description",
    date: &["/page_age", "/age"],
    source: "/profile/name",
};

impl Provider for Brave {
    fn name(&self) -> &'static str {
        "brave"
    }

    fn request(&self, query: &Query, key: Option<&Secret>) -> ApiRequest {
        // At most 50 words and 400 characters are taken.
        let text = query.text.split_whitespace().take(50).collect::<Vec<_>>().join(" ");
        ApiRequest::get()
            .query("q", text)
            .query("count", query.count.to_string())
            .query("text_decorations", "false")
            .query("result_filter", "web")
            .header("X-Subscription-Token", Secret::new(exposed(key)))
    }

    fn parse(&self, answer: &Value) -> Result<Vec<Hit>, Unread> {
        let web = answer.get("web");
        if web.map_or(answer["type"].as_str() != Some("search"), |w| !w.is_object()) {
            return Err(Unread::Shape("neither `type: search` nor `web`".to_owned()));
        }
        SHAPE.read(answer)
    }

    /// A wrong key is answered with 422.
    fn status(&self, answer: &ApiResponse) -> u16 {
        let wrong_key = || {
            let value: Option<Value> = serde_json::from_slice(&answer.body).ok();
            value.is_some_and(|v| {
                v["error"]["code"].as_str().is_some_and(|c| c.contains("SUBSCRIPTION_TOKEN"))
            })
        };
        if answer.status == 422 && wrong_key() { 401 } else { answer.status }
    }
}
