//! Model providers by name, so that one line is enough: `BA_MODEL=deepseek:deepseek-chat`.

pub use ba_protocol::Dialect;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    pub dialect: Dialect,
    /// Empty: `BA_BASE_URL` is required.
    pub base_url: &'static str,
    /// The provider's own usual variable for its key.
    pub key_variable: &'static str,
    pub key_required: bool,
}

pub const PRESETS: [Preset; 8] = [
    preset("openai", Dialect::OpenAi, "https://api.openai.com/v1", "OPENAI_API_KEY", true),
    preset("anthropic", Dialect::Anthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY", true),
    preset("deepseek", Dialect::OpenAi, "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", true),
    preset(
        "qwen",
        Dialect::OpenAi,
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        true,
    ),
    preset("glm", Dialect::OpenAi, "https://open.bigmodel.cn/api/paas/v4", "ZHIPUAI_API_KEY", true),
    preset("kimi", Dialect::OpenAi, "https://api.moonshot.cn/v1", "MOONSHOT_API_KEY", true),
    preset("ollama", Dialect::OpenAi, "http://127.0.0.1:11434/v1", "OLLAMA_API_KEY", false),
    preset("openai-compatible", Dialect::OpenAi, "", "OPENAI_API_KEY", false),
];

const fn preset(
    name: &'static str,
    dialect: Dialect,
    base_url: &'static str,
    key_variable: &'static str,
    key_required: bool,
) -> Preset {
    Preset { name, dialect, base_url, key_variable, key_required }
}
