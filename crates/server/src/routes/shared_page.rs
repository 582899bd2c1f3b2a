//! `GET /s/{token}`: the page behind a share link, for anybody who has the address (SPEC D4). It runs in an origin of its own, without
//! cookies and network. A wrong, an expired and a revoked address are answered alike.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use tokio_util::io::ReaderStream;

use crate::auth::secret::hash_of;
use crate::envelope::Path;
use crate::error::{ApiError, Result};
use crate::page::inline_hashes;
use crate::state::AppState;

const POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src{scripts}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const NOT_HERE: &str = "<!doctype html><html lang=\"zh-CN\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>BA-Agent</title>\
<style>body{max-width:36em;margin:12vh auto;padding:0 20px;font:15px/1.65 system-ui,sans-serif;color:#20242b}h1{margin:28px 0 4px;font-size:20px}p{margin:0;color:#667080}</style>\
<h1>这个链接无效或已失效</h1><p>请向分享者索取新的链接。</p><h1 lang=\"en\">This link does not work, or no longer</h1><p lang=\"en\">Ask the person who shared it for a new one.</p></html>";

/// What a page of ours may do: run its own scripts, named by hash, and nothing else.
pub(super) fn policy(html: &str) -> String {
    let scripts = inline_hashes(html, "script");
    POLICY.replace("{scripts}", if scripts.is_empty() { " 'none'" } else { &scripts })
}

pub async fn show(State(state): State<AppState>, Path(token): Path<String>) -> Response {
    match found(&state, &token).await {
        Ok(page) => page,
        Err(error) if error.status == StatusCode::NOT_FOUND => {
            with_headers((StatusCode::NOT_FOUND, Html(NOT_HERE)).into_response())
        }
        Err(error) => error.into_response(),
    }
}

async fn found(state: &AppState, token: &str) -> Result<Response> {
    if state.config.share_days.is_none() {
        return Err(ApiError::not_found("page"));
    }
    let page = state.deps.store.view_share(&hash_of(token)).await?;
    let file = tokio::fs::File::open(&page.path).await.map_err(ApiError::internal)?;
    let mut response = Body::from_stream(ReaderStream::with_capacity(file, 64 * 1024)).into_response();
    let policy = HeaderValue::from_str(&page.policy).map_err(ApiError::internal)?;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(page.size));
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    tracing::info!(share = %page.id, "a shared answer was read");
    Ok(with_headers(response))
}

/// Never kept on the way, never found by a search engine.
fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex, nofollow"));
    headers.insert(HeaderName::from_static("x-frame-options"), HeaderValue::from_static("DENY"));
    let opener = HeaderName::from_static("cross-origin-opener-policy");
    headers.insert(opener, HeaderValue::from_static("same-origin"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_scripts_of_the_page_run_and_never_in_the_product_s_origin() {
        let made = policy("<script type=\"application/json\">{}</script><script>a()</script>");
        assert!(made.starts_with("sandbox allow-scripts"), "{made}");
        assert!(!made.contains("allow-same-origin"), "{made}");
        assert!(made.contains("script-src 'sha256-qVpDBgj7bpq5hMAcGp3AOc79J3Y1Z4HvySTwKrWDoy4=';"), "{made}");
        assert!(policy("<p>plain</p>").contains("script-src 'none';"));
    }
}
