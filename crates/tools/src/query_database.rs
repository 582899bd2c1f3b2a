//! `query_database` (SPEC T3, T7): one read-only statement on the conversation's own tables, or on a configured
//! database. Never writes, never shows an address or a password.

use std::fmt::Write;
use std::time::Duration;

use async_trait::async_trait;
use ba_agent::tool::{Body, Effects, StoredData, ToolContext, ToolOutput, TypedTool};
use ba_data::{Connections, EmbeddedQuery, QueryResult, Tables};
use ba_protocol::text::shorten;
use ba_protocol::{Artifact, ToolErrorType, ToolFailure, table};
use ba_store::Store;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::conversation_tables::{KnownTable, known_tables, storage};
use crate::mentions;

/// The conversation's own tables, unless a database took this name.
const PRIMARY: &str = "primary";
/// Always the conversation's own tables.
const UPLOADS: &str = "uploads";
const MAX_ROWS: u64 = 10_000;
const EMBEDDED_TIMEOUT: Duration = Duration::from_secs(60);

pub struct QueryDatabase {
    /// `None` when the sandbox is not available: then only configured databases answer.
    pub tables: Option<Tables>,
    pub connections: Connections,
    pub store: Store,
}

#[derive(Deserialize, JsonSchema)]
pub struct QueryDatabaseArgs {
    /// 一条只读 SQL（SELECT / WITH）。`SHOW TABLES`、`SHOW TABLES LIKE '%词%'` 与 `DESCRIBE 表名` 查看结构。
    pub query: String,
    /// 连接名；默认 primary。
    #[serde(default = "primary")]
    pub connection: String,
    /// 按名绑定的参数：查询中写 `:name`，这里给出 {"name": 值}。
    #[serde(default)]
    pub params: Map<String, Value>,
    /// 最多返回的行数，1–10000。
    #[serde(default = "default_rows")]
    pub max_rows: u64,
    /// 仅限上传数据：把完整结果保存为这个名字的表，供之后的查询与 run_python 使用。
    #[serde(default)]
    pub keep_as: Option<String>,
}

fn primary() -> String {
    PRIMARY.to_owned()
}

fn default_rows() -> u64 {
    1000
}

#[async_trait]
impl TypedTool for QueryDatabase {
    type Args = QueryDatabaseArgs;

    const NAME: &'static str = "query_database";

    fn description(&self) -> String {
        let mut text = "用一条只读 SQL 查询数据。上传的表可直接查询（DuckDB 语法），表名为清洗后的文件名、upload id 或带引号的文件名，\
                        例如 SELECT * FROM upload_001；中文名需加双引号。"
            .to_owned();
        let known = self.connections.list();
        if known.is_empty() {
            text.push_str("没有配置外部数据库，connection 用默认的 primary。");
        } else {
            text.push_str("可用连接：");
            for c in &known {
                let _ = write!(text, "{} ({:?}) {}；", c.name, c.dialect, shorten(&c.description, 120));
            }
            if self.connections.contains(PRIMARY) {
                text.push_str("uploads：上传的表。");
            } else {
                text.push_str("primary：上传的表。");
            }
        }
        text
    }

    fn effects(&self, args: &QueryDatabaseArgs) -> Effects {
        if args.keep_as.is_some() { Effects::Changes } else { Effects::None }
    }

    fn timeout(&self, _args: &QueryDatabaseArgs) -> Duration {
        Duration::from_secs(120)
    }

    async fn run(&self, ctx: &ToolContext, args: QueryDatabaseArgs) -> Result<ToolOutput, ToolFailure> {
        let max_rows = args.max_rows.clamp(1, MAX_ROWS);
        let embedded = !self.connections.contains(&args.connection)
            && (args.connection == PRIMARY || args.connection == UPLOADS);
        let mut output = if embedded {
            self.embedded(ctx, &args, max_rows).await?
        } else {
            self.external(&args, max_rows).await?
        };
        if max_rows != args.max_rows {
            output = output.with_note(format!("max_rows was set to {max_rows} (allowed: 1–{MAX_ROWS})"));
        }
        Ok(output)
    }
}

