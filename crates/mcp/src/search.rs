//! `search_tools`: where the servers offer more than a prompt should hold, their tools are found by words instead of being
//! listed. What it tells is cut as everywhere; it calls nothing.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ba_agent::{CallPlan, Effects, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use ba_protocol::ToolFailure;
use serde_json::{Map, Value, json};

/// Bytes that the descriptions and schemas of all tools may take in the prompt: about 3,000 tokens.
pub const LISTED_BYTES: usize = 12_000;
/// Tools told in full in one answer, and named after them.
const TOLD: usize = 8;
const NAMED: usize = 40;

/// What a tool takes of a prompt.
pub fn size(spec: &ToolSpec) -> usize {
    spec.name.len() + spec.description.len() + spec.schema.to_string().len()
}

pub struct SearchTools {
    spec: ToolSpec,
    tools: Vec<ToolSpec>,
}

impl SearchTools {
    /// `servers` as the configuration describes them to itself: their names alone are trusted words.
    pub fn new(tools: &[Arc<dyn Tool>], servers: &[String]) -> Self {
        let description = format!(
            "查找其他程序的工具（共 {} 个，来自 {}）。它们没有列在这里：先用关键词查到名称与参数，再直接以该名称调用。\
             Finds tools of other programs by words; call what is found by its full name.",
            tools.len(),
            servers.join("、")
        );
        let spec = ToolSpec {
            name: "search_tools".to_owned(),
            version: "1.0.0".to_owned(),
            description,
            schema: json!({"type": "object", "required": ["query"], "properties": {
                "query": {"type": "string", "description": "关键词，按名称与说明查找（words in name or description）；空串列出全部名称"}}}),
            default_level: None,
        };
        Self { spec, tools: tools.iter().map(|tool| tool.spec().clone()).collect() }
    }

    /// Those that have any of the words, the most and in the name first.
    fn find(&self, query: &str) -> Vec<&ToolSpec> {
        let query = query.to_lowercase();
        let words: Vec<&str> =
            query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let score = |spec: &ToolSpec| {
            let (name, said) = (spec.name.to_lowercase(), spec.description.to_lowercase());
            let schema = spec.schema.to_string().to_lowercase();
            let of = |word: &&str| {
                usize::from(name.contains(word)) * 4
                    + usize::from(said.contains(word)) * 2
                    + usize::from(schema.contains(word))
            };
            words.iter().map(of).sum::<usize>()
        };
        let mut found: Vec<(usize, &ToolSpec)> = self
            .tools
            .iter()
            .map(|spec| (score(spec), spec))
            .filter(|(s, _)| words.is_empty() || *s > 0)
            .collect();
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
        found.into_iter().map(|(_, spec)| spec).collect()
    }
}

#[async_trait]
impl Tool for SearchTools {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn plan(&self, _: &Map<String, Value>) -> CallPlan {
        CallPlan { effects: Effects::None, timeout: Duration::from_secs(5), retry_network: false }
    }

    async fn call(&self, _: &ToolContext, arguments: Map<String, Value>) -> Result<ToolOutput, ToolError> {
        let Some(query) = arguments.get("query").and_then(Value::as_str) else {
            return Err(ToolFailure::validation("BAD_ARGUMENTS", "query must be a text").into());
        };
        let found = self.find(query);
        let told = if query.trim().is_empty() { 0 } else { TOLD };
        let mut text = String::new();
        for spec in found.iter().take(told) {
            let _ = writeln!(text, "{}\n  {}\n  arguments: {}", spec.name, spec.description, spec.schema);
        }
        let rest: Vec<&str> = found.iter().skip(told).take(NAMED).map(|spec| spec.name.as_str()).collect();
        if !rest.is_empty() {
            let _ = writeln!(text, "{} {}", if told > 0 { "Also:" } else { "Tools:" }, rest.join(", "));
        }
        let left = found.len().saturating_sub(told + rest.len());
        if left > 0 {
            let _ = writeln!(text, "… and {left} more; use other words");
        }
        if found.is_empty() {
            text = format!(
                "none of the {} tools has these words; try others, or \"\" for all names",
                self.tools.len()
            );
        }
        Ok(ToolOutput::text(format!("{} of {} tools", found.len(), self.tools.len()), text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ba_protocol::{ConversationId, RunId, UserId};

    struct Stub(ToolSpec);

    #[async_trait]
    impl Tool for Stub {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }

        fn plan(&self, _: &Map<String, Value>) -> CallPlan {
            CallPlan { effects: Effects::None, timeout: Duration::from_secs(5), retry_network: false }
        }

        async fn call(&self, _: &ToolContext, _: Map<String, Value>) -> Result<ToolOutput, ToolError> {
            Ok(ToolOutput::text("", ""))
        }
    }

    fn tools() -> SearchTools {
        let stub = |name: &str, said: &str| {
            let spec = ToolSpec {
                name: name.into(),
                version: "1".into(),
                description: said.into(),
                schema: json!({"type": "object", "properties": {"客户": {"type": "string"}}}),
                default_level: None,
            };
            Arc::new(Stub(spec)) as Arc<dyn Tool>
        };
        let mut all: Vec<_> = (0..100).map(|i| stub(&format!("crm.list_{i}"), "Lists things.")).collect();
        all.push(stub("crm.invoice_totals", "Sums of invoices by month."));
        all.push(stub("crm.remind", "Reminds of an unpaid invoice. 催款"));
        SearchTools::new(&all, &["crm".to_owned()])
    }

    async fn asked(query: &str) -> String {
        let conversation = ConversationId::parse("conv_0123456789ab").unwrap();
        let context = ToolContext::new(UserId::local(), conversation, RunId::random(), "call_1");
        let Value::Object(arguments) = json!({"query": query}) else { panic!() };
        let output = tools().call(&context, arguments).await.unwrap();
        match output.body {
            ba_agent::Body::Text(text) => text,
            other => panic!("{other:?}"),
        }
    }

    // SPEC I2
    #[tokio::test]
    async fn tools_are_found_by_words_of_name_description_and_arguments() {
        let found = asked("invoice totals").await;
        assert!(
            found.starts_with("crm.invoice_totals\n  Sums of invoices by month.\n  arguments: {"),
            "{found}"
        );
        assert!(found.contains("crm.remind"));
        assert!(asked("催款").await.starts_with("crm.remind"));
        let many = asked("lists").await;
        assert!(many.contains("Also: ") && many.contains("and 52 more") && many.len() < 4_000, "{many}");
        assert!(asked("").await.starts_with("Tools: crm.invoice_totals"));
        assert!(asked("zebra").await.contains("none of the 102 tools"));
    }
}
