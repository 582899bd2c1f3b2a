//! Serves the page from the binary, with the policies that keep model-made HTML in its frame (SPEC U9).
//!
//! The files are served byte for byte; `web/SERVING.md` says why each header is there.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use rust_embed::{Embed, EmbeddedFile};
use sha2::{Digest, Sha256};

#[derive(Embed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Dist;

/// Where `{scripts}` and `{styles}` stand, the hashes of what `index.html` holds inline: its outline and theme need no second request.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'{scripts}; style-src 'self'{styles}; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";
/// The one inline script is the frame's own, by its hash; `blob:` is for what that script loads (the chart library, the worker of a report's
/// scripts). Inline scripts, frames in frames and every address stay forbidden by the browser, whatever model-made HTML holds (SPEC H4).
const FRAME_POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src blob:{scripts}; worker-src blob:; style-src 'unsafe-inline'; img-src data:; font-src data:; connect-src 'none'; frame-src 'none'; child-src 'none'; object-src 'none'; media-src 'none'; manifest-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";
const PAGE_PERMISSIONS: &str = "camera=(), microphone=(), geolocation=(), payment=(), usb=()";
const FRAME_PERMISSIONS: &str = "camera=(), microphone=(), geolocation=(), payment=(), usb=(), fullscreen=(), clipboard-read=(), clipboard-write=()";

const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>BA-Agent</title><h1>BA-Agent</h1>\
<p>The server runs, but its page was not built. Build it, then build the binary again:</p><pre>cd web && npm ci && npm run build</pre>\
<p>The API is at <code>/api/v1</code>, its reference at <a href=\"/docs/\">/docs/</a>.</p>";

/// ECharts as the page ships it, for charts that are drawn without a browser.
pub fn chart_library() -> Option<std::borrow::Cow<'static, [u8]>> {
    let ours = |name: &str| name.starts_with("assets/echarts.min-") && name.ends_with(".js");
    let name = Dist::iter().find(|name| ours(name))?;
    Dist::get(&name).map(|file| file.data)
}

/// `GET /`
pub async fn index(headers: HeaderMap) -> Response {
    let page = Dist::get("index.html");
    let mut response = match &page {
        Some(file) => send("index.html", file, &headers),
        None => Html(NOT_BUILT).into_response(),
    };
    let html = page.as_ref().map_or(&[][..], |file| &file.data);
    if let Ok(policy) = HeaderValue::from_str(&page_policy(&String::from_utf8_lossy(html))) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    put(
        &mut response,
        &[
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
    let scripts = inline_hashes(&String::from_utf8_lossy(&file.data), "script");
    if let Ok(policy) = HeaderValue::from_str(&FRAME_POLICY.replace("{scripts}", &scripts)) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    put(&mut response, &[("permissions-policy", FRAME_PERMISSIONS), ("x-dns-prefetch-control", "off")]);
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

fn page_policy(html: &str) -> String {
    PAGE_POLICY
        .replace("{scripts}", &inline_hashes(html, "script"))
        .replace("{styles}", &inline_hashes(html, "style"))
}

/// `'sha256-…'` for each element of this name without attributes.
pub(crate) fn inline_hashes(html: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let bodies = html.split(&open).skip(1).filter_map(|rest| rest.split_once(&close));
    let hash = |body: &str| base64::engine::general_purpose::STANDARD.encode(Sha256::digest(body));
    bodies.map(|(body, _)| format!(" 'sha256-{}'", hash(body))).collect()
}

/// The copy the page's build made for what the browser reads, smallest first.
fn compressed(name: &str, request: &HeaderMap) -> Option<(&'static str, EmbeddedFile)> {
    let accepted = request.get(header::ACCEPT_ENCODING)?.to_str().ok()?;
    let reads = |wanted: &str| {
        accepted.split(',').any(|one| {
            let (coding, weight) = one.split_once(';').unwrap_or((one, ""));
            coding.trim().eq_ignore_ascii_case(wanted) && weight.trim() != "q=0"
        })
    };
    [("br", "br"), ("gzip", "gz")]
        .into_iter()
        .filter(|(coding, _)| reads(coding))
        .find_map(|(coding, ending)| Dist::get(&format!("{name}.{ending}")).map(|file| (coding, file)))
}

fn send(name: &str, plain: &EmbeddedFile, request: &HeaderMap) -> Response {
    let packed = compressed(name, request);
    let file = packed.as_ref().map_or(plain, |(_, file)| file);
    let etag = format!("\"{}\"", &hex::encode(file.metadata.sha256_hash())[..32]);
    // Names under assets/ carry a hash of their content.
    let lasting = name.starts_with("assets/");
    let unchanged =
        request.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes());
    let mut response =
        if unchanged { StatusCode::NOT_MODIFIED.into_response() } else { file.data.clone().into_response() };
    let headers = response.headers_mut();
    if let Ok(kind) = HeaderValue::from_str(content_type(name, plain)) {
        headers.insert(header::CONTENT_TYPE, kind);
    }
    let cache = if lasting { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some((coding, _)) = &packed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_page_holds_inline_is_allowed_inline() {
        let html = "<script>a()</script><script type=\"module\" src=\"/x.js\"></script><style>b{}</style><style>c{}</style>";
        let policy = page_policy(html);
        // printf 'a()' | openssl dgst -sha256 -binary | base64
        assert!(policy.contains("script-src 'self' 'sha256-qVpDBgj7bpq5hMAcGp3AOc79J3Y1Z4HvySTwKrWDoy4='; style-src 'self' 'sha256-"), "{policy}");
        assert_eq!(policy.matches("'sha256-").count(), 3, "{policy}");
        assert!(page_policy("").contains("script-src 'self'; style-src 'self';"));
    }

    #[test]
    fn a_browser_gets_a_copy_only_if_it_reads_it() {
        let asked = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            compressed("index.html", &headers).map(|(coding, _)| coding)
        };
        assert_eq!(asked("identity"), None);
        assert_eq!(asked("br;q=0, zstd"), None);
        // Without a built page there are no copies either.
        let built = Dist::get("index.html.br").is_some();
        assert_eq!(asked("gzip, deflate, br"), built.then_some("br"));
        assert_eq!(asked("gzip;q=0.8, br;q=0"), built.then_some("gzip"));
    }
}
