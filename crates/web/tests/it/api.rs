//! Calls to an endpoint of the operator: private ones are fine, but only they, and never elsewhere.

use ba_protocol::Secret;
use ba_web::fetch::{ApiRequest, Endpoint, FetchError, Web, WebConfig};
use serde_json::json;
use url::Url;

use crate::site::{Reply, Site};

fn endpoint(url: &str) -> Endpoint {
    Endpoint::new(Url::parse(url).unwrap()).unwrap()
}

#[tokio::test]
async fn a_private_endpoint_is_called_with_query_headers_and_json() {
    let site =
        Site::start(|_| Reply::new(200, &[("content-type", "application/json")], r#"{"found": 1}"#)).await;
    let web = Web::new(WebConfig::default()).unwrap();
    let get = ApiRequest::get().query("q", "增长 & 消费").header("x-key", Secret::new("k1"));
    let answer = web.call(&endpoint(&site.url("/search?format=json")), get).await.unwrap();
    assert_eq!((answer.status, answer.json().unwrap()), (200, json!({"found": 1})));
    web.call(&endpoint(&site.url("/post")), ApiRequest::post(json!({"a": [1]}))).await.unwrap();

    let asked = site.asked();
    assert_eq!(asked[0].path(), "/search?format=json&q=%E5%A2%9E%E9%95%BF+%26+%E6%B6%88%E8%B4%B9");
    assert_eq!(asked[0].headers["x-key"], "k1");
    assert_eq!((asked[1].line.as_str(), asked[1].body.as_str()), ("POST /post HTTP/1.1", r#"{"a":[1]}"#));
    // The same place stays closed to the model.
    assert!(matches!(web.fetch(&site.url("/search")).await, Err(FetchError::Refused { .. })));
}

#[tokio::test]
async fn an_endpoint_cannot_send_us_elsewhere() {
    let other = Site::start(|_| Reply::html("elsewhere")).await;
    let target = other.url("/");
    let site = Site::start(move |_| Reply::to(&target)).await;
    let web = Web::new(WebConfig::default()).unwrap();
    let request = ApiRequest::get().header("authorization", Secret::new("Bearer k"));
    let error = web.call(&endpoint(&site.url("/")), request).await.unwrap_err();
    assert!(matches!(error, FetchError::Refused { .. }), "{error}");
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn failures_keep_their_status_and_limits_hold() {
    let site = Site::start(|asked| match asked.path() {
        "/large" => Reply::new(200, &[], vec![b'x'; 4096]),
        "/words" => Reply::new(200, &[], "no json"),
        _ => Reply::new(429, &[("retry-after", "9")], r#"{"error": "slow down"}"#),
    })
    .await;
    let web = Web::new(WebConfig { max_body: 1024, ..WebConfig::default() }).unwrap();
    let answer = web.call(&endpoint(&site.url("/")), ApiRequest::get()).await.unwrap();
    assert_eq!((answer.status, answer.retry_after.unwrap().as_secs()), (429, 9));
    assert!(matches!(answer.json(), Err(FetchError::Status { status: 429, .. })));
    let large = web.call(&endpoint(&site.url("/large")), ApiRequest::get()).await;
    assert_eq!(large.unwrap_err(), FetchError::TooLarge { limit: 1024 });
    let words = web.call(&endpoint(&site.url("/words")), ApiRequest::get()).await.unwrap();
    assert!(matches!(words.json(), Err(FetchError::Garbled { .. })));
    assert!(Endpoint::new(Url::parse("file:///etc/passwd").unwrap()).is_err());
}
