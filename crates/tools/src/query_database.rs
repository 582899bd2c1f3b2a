//! `query_database` (SPEC T3, T7): one read-only statement on the conversation's own tables, or on a configured
//! database. Never writes, never shows an address or a password.

mod show;

use ba_agent::ToolError;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use ba_agent::tool::{Effects, ToolContext, ToolOutput, TypedTool};
use ba_data::{Connections, EmbeddedQuery, KeepRequest, Tables};
use ba_protocol::text::shorten;
use ba_protocol::{Said, ToolErrorType, ToolFailure};
use ba_store::Store;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use show::{columns_of, describe, output_of};

use crate::conversation_tables::known_tables;
use crate::dossier::remember_kept;
use crate::mentions;

/// The conversation's own tables, unless a database took this name.
const PRIMARY: &str = "primary";
/// Always the conversation's own tables.
const UPLOADS: &str = "uploads";
const MAX_ROWS: u64 = 10_000;
const EMBEDDED_TIMEOUT: Duration = Duration::from_secs(60);
/// A million rows take their time to come over and to be written.
const KEEP_TIMEOUT: Duration = Duration::from_secs(300);

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
    /// 按名绑定的参数：查询中写 `:name`，这里给出 {"name": 值}；值为列表时写 `IN (:name)`。
    #[serde(default)]
    pub params: Map<String, Value>,
    /// 最多返回的行数，1–10000。
    #[serde(default = "default_rows")]
    pub max_rows: u64,
    /// 把完整结果保存为这个名字的表（任何连接；外部数据库最多 1,000,000 行、256 MB），之后可在 primary 中查询、与其他表关联，或在 run_python 中读取。
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
                let _ = write!(text, "{} ({:?}) {}", c.name, c.dialect, shorten(&c.description, 120));
                if let Some(zone) = &c.timezone {
                    let _ = write!(text, "，时区 {zone}");
                }
                text.push('；');
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
        match args.keep_as {
            Some(_) => Effects::Changes,
            None if self.is_embedded(&args.connection) => Effects::None,
            None => Effects::Live,
        }
    }

    fn timeout(&self, args: &QueryDatabaseArgs) -> Duration {
        if args.keep_as.is_some() { KEEP_TIMEOUT } else { Duration::from_secs(120) }
    }

    async fn run(&self, ctx: &ToolContext, args: QueryDatabaseArgs) -> Result<ToolOutput, ToolError> {
        let max_rows = args.max_rows.clamp(1, MAX_ROWS);
        let mut output = if self.is_embedded(&args.connection) {
            self.embedded(ctx, &args, max_rows).await?
        } else {
            self.external(ctx, &args, max_rows).await?
        };
        if max_rows != args.max_rows {
            output = output.with_note(format!("max_rows was set to {max_rows} (allowed: 1–{MAX_ROWS})"));
        }
        Ok(output)
    }
}

impl QueryDatabase {
    fn is_embedded(&self, connection: &str) -> bool {
        !self.connections.contains(connection) && (connection == PRIMARY || connection == UPLOADS)
    }

    async fn external(
        &self,
        ctx: &ToolContext,
        args: &QueryDatabaseArgs,
        max_rows: u64,
    ) -> Result<ToolOutput, ToolError> {
        if let Some(search) = columns_question(&args.query) {
            let found = self.connections.tables(&args.connection, search.as_deref()).await;
            return Ok(columns_of(&found.map_err(ToolFailure::from)?));
        }
        if let Some(search) = schema_question(&args.query) {
            let view = self
                .connections
                .schema(&args.connection, search.as_deref())
                .await
                .map_err(ToolFailure::from)?;
            let summary = format!("{} of {} tables of `{}`", view.shown, view.total, args.connection);
            let said = Said::new("tables_of").with("shown", view.shown).with("total", view.total);
            let output = ToolOutput::text(summary, view.text)
                .saying(said.with("connection", args.connection.as_str()));
            return Ok(match args.keep_as {
                Some(_) => output.with_note("keep_as keeps the rows of a query; this list was not kept"),
                None => output,
            });
        }
        if let Some(name) = &args.keep_as {
            return self.kept(ctx, args, max_rows, &kept_name(name)?).await;
        }
        let rows = u32::try_from(max_rows).unwrap_or(u32::MAX);
        let result = self
            .connections
            .query(&args.connection, &args.query, &args.params, rows)
            .await
            .map_err(ToolFailure::from)?;
        Ok(output_of(result, max_rows))
    }

