//! The HTTP clients, and what their errors mean. Neither follows redirects nor uses a proxy of the environment.

use std::error::Error as _;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Certificate, Client, redirect};

use super::resolve::Checked;
use super::{FetchError, WebConfig};

pub(super) fn client(config: &WebConfig, resolver: Checked) -> Result<Client, FetchError> {
    let problem = |e: reqwest::Error| FetchError::Garbled { detail: format!("the client: {}", chain(&e)) };
    let bundled = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().map(|root| root.as_ref());
    let own = config.extra_roots.iter().map(Vec::as_slice);
    let roots: Result<Vec<Certificate>, _> = bundled.chain(own).map(Certificate::from_der).collect();
    Client::builder()
        // Bundled roots beside the system's: without any CA file the client could not even be built.
        .tls_certs_merge(roots.map_err(problem)?)
        // A proxy would connect to addresses that nobody checked.
        .no_proxy()
        // Each hop is checked by hand.
        .redirect(redirect::Policy::none())
        .dns_resolver(resolver)
        .connect_timeout(config.connect_timeout)
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(4)
        .user_agent(&config.user_agent)
        .referer(false)
        // Bodies are unpacked in `body`, with a limit on the window as well.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .http2_max_header_list_size(64 * 1024)
        .build()
        .map_err(problem)
}

/// What a request that got no answer means.
pub(super) fn unsent(error: reqwest::Error, host: &str, config: &WebConfig) -> FetchError {
    let host = host.to_owned();
    let mut cause: Option<&(dyn std::error::Error + 'static)> = error.source();
    while let Some(inner) = cause {
        if let Some(refused) = inner.downcast_ref::<FetchError>() {
            return refused.clone();
        }
        if let Some(tls) = tls_problem(inner) {
            return FetchError::Tls { host, detail: in_words(tls) };
        }
        cause = inner.source();
    }
    if error.is_timeout() {
        return FetchError::Timeout { phase: "connection", seconds: config.connect_timeout.as_secs() };
    }
    FetchError::Unreachable { host, detail: chain(&error.without_url()) }
}

/// Input errors hide what they wrap from `source`.
fn tls_problem<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    let mut error = error;
    while let Some(inner) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        error = inner;
    }
    error.downcast_ref()
}

/// The library's own message quotes the certificate.
fn in_words(error: &rustls::Error) -> &'static str {
    use rustls::CertificateError as C;
    match error {
        rustls::Error::InvalidCertificate(C::Expired | C::ExpiredContext { .. }) => "it has expired",
        rustls::Error::InvalidCertificate(C::NotValidYet | C::NotValidYetContext { .. }) => {
            "it is not valid yet"
        }
        rustls::Error::InvalidCertificate(C::UnknownIssuer) => "nobody we trust has issued it",
        rustls::Error::InvalidCertificate(C::NotValidForName | C::NotValidForNameContext { .. }) => {
            "it is for another name"
        }
        rustls::Error::InvalidCertificate(C::Revoked) => "it was revoked",
        rustls::Error::InvalidCertificate(_) => "it is not well formed, or not for this use",
        _ => "no secure connection could be agreed on",
    }
}

/// An error with its causes: reqwest's own words alone say little.
fn chain(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !words.contains(&more) {
            words.push_str(": ");
            words.push_str(&more);
        }
        cause = inner.source();
    }
    words
}

/// Seconds or a date; at most a day is believed.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match value.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => httpdate::parse_http_date(value).ok()?.duration_since(std::time::SystemTime::now()).ok()?,
    };
    Some(wait.min(Duration::from_secs(86_400)))
}
