//! A tool called by a program instead of a model: the same checks, limits, cache and observation as in a run, without one.

use ba_protocol::{ConversationId, Language, RunId, ToolCall, ToolResult, UserId};

use crate::drive::{BRIEFING_TOKENS, fingerprint};
use crate::error::AgentError;
use crate::pipeline::{CallRequest, Told, neutralise};
use crate::run::{Decision, PlannedCall};
use crate::service::Agent;
use crate::tool::{BriefingRequest, Progress, ToolContext};

impl Agent {
    /// Waits for the conversation's turn, so that it never meddles with a run that is going on (SPEC E12). Whether the
    /// conversation is the owner's is for the caller to know.
    pub async fn call_tool(
        &self,
        owner: &UserId,
        conversation: &ConversationId,
        call: ToolCall,
        progress: Progress,
    ) -> Result<ToolResult, AgentError> {
        let parts = &self.inner.parts;
        let _turn = parts.store.take_quiet(conversation).await?;
        let files = parts.store.files(conversation).await?;
        let files = fingerprint(&files);
        let context =
            ToolContext::new(owner.clone(), conversation.clone(), RunId::random(), &call.tool_call_id);
        let request = CallRequest {
            planned: &PlannedCall { call, decision: Decision::Run },
            registry: &parts.registry,
            context: ToolContext { progress, ..context },
            global_level: parts.default_level,
            window_share: 0.0,
            files: &files,
            counter: &parts.counter,
            told: &Told::default(),
        };
        let executed = parts.executor.execute(request).await?;
        parts.metrics.tool_finished(conversation, &executed.telemetry);
        Ok(executed.result)
    }

    /// What is known of a conversation's data before anything is asked (SPEC W1), for a program that asks itself.
    pub async fn briefing(&self, conversation: &ConversationId) -> Result<Option<String>, AgentError> {
        let parts = &self.inner.parts;
        let files = parts.store.files(conversation).await?;
        let Some(briefing) = parts.registry.briefing() else { return Ok(None) };
        let wanted = BriefingRequest {
            conversation,
            files: &files,
            question: "",
            tokens: BRIEFING_TOKENS,
            counter: &parts.counter,
            language: Language::En,
        };
        Ok(briefing.brief(wanted).await.map(|text| neutralise(&text).into_owned()))
    }
}
