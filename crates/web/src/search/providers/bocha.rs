//! Bocha: Bing's shape inside an envelope with a code of its own.

use ba_protocol::Secret;
use serde_json::{Value, json};

use super::{Provider, Query, Unread, bearer, bing};
use crate::fetch::{ApiRequest, ApiResponse};
use crate::search::hit::Hit;

pub(super) struct Bocha;

impl Provider for Bocha {
    fn name(&self) -> &'static str {
        "bocha"
    }

    fn request(&self, query: &Query, key: Option<&Secret>) -> ApiRequest {
        let body =
            json!({"query": query.text, "count": query.count, "freshness": "noLimit", "summary": false});
        ApiRequest::post(body).header("Authorization", bearer(key))
    }

    fn parse(&self, answer: &Value) -> Result<Vec<Hit>, Unread> {
        match &answer["data"] {
            data @ Value::Object(_) => bing::SHAPE.read(data),
            _ => Err(Unread::Shape("no `data`".to_owned())),
        }
    }

    /// The envelope's code is a number or a string, and counts more than a good status.
    fn status(&self, answer: &ApiResponse) -> u16 {
        let value: Option<Value> = serde_json::from_slice(&answer.body).ok();
        let code = value.and_then(|v| match &v["code"] {
            Value::Number(n) => n.as_u64().and_then(|n| u16::try_from(n).ok()),
            Value::String(s) => s.parse().ok(),
            _ => None,
        });
        match code {
            Some(code) if answer.status == 200 && (100..600).contains(&code) => code,
            _ => answer.status,
        }
    }
}
