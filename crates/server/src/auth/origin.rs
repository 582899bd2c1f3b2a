//! Refuses what a browser would send on behalf of another site: foreign `Host` names (DNS rebinding) and
//! foreign `Origin`s on requests that change something (cross-site request forgery).

use std::net::IpAddr;

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};

use crate::config::{Access, ServerConfig};
use crate::error::{ApiError, Result};

/// The name the client used for us, with its port.
pub fn authority<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    uri.authority()
        .map(|authority| authority.as_str())
        .or_else(|| headers.get(header::HOST).and_then(|host| host.to_str().ok()))
}

pub fn check_host(config: &ServerConfig, headers: &HeaderMap, uri: &Uri) -> Result<()> {
    let any = config.access == Access::SignIn && config.allowed_hosts.is_empty();
    let host = authority(headers, uri).map(name_of);
    match host {
        Some(host) if any || is_loopback(host) || is_listed(config, host) => Ok(()),
        _ => Err(ApiError::new(
            StatusCode::MISDIRECTED_REQUEST,
            "wrong_host",
            "this server does not answer to that host name; add it to `allowed_hosts` if it should",
        )),
    }
}

fn is_listed(config: &ServerConfig, host: &str) -> bool {
    config.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Without the port: `localhost:8000` → `localhost`, `[::1]:8000` → `[::1]`.
fn name_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|b| b.is_ascii_digit()) && (!name.contains(':') || name.ends_with(']')) =>
        {
            name
        }
        _ => authority,
    }
}

/// Requests that change something must come from our own page, or not from a browser at all.
pub fn check_origin(method: &Method, headers: &HeaderMap, uri: &Uri) -> Result<()> {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    let refused = || ApiError::forbidden("cross_site", "requests from other sites are refused");
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin = origin.to_str().map_err(|_| refused())?;
        let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        let same = from.is_some_and(|from| {
            authority(headers, uri)
                .is_some_and(|host| without_default_port(host) == without_default_port(from))
        });
        return if same { Ok(()) } else { Err(refused()) };
    }
    match headers.get("sec-fetch-site").map(axum::http::HeaderValue::as_bytes) {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(refused()),
    }
}

fn without_default_port(authority: &str) -> String {
    let authority = authority.to_ascii_lowercase();
    let bare = authority.strip_suffix(":80").or_else(|| authority.strip_suffix(":443"));
    bare.unwrap_or(&authority).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(k, v)| (k.parse().unwrap(), v.parse().unwrap())).collect()
    }

    fn host(access: Access, allowed: &[&str], host: &str) -> bool {
        let config = ServerConfig {
            access,
            allowed_hosts: allowed.iter().map(|s| (*s).to_owned()).collect(),
            ..ServerConfig::default()
        };
        check_host(&config, &headers(&[("host", host)]), &Uri::from_static("/")).is_ok()
    }

    #[test]
    fn on_loopback_only_loopback_names_are_answered() {
        for good in ["localhost:8000", "LOCALHOST", "127.0.0.1:8000", "127.1.2.3", "[::1]:8000"] {
            assert!(host(Access::LocalOnly, &[], good), "{good}");
        }
        for bad in [
            "evil.example:8000",
            "localhost.evil.example",
            "10.0.0.1",
            "0.0.0.0:8000",
            "127.0.0.1.evil.example",
            "",
        ] {
            assert!(!host(Access::LocalOnly, &[], bad), "{bad}");
        }
        assert!(host(Access::LocalOnly, &["ba.lan"], "BA.lan:8000"));
        assert!(host(Access::SignIn, &[], "ba.example.org"));
        assert!(!host(Access::SignIn, &["ba.example.org"], "evil.example"));
        assert!(check_host(&ServerConfig::default(), &HeaderMap::new(), &Uri::from_static("/")).is_err());
    }

    #[test]
    fn only_our_own_page_may_change_things() {
        let post = |pairs: &[(&'static str, &str)]| {
            let mut all = vec![("host", "127.0.0.1:8000")];
            all.extend_from_slice(pairs);
            check_origin(&Method::POST, &headers(&all), &Uri::from_static("/")).is_ok()
        };
        assert!(post(&[]));
        assert!(post(&[("origin", "http://127.0.0.1:8000")]));
        assert!(post(&[("sec-fetch-site", "same-origin")]));
        assert!(!post(&[("origin", "null")]));
        assert!(!post(&[("origin", "http://evil.example")]));
        assert!(!post(&[("origin", "http://127.0.0.1:9000")]));
        assert!(!post(&[("origin", "file://127.0.0.1:8000")]));
        assert!(!post(&[("sec-fetch-site", "cross-site")]));
        assert!(!post(&[("sec-fetch-site", "same-site")]));
        let behind = headers(&[("host", "ba.example"), ("origin", "https://ba.example")]);
        assert!(check_origin(&Method::DELETE, &behind, &Uri::from_static("/")).is_ok());
    }
}