impl QueryDatabase {
    async fn external(&self, args: &QueryDatabaseArgs, max_rows: u64) -> Result<ToolOutput, ToolFailure> {
        if args.keep_as.is_some() {
            return Err(ToolFailure::validation("KEEP_NOT_ALLOWED", "keep_as works on uploaded tables only"));
        }
        if let Some(search) = schema_question(&args.query) {
            let view = self.connections.schema(&args.connection, search.as_deref()).await?;
            let summary = format!("{} of {} tables of `{}`", view.shown, view.total, args.connection);
            return Ok(ToolOutput::text(summary, view.text));
        }
        let rows = u32::try_from(max_rows).unwrap_or(u32::MAX);
        let result = self.connections.query(&args.connection, &args.query, &args.params, rows).await?;
        Ok(output_of(result, max_rows))
    }

    async fn embedded(
        &self,
        ctx: &ToolContext,
        args: &QueryDatabaseArgs,
        max_rows: u64,
    ) -> Result<ToolOutput, ToolFailure> {
        let known = known_tables(&self.store, &ctx.conversation_id).await?;
        if let Some(search) = schema_question(&args.query) {
            return Ok(describe(&known, search.as_deref()));
        }
        let tables = self.tables.as_ref().ok_or_else(|| {
            ToolFailure::new(
                ToolErrorType::PermissionError,
                "SANDBOX_UNAVAILABLE",
                "uploaded tables cannot be queried on this server: the sandbox is not available",
            )
        })?;
        let folder = self.store.work_dir(&ctx.conversation_id).await.map_err(storage)?;
        let keep = args.keep_as.as_deref().map(kept_name).transpose()?;
        let data_notes = mentions::in_sql(&args.query, &known);
        let request = EmbeddedQuery {
            owner: ctx.owner.to_string(),
            tables: known.into_iter().map(|t| t.source).collect(),
            sql: args.query.clone(),
            params: args.params.clone(),
            max_rows: u32::try_from(max_rows).unwrap_or(u32::MAX),
            keep: keep.as_ref().map(|name| folder.join(name)),
            timeout: EMBEDDED_TIMEOUT.min(ctx.timeout),
        };
        let mut output = output_of(tables.query(request).await?, max_rows);
        output.data_notes = data_notes;
        if let Some(name) = keep {
            let artifact: Artifact = self
                .store
                .put_artifact(&ctx.conversation_id, &name, &folder.join(&name))
                .await
                .map_err(storage)?;
            let table = name.trim_end_matches(".parquet");
            output = output.with_note(format!(
                "kept as table \"{table}\"; in run_python: pandas.read_parquet(\"{name}\")"
            ));
            output.artifacts.push(artifact);
        }
        Ok(output)
    }
}

/// A kept table is a file of the conversation: its name is a plain word.
fn kept_name(given: &str) -> Result<String, ToolFailure> {
    let name = given.trim().trim_end_matches(".parquet");
    let plain = !name.is_empty()
        && name.chars().count() <= 60
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with("upload_");
    if plain {
        Ok(format!("{name}.parquet"))
    } else {
        Err(ToolFailure::validation(
            "BAD_NAME",
            "keep_as must be 1 to 60 letters, digits or _, and not start with upload_",
        ))
    }
}

/// `Some(None)` for SHOW TABLES, `Some(Some(word))` for one table or a pattern; `None` for a real query.
fn schema_question(sql: &str) -> Option<Option<String>> {
    let text = sql.trim().trim_end_matches(';').trim();
    let words: Vec<&str> = text.split_whitespace().collect();
    let clean = |w: &str| w.trim_matches(['\'', '"', '`', '%']).to_owned();
    let is = |i: usize, word: &str| words.get(i).is_some_and(|w| w.eq_ignore_ascii_case(word));
    if is(0, "show") && is(1, "tables") {
        return match words.len() {
            2 => Some(None),
            4 if is(2, "like") => Some(Some(clean(words[3]))),
            _ => None,
        };
    }
    if (is(0, "describe") || is(0, "desc")) && words.len() == 2 {
        return Some(Some(clean(words[1])));
    }
    None
}

