//! SearXNG: self-hosted, no key. `json` must be among `search.formats` of its settings.

use ba_protocol::Secret;
use serde_json::Value;

use super::{Provider, Query, Shape, Unread};
use crate::fetch::ApiRequest;
use crate::search::hit::Hit;

pub(super) struct Searxng;

const SHAPE: Shape = Shape {
    list: "/results",
    title: "/title",
    url: "/url",
    snippet: "/content",
    date: &["/publishedDate", "/pubdate"],
    source: "/source",
};

impl Provider for Searxng {
    fn name(&self) -> &'static str {
        "searxng"
    }

    fn request(&self, query: &Query, _key: Option<&Secret>) -> ApiRequest {
        // How many come back is the instance's choice.
        ApiRequest::get().query("q", &query.text).query("format", "json").query("categories", "general")
    }

    fn parse(&self, answer: &Value) -> Result<Vec<Hit>, Unread> {
        if !answer["results"].is_array() {
            return Err(Unread::Shape("no list of results".to_owned()));
        }
        let hits = SHAPE.read(answer)?;
        let silent = answer["unresponsive_engines"].as_array().map_or(0, Vec::len);
        if hits.is_empty() && silent > 0 {
            return Err(Unread::Down(format!("none of its {silent} engines answered: {}", engines(answer))));
        }
        Ok(hits)
    }

    fn refused_setting(&self, _key_setting: &str) -> String {
        "that `json` is among search.formats in SearXNG's settings.yml, and its limiter".to_owned()
    }
}

/// `google: timeout, bing: access denied`
fn engines(answer: &Value) -> String {
    let all = answer["unresponsive_engines"].as_array().into_iter().flatten().take(5);
    let named = all.map(|e| match (e[0].as_str(), e[1].as_str()) {
        (Some(name), Some(why)) => format!("{name}: {why}"),
        (Some(name), None) => name.to_owned(),
        _ => e.as_str().unwrap_or("?").to_owned(),
    });
    let words = super::super::hit::plain(&named.collect::<Vec<_>>().join(", "));
    ba_protocol::text::shorten(&words, 200)
}
