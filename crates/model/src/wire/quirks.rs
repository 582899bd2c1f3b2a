//! What an endpoint turned out not to accept. Learnt from its refusals, remembered by the client.

use crate::model::ModelRequest;
use crate::settings::{Dialect, ModelSettings};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// `response_format` with a JSON schema is understood.
    pub(crate) schema: bool,
    /// `stream_options.include_usage` is understood.
    pub(crate) stream_options: bool,
    /// The limit is called `max_completion_tokens`.
    pub(crate) completion_tokens: bool,
    /// The other name for the limit was tried already.
    limit_settled: bool,
    pub(crate) temperature: bool,
    /// System messages may stand in the middle, and roles may repeat.
    pub(crate) free_roles: bool,
}

impl Quirks {
    pub(crate) fn expected(settings: &ModelSettings) -> Self {
        let openai_itself = settings.base_url.host_str() == Some("api.openai.com");
        Self {
            // Anthropic's constraint needs closed schemas, and tool arguments are open: not sent there.
            schema: settings.dialect == Dialect::OpenAi,
            stream_options: true,
            completion_tokens: openai_itself,
            limit_settled: false,
            temperature: true,
            free_roles: true,
        }
    }

    /// What to change after a refusal, or `None` when nothing that was sent explains it.
    pub(crate) fn after(
        self,
        status: u16,
        complaint: &str,
        request: &ModelRequest,
        settings: &ModelSettings,
    ) -> Option<Self> {
        let complaint = complaint.to_lowercase();
        let names = |words: &[&str]| words.iter().any(|w| complaint.contains(w));
        let roles =
            names(&["roles must alternate", "system message must be", "system role", "role 'system'"]);
        if self.free_roles && settings.dialect == Dialect::OpenAi && roles {
            return Some(Self { free_roles: false, ..self });
        }
        if !matches!(status, 400 | 404 | 415 | 422 | 501) {
            return None;
        }
        let limited = request.max_tokens.or(settings.max_tokens).is_some();
        if limited && !self.limit_settled && names(&["max_completion_tokens"]) {
            let completion_tokens = !self.completion_tokens;
            return Some(Self { completion_tokens, limit_settled: true, ..self });
        }
        let openai = settings.dialect == Dialect::OpenAi;
        if openai && self.stream_options && names(&["stream_options", "include_usage"]) {
            return Some(Self { stream_options: false, ..self });
        }
        let warm = request.temperature.or(settings.temperature).is_some();
        if warm && self.temperature && names(&["temperature"]) {
            return Some(Self { temperature: false, ..self });
        }
        let schema_sent = openai && self.schema && request.schema.is_some();
        let blames_schema = names(&["response_format", "json_schema", "schema", "structured", "grammar"]);
        // Many servers refuse it without saying what they refuse.
        if schema_sent && (blames_schema || matches!(status, 400 | 422)) {
            return Some(Self { schema: false, ..self });
        }
        None
    }
}
