//! What the tools of the MCP server are given. The comments are what the other agent reads.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
pub struct Ask {
    /// The whole question, in Chinese or English.
    pub question: String,
    /// The conversation whose files and earlier answers it is about; `upload` and `ask` give it. A new one without.
    pub conversation_id: Option<String>,
    /// Another of the configured models, by its name.
    pub model: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Upload {
    /// The file's name with its ending (csv, xlsx, json, parquet, pdf …). Not needed with `path`.
    pub filename: Option<String>,
    /// The content of a text file.
    pub text: Option<String>,
    /// The content of any file, in base64.
    pub base64: Option<String>,
    /// Only where BA-Agent was started on this machine: a file, or a folder whose tables are all taken.
    pub path: Option<String>,
    /// The conversation to add it to; a new one without.
    pub conversation_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Query {
    /// One SELECT statement (DuckDB's SQL over uploads); also SHOW TABLES and DESCRIBE.
    pub sql: String,
    pub conversation_id: String,
    /// A configured database; without it, the conversation's uploads.
    pub connection: Option<String>,
    /// At most so many rows (1–10000, 1000 without).
    pub max_rows: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
pub struct ListTables {
    pub conversation_id: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct DescribeTable {
    /// Its name, as `list_tables` gives it.
    pub table: String,
    pub conversation_id: String,
    /// A configured database; without it, the conversation's uploads.
    pub connection: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct RunPython {
    /// Runs confined, without network. `load("name")` gives a table as a DataFrame; the last expression and prints are
    /// shown; variables stay for the next call.
    pub code: String,
    pub conversation_id: String,
    /// Seconds (5–300, 60 without).
    pub timeout: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Report {
    pub conversation_id: String,
    /// pdf, docx, pptx, xlsx, ipynb, html or md.
    pub format: String,
    /// One answer (`run_id` of `ask`); without it the whole conversation.
    pub run_id: Option<String>,
    /// Only where BA-Agent was started on this machine: where to save it.
    pub path: Option<String>,
}