    /// Rows of a database go to a file as they come, and become a table of the conversation in the sandbox.
    async fn kept(
        &self,
        ctx: &ToolContext,
        args: &QueryDatabaseArgs,
        max_rows: u64,
        name: &str,
    ) -> Result<ToolOutput, ToolError> {
        let tables = self.tables()?;
        let dialect =
            self.connections.list().into_iter().find(|c| c.name == args.connection).map(|c| c.dialect);
        let Some(dialect) = dialect else {
            // Its message names the connections there are.
            let none = self.connections.schema(&args.connection, None).await.err();
            let why = none.map_or_else(|| ToolFailure::internal("a connection went away"), Into::into);
            return Err(why.into());
        };
        let spool =
            tempfile::tempdir().map_err(|e| ToolFailure::internal(format!("a folder for rows: {e}")))?;
        let file = spool.path().join("rows");
        let rows = u32::try_from(max_rows).unwrap_or(u32::MAX);
        let mut result = self
            .connections
            .query_into(&args.connection, &[], &args.query, &args.params, rows, &file)
            .await
            .map_err(ToolFailure::from)?;
        let target = self.store.work_dir(&ctx.conversation_id).await?.join(name);
        let owner = ctx.owner.to_string();
        let request =
            KeepRequest { owner: &owner, dialect, rows: &file, columns: &result.columns, target: &target };
        let kept = tables.keep(request).await.map_err(ToolFailure::from)?;
        if let Some(folder) = target.parent() {
            remember_kept(folder, name.trim_end_matches(".parquet"), kept.rows, &kept.columns);
        }
        let cut = std::mem::replace(&mut result.truncated, (result.rows.len() as u64) < kept.rows);
        let mut output =
            self.with_artifact(ctx, output_of(result, max_rows), name, &target, kept.rows).await?;
        if cut {
            output = output.with_note(format!(
                "only the first {} rows were kept (at most 1,000,000 rows and 256 MB); more exist: filter or aggregate in the query",
                kept.rows
            ));
        }
        output.notes.extend(kept.notes);
        Ok(output)
    }

    fn tables(&self) -> Result<&Tables, ToolFailure> {
        self.tables.as_ref().ok_or_else(|| {
            ToolFailure::new(
                ToolErrorType::PermissionError,
                "SANDBOX_UNAVAILABLE",
                "tables of the conversation cannot be made or queried on this server: the sandbox is not available",
            )
        })
    }

    async fn with_artifact(
        &self,
        ctx: &ToolContext,
        output: ToolOutput,
        name: &str,
        file: &Path,
        rows: u64,
    ) -> Result<ToolOutput, ToolError> {
        let artifact = self.store.put_artifact(&ctx.conversation_id, name, file).await?;
        let table = name.trim_end_matches(".parquet");
        let mut output = output
            .with_note(format!("kept as table \"{table}\" ({rows} rows); in run_python: load(\"{table}\")"));
        output.artifacts.push(artifact);
        Ok(output)
    }

    async fn embedded(
        &self,
        ctx: &ToolContext,
        args: &QueryDatabaseArgs,
        max_rows: u64,
    ) -> Result<ToolOutput, ToolError> {
        let known = known_tables(&self.store, &ctx.conversation_id).await?;
        if let Some(search) = schema_question(&args.query) {
            return Ok(describe(&known, search.as_deref()));
        }
        let tables = self.tables()?;
        let folder = self.store.work_dir(&ctx.conversation_id).await?;
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
        let result = tables.query(request).await.map_err(ToolFailure::from)?;
        let (rows, columns) = (result.row_count, result.columns.clone());
        let mut output = output_of(result, max_rows);
        output.data_notes.splice(..0, data_notes);
        match keep {
            Some(name) => {
                remember_kept(&folder, name.trim_end_matches(".parquet"), rows, &columns);
                self.with_artifact(ctx, output, &name, &folder.join(&name), rows).await
            }
            None => Ok(output),
        }
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
    if let Some(search) = shown(sql, "tables") {
        return Some(search);
    }
    let words: Vec<&str> = sql.trim().trim_end_matches(';').split_whitespace().collect();
    let is = |i: usize, word: &str| words.get(i).is_some_and(|w| w.eq_ignore_ascii_case(word));
    if (is(0, "describe") || is(0, "desc")) && words.len() == 2 {
        return Some(Some(clean(words[1])));
    }
    None
}

/// `SHOW COLUMNS` and `SHOW COLUMNS LIKE '%word%'`: the schema as a table, for programs. With `FROM` it is the server's own
/// statement.
fn columns_question(sql: &str) -> Option<Option<String>> {
    shown(sql, "columns")
}

/// `SHOW <what>` or `SHOW <what> LIKE '%word%'`.
fn shown(sql: &str, what: &str) -> Option<Option<String>> {
    let words: Vec<&str> = sql.trim().trim_end_matches(';').split_whitespace().collect();
    let is = |i: usize, word: &str| words.get(i).is_some_and(|w| w.eq_ignore_ascii_case(word));
    match words.len() {
        2 if is(0, "show") && is(1, what) => Some(None),
        4 if is(0, "show") && is(1, what) && is(2, "like") => Some(Some(clean(words[3]))),
        _ => None,
    }
}

fn clean(word: &str) -> String {
    word.trim_matches(['\'', '"', '`', '%']).to_owned()
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
        assert_eq!(columns_question("show columns"), Some(None));
        assert_eq!(columns_question("SHOW COLUMNS LIKE '%订单%';"), Some(Some("订单".into())));
        assert_eq!(columns_question("SHOW COLUMNS FROM t"), None);
        assert_eq!(schema_question("SHOW COLUMNS"), None);
    }

    #[test]
    fn kept_names_are_plain_words() {
        assert_eq!(kept_name("月度汇总").unwrap(), "月度汇总.parquet");
        for bad in ["", "../x", "a b", "upload_001", "a/b", "x'y"] {
            assert!(kept_name(bad).is_err(), "{bad}");
        }
    }
}
