//! Headers every response has, and the time limit of ordinary requests.

use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;

/// No ordinary request takes this long.
const ORDINARY: Duration = Duration::from_secs(60);

/// For the API reference, whose styles are inline.
const REFERENCE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

pub async fn common(request: Request, next: Next) -> Response {
    let reference = request.uri().path().starts_with("/docs");
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    );
    let policy = if reference { REFERENCE_POLICY } else { "default-src 'none'; frame-ancestors 'none'" };
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(policy));
    response
}

pub async fn time_limit(request: Request, next: Next) -> Response {
    match tokio::time::timeout(ORDINARY, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", "the request took too long").into_response()
        }
    }
}
