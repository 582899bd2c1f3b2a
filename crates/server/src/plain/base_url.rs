//! Where this server is for a client: the beginning of absolute links in its answers.

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use ba_protocol::ConversationId;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::auth::address::origin_of;
use crate::state::AppState;

/// `http://127.0.0.1:8000`; empty where the client named no host, and links begin with a slash then.
#[derive(Debug, Clone, Default)]
pub struct BaseUrl(String);

impl BaseUrl {
    pub fn download(&self, conversation: &ConversationId, filename: &str) -> String {
        let name = utf8_percent_encode(filename, NON_ALPHANUMERIC);
        format!("{}/api/v1/files/download/{name}?conversation_id={conversation}", self.0)
    }
}

impl FromRequestParts<AppState> for BaseUrl {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Self::Rejection> {
        let tls = origin_of(&parts.extensions, &parts.headers, &state.config.trusted_proxies).tls;
        let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let plain = |host: &&str| host.chars().all(|c| c.is_ascii_alphanumeric() || ".-:[]".contains(c));
        let scheme = if tls { "https" } else { "http" };
        Ok(Self(host.filter(plain).map(|host| format!("{scheme}://{host}")).unwrap_or_default()))
    }
}