fn describe(known: &[KnownTable], search: Option<&str>) -> ToolOutput {
    let wanted = search.map(str::to_lowercase);
    let fits = |t: &&KnownTable| {
        wanted.as_ref().is_none_or(|w| t.source.names.iter().any(|n| n.to_lowercase().contains(w)))
    };
    let found: Vec<&KnownTable> = known.iter().filter(fits).collect();
    let mut text = String::new();
    for t in &found {
        let names: Vec<String> = t.source.names.iter().map(|n| format!("\"{n}\"")).collect();
        let _ = write!(text, "{}", names.join(" = "));
        match &t.profile {
            None => {
                let _ = writeln!(text, " ({})", t.about);
            }
            Some(profile) => {
                let _ = writeln!(text, " ({} rows, from {})", profile.rows, t.filename);
                for c in profile.columns.iter().take(200) {
                    let _ = write!(text, "  \"{}\" {}", c.name, c.kind);
                    if let Some(unit) = &c.unit {
                        let _ = write!(text, " [{unit}]");
                    }
                    if !c.examples.is_empty() {
                        let examples: Vec<String> = c.examples.iter().map(|e| shorten(e, 24)).collect();
                        let _ = write!(text, " e.g. {}", examples.join(", "));
                    }
                    text.push('\n');
                }
            }
        }
    }
    if found.is_empty() {
        text = "no table; upload a csv, xlsx, json or parquet file first".to_owned();
    }
    ToolOutput::text(format!("{} of {} tables", found.len(), known.len()), text.trim_end())
}

fn output_of(result: QueryResult, max_rows: u64) -> ToolOutput {
    let QueryResult { columns, rows, truncated, row_count, elapsed } = result;
    let shown = rows.len();
    let mut summary = match (shown, columns.len()) {
        (1, 1) => format!("1 value: {} = {}", columns[0].name, shorten(&plain(&rows[0][0]), 120)),
        (n, m) => format!("{n} rows × {m} columns"),
    };
    let mut notes = Vec::new();
    if truncated {
        let more = if row_count > shown as u64 { format!(" of {row_count}") } else { String::new() };
        let _ = write!(summary, " (cut at {shown}{more})");
        notes.push(format!(
            "more rows exist than the {shown} returned (max_rows {max_rows}); aggregate, filter, or raise max_rows"
        ));
    }
    let csv = table::encode(&columns, &rows);
    let total_rows = truncated.then_some(row_count).filter(|n| *n > shown as u64);
    let mut output = ToolOutput::new(summary, Body::Table { columns, rows, total_rows });
    output.notes = notes;
    output.data = Some(StoredData { bytes: csv.into_bytes(), extension: "csv" });
    output.metrics.insert("rows".to_owned(), f64::from(u32::try_from(shown).unwrap_or(u32::MAX)));
    output.metrics.insert("engine_ms".to_owned(), elapsed.as_secs_f64() * 1000.0);
    output
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_questions_are_told_from_queries() {
        assert_eq!(schema_question("SHOW TABLES;"), Some(None));
        assert_eq!(schema_question("show tables like '%订单%'"), Some(Some("订单".into())));
        assert_eq!(schema_question("DESCRIBE \"sales.orders\""), Some(Some("sales.orders".into())));
        assert_eq!(schema_question("SELECT 1"), None);
        assert_eq!(schema_question("DESCRIBE SELECT 1"), None);
    }

    #[test]
    fn kept_names_are_plain_words() {
        assert_eq!(kept_name("月度汇总").unwrap(), "月度汇总.parquet");
        for bad in ["", "../x", "a b", "upload_001", "a/b", "x'y"] {
            assert!(kept_name(bad).is_err(), "{bad}");
        }
    }
}
