//! Serves the page from the binary, with the policies that keep model-made HTML in its frame (SPEC U9).
//!
//! The files are served byte for byte; `web/SERVING.md` says why each header is there.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use rust_embed::{Embed, EmbeddedFile};

#[derive(Embed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Dist;

const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";
const FRAME_POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";
const PAGE_PERMISSIONS: &str = "camera=(), microphone=(), geolocation=(), payment=(), usb=()";
const FRAME_PERMISSIONS: &str = "camera=(), microphone=(), geolocation=(), payment=(), usb=(), fullscreen=(), clipboard-read=(), clipboard-write=()";

const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>BA-Agent</title><h1>BA-Agent</h1>\
<p>The server runs, but its page was not built. Build it, then build the binary again:</p><pre>cd web && npm ci && npm run build</pre>\
<p>The API is at <code>/api/v1</code>, its reference at <a href=\"/docs/\">/docs/</a>.</p>";

/// `GET /`
pub async fn index(headers: HeaderMap) -> Response {
    let mut response = match Dist::get("index.html") {
        Some(file) => send("index.html", &file, &headers),
        None => Html(NOT_BUILT).into_response(),
    };
    put(
        &mut response,
        &[
            ("content-security-policy", PAGE_POLICY),
            ("cross-origin-opener-policy", "same-origin"),
            ("permissions-policy", PAGE_PERMISSIONS),
            ("x-frame-options", "DENY"),
        ],
    );
    response
}

/// `GET /frame`: where model-made HTML runs.
pub async fn frame(headers: HeaderMap) -> Response {
    let Some(file) = Dist::get("frame.html") else { return StatusCode::NOT_FOUND.into_response() };
    let mut response = send("frame.html", &file, &headers);
    put(
        &mut response,
        &[
            ("content-security-policy", FRAME_POLICY),
            ("permissions-policy", FRAME_PERMISSIONS),
            ("x-dns-prefetch-control", "off"),
        ],
    );
    response
}

/// `GET /assets/*` and the few files beside the page.
pub async fn asset(uri: Uri, headers: HeaderMap) -> Response {
    let name = uri.path().trim_start_matches('/');
    match Dist::get(name) {
        Some(file) => send(name, &file, &headers),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn send(name: &str, file: &EmbeddedFile, request: &HeaderMap) -> Response {
    let etag = format!("\"{}\"", &hex::encode(file.metadata.sha256_hash())[..32]);
    // Names under assets/ carry a hash of their content.
    let lasting = name.starts_with("assets/");
    let unchanged =
        request.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes());
    let mut response =
        if unchanged { StatusCode::NOT_MODIFIED.into_response() } else { file.data.clone().into_response() };
    let headers = response.headers_mut();
    if let Ok(kind) = HeaderValue::from_str(content_type(name, file)) {
        headers.insert(header::CONTENT_TYPE, kind);
    }
    let cache = if lasting { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(header::ETAG, etag);
    }
    response
}

fn content_type<'a>(name: &str, file: &'a EmbeddedFile) -> &'a str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        _ => file.metadata.mimetype(),
    }
}

fn put(response: &mut Response, pairs: &[(&'static str, &'static str)]) {
    for (name, value) in pairs {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}
