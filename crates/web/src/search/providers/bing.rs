//! The wire format of Bing's Web Search API v7, which compatible services still speak.

use ba_protocol::Secret;
use serde_json::Value;

use super::{Provider, Query, Shape, Unread, exposed};
use crate::fetch::ApiRequest;
use crate::search::hit::Hit;

pub(super) struct Bing;

pub(super) const SHAPE: Shape = Shape {
    list: "/webPages/value",
    title: "/name",
    url: "/url",
    snippet: "/snippet",
    date: &["/datePublished", "/dateLastCrawled"],
    source: "/siteName",
};

impl Provider for Bing {
    fn name(&self) -> &'static str {
        "bing"
    }

    fn request(&self, query: &Query, key: Option<&Secret>) -> ApiRequest {
        ApiRequest::get()
            .query("q", &query.text)
            .query("count", query.count.to_string())
            .query("responseFilter", "Webpages")
            .query("textDecorations", "false")
            .header("Ocp-Apim-Subscription-Key", Secret::new(exposed(key)))
    }

    fn parse(&self, answer: &Value) -> Result<Vec<Hit>, Unread> {
        if answer["_type"].as_str() != Some("SearchResponse") && answer.get("webPages").is_none() {
            return Err(Unread::Shape("neither `SearchResponse` nor `webPages`".to_owned()));
        }
        SHAPE.read(answer)
    }
}
