//! Tools with typed arguments: the schema is derived from the type, and its doc comments are what the model reads.

use std::time::Duration;

use async_trait::async_trait;
use ba_protocol::{OutputLevel, ToolFailure};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{CallPlan, Effects, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// Implement this; wrap it in [`Typed`] to register it.
///
/// `response_format` is added to the schema and taken out of the arguments by the pipeline: do not declare it.
#[async_trait]
pub trait TypedTool: Send + Sync + 'static {
    type Args: DeserializeOwned + JsonSchema + Send;

    const NAME: &'static str;
    const VERSION: &'static str = "1.0.0";

    fn description(&self) -> String;

    /// False where it is known that it cannot work: it is not offered then.
    fn available(&self) -> bool {
        true
    }

    fn effects(&self, args: &Self::Args) -> Effects;

    fn timeout(&self, _args: &Self::Args) -> Duration {
        Duration::from_secs(60)
    }

    fn retry_network(&self) -> bool {
        false
    }

    fn default_level(&self) -> Option<OutputLevel> {
        None
    }

    async fn run(&self, ctx: &ToolContext, args: Self::Args) -> Result<ToolOutput, ToolError>;
}

/// Makes a [`Tool`] of a [`TypedTool`].
pub struct Typed<T: TypedTool> {
    tool: T,
    spec: ToolSpec,
}

impl<T: TypedTool> Typed<T> {
    pub fn new(tool: T) -> Self {
        let spec = ToolSpec {
            name: T::NAME.to_owned(),
            version: T::VERSION.to_owned(),
            description: tool.description(),
            schema: argument_schema::<T::Args>(),
            default_level: tool.default_level(),
        };
        Self { tool, spec }
    }

    fn parse(arguments: Map<String, Value>) -> Result<T::Args, ToolFailure> {
        serde_json::from_value(Value::Object(arguments)).map_err(|e| {
            ToolFailure::validation("INVALID_ARGUMENTS", format!("arguments of `{}`: {e}", T::NAME))
                .with_hint(format!("expected {}", summary_of(&argument_schema::<T::Args>())))
        })
    }
}

#[async_trait]
impl<T: TypedTool> Tool for Typed<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn available(&self) -> bool {
        self.tool.available()
    }

    fn plan(&self, arguments: &Map<String, Value>) -> CallPlan {
        let retry_network = self.tool.retry_network();
        match Self::parse(arguments.clone()) {
            Ok(args) => CallPlan {
                effects: self.tool.effects(&args),
                timeout: self.tool.timeout(&args),
                retry_network,
            },
            // The call itself will say what is wrong.
            Err(_) => CallPlan { effects: Effects::Changes, timeout: Duration::from_secs(5), retry_network },
        }
    }

    async fn call(&self, ctx: &ToolContext, arguments: Map<String, Value>) -> Result<ToolOutput, ToolError> {
        self.tool.run(ctx, Self::parse(arguments)?).await
    }
}

fn argument_schema<A: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
        let properties = object.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            properties.insert(
                "response_format".to_owned(),
                json!({"type": "string", "enum": ["brief", "standard", "full"], "default": "standard",
                       "description": "结果详细程度：brief 关键事实 / standard 可操作信息 / full 完整数据"}),
            );
        }
    }
    schema
}

/// `query (string, required), max_rows (integer)` for error hints.
fn summary_of(schema: &Value) -> String {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object();
    let parts: Vec<String> = properties
        .into_iter()
        .flatten()
        .map(|(name, p)| {
            let kind = match &p["type"] {
                Value::String(kind) => kind.clone(),
                Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
                _ => "any".to_owned(),
            };
            if required.contains(&name.as_str()) {
                format!("{name} ({kind}, required)")
            } else {
                format!("{name} ({kind})")
            }
        })
        .collect();
    parts.join(", ")
}
