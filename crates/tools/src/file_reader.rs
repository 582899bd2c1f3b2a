//! `file_reader` (SPEC T2, F4): shows an upload, saved code, an artifact or a file of the conversation's folder.
//! Tables and PDFs are parsed in the sandbox; nothing outside the conversation is readable.

mod answers;
mod facts;
mod find;

use ba_agent::ToolError;
use std::time::Duration;

use async_trait::async_trait;
use ba_agent::tool::{Body, Effects, ResourceUse, StoredData, ToolContext, ToolOutput, TypedTool};
use ba_data::{ReadRequest, Tables};
use ba_protocol::file::{FileProfile, Note, NoteLevel, TableProfile};
use ba_protocol::table::{self, Column};
use ba_protocol::{DataNote, FileFacts, OutputLevel, Said, ToolErrorType, ToolFailure, UploadId};
use ba_store::Store;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use self::find::Found;
use crate::resources::resources;

/// Rows shown unless asked for.
const FIRST_ROWS: u64 = 20;
/// A table of at most so many rows is read whole unless fewer are asked for (SPEC T2).
const WHOLE_ROWS: u64 = 1_000;
const MAX_ROWS: u64 = 10_000;

pub struct FileReader {
    /// `None` when the sandbox is not available: then text and code are still readable.
    pub tables: Option<Tables>,
    pub store: Store,
}

#[derive(Deserialize, JsonSchema)]
pub struct FileReaderArgs {
    /// upload id、code id、产物文件名、对话文件夹内的路径，或 answer_N（第 N 轮的回答原文）。
    pub path: String,
    /// auto, csv, excel, json, text, python, sql, parquet, pdf。
    #[serde(default = "auto")]
    pub format: String,
    /// 文本编码；默认 utf-8，不符时自动检测。
    #[serde(default)]
    pub encoding: Option<String>,
    /// Excel 工作表名或序号（从 0 起）；默认第一个。
    #[serde(default)]
    pub sheet_name: Option<SheetName>,
    /// 读取的行数；默认全部。
    #[serde(default)]
    pub nrows: Option<u64>,
    /// 为 true 时返回表的画像：类型、空值、取值范围、常见值、数据质量说明。
    #[serde(default)]
    pub parse_metadata: bool,
}

#[derive(Deserialize, JsonSchema, Clone)]
#[serde(untagged)]
pub enum SheetName {
    Name(String),
    Index(i64),
}

impl SheetName {
    fn text(&self) -> String {
        match self {
            SheetName::Name(name) => name.clone(),
            SheetName::Index(index) => index.to_string(),
        }
    }
}

fn auto() -> String {
    "auto".to_owned()
}

const FORMATS: [&str; 11] =
    ["auto", "csv", "tsv", "excel", "json", "jsonl", "text", "python", "sql", "parquet", "pdf"];

#[async_trait]
impl TypedTool for FileReader {
    type Args = FileReaderArgs;

    const NAME: &'static str = "file_reader";

    fn description(&self) -> String {
        "读取文件：上传的表格（csv、tsv、xlsx、xls、json、jsonl、parquet）显示行列数、列名与类型、前几行；代码与文本显示内容；pdf 显示文字。\
         parse_metadata 返回完整画像。大量数据请用 query_database 聚合，不要整表读取。"
            .to_owned()
    }

    fn effects(&self, _args: &FileReaderArgs) -> Effects {
        Effects::None
    }

    fn timeout(&self, _args: &FileReaderArgs) -> Duration {
        Duration::from_secs(150)
    }

    async fn run(&self, ctx: &ToolContext, args: FileReaderArgs) -> Result<ToolOutput, ToolError> {
        if !FORMATS.contains(&args.format.as_str()) {
            let message = format!("format must be one of {}", FORMATS.join(", "));
            return Err(ToolFailure::validation("BAD_FORMAT", message).into());
        }
        match find::find(&self.store, &ctx.conversation_id, &args.path).await? {
            Found::Code { file, text } => {
                let facts = facts::saved_code(&file, &text);
                let (name, lines) = (file.filename(), text.lines().count());
                let summary = format!("{name} ({}, {lines} lines)", file.language);
                let said = Said::new("file_code").with("name", name).with("kind", file.language.as_str());
                let body = Body::Code { language: file.language, text };
                let mut output = ToolOutput::new(summary, body).saying(said.with("lines", lines));
                output.file_facts = Some(facts);
                Ok(output)
            }
            Found::Upload { upload, path } => {
                let ready =
                    upload.profile.as_ref().filter(|_| args.format == "auto" && args.encoding.is_none());
                match ready.filter(|p| !p.tables.is_empty() && (p.lines.is_none() || args.means_a_table())) {
                    Some(profile) => {
                        let name = upload.filename.clone();
                        let at = pick(profile, args.sheet_name.as_ref())?;
                        let parquet = self
                            .store
                            .derived_path(&ctx.conversation_id, &upload.file_id, &profile.tables[at].parquet)
                            .await?;
                        let kind = &upload.file_type;
                        let mut output =
                            self.table(ctx, &args, &name, kind, profile, at, Some(parquet)).await?;
                        output.data_notes = DataNote::of(&upload.file_id, &profile.tables[at]);
                        facts::prefer_keys(&mut output, &name, upload.size, profile);
                        Ok(output)
                    }
                    None => self.read(ctx, &args, &upload.filename, path, Some(&upload.file_id)).await,
                }
            }
            Found::Answer { number, round } => Ok(answers::output(number, &round)),
            Found::Work { name, file } => {
                let held = self.sandbox()?.folder().map_err(ToolFailure::from)?;
                let path = copied(file, held.path().join("file")).await?;
                self.read(ctx, &args, &name, path, None).await
            }
            Found::File { name, path } => match stored_web_text(&name) {
                None => self.read(ctx, &args, &name, path, None).await,
                Some(plain) => {
                    let mut output = self.read(ctx, &args, &plain, path, None).await?;
                    // It is as untrusted as when it was fetched, and so is every word derived from it.
                    output.untrusted_source = Some(format!("the web, stored as {name}"));
                    (output.file_facts, output.notes) = (None, Vec::new());
                    Ok(output)
                }
            },
        }
    }
}

/// A copy of an open file under a name that nobody else can change.
async fn copied(
    mut file: std::fs::File,
    path: std::path::PathBuf,
) -> Result<std::path::PathBuf, ToolFailure> {
    let failed = |error: String| ToolFailure::new(ToolErrorType::ResourceError, "STORAGE", error);
    let copy = move || {
        std::io::copy(&mut file, &mut std::fs::File::create(&path)?)?;
        Ok::<_, std::io::Error>(path)
    };
    let copy = tokio::task::spawn_blocking(copy).await.map_err(|error| failed(error.to_string()))?;
    copy.map_err(|error| failed(error.to_string()))
}

/// `web_reader` stores what it read as `….webmd`, `….webcsv` …: the name without the mark.
fn stored_web_text(name: &str) -> Option<String> {
    let (stem, ending) = name.rsplit_once('.')?;
    let plain = ending.strip_prefix("web").filter(|e| ["md", "txt", "csv", "json"].contains(e))?;
    Some(format!("{stem}.{plain}"))
}

impl FileReaderArgs {
    /// A document is its text, unless a table of it is asked for.
    fn means_a_table(&self) -> bool {
        self.sheet_name.is_some() || self.parse_metadata
    }
}

impl FileReader {
    fn sandbox(&self) -> Result<&Tables, ToolFailure> {
        self.tables.as_ref().ok_or_else(|| {
            ToolFailure::new(
                ToolErrorType::PermissionError,
                "SANDBOX_UNAVAILABLE",
                "this file cannot be parsed on this server: the sandbox is not available",
            )
        })
    }

    /// Reads a file that has no profile yet, or as something else than it was ingested as.
    async fn read(
        &self,
        ctx: &ToolContext,
        args: &FileReaderArgs,
        name: &str,
        path: std::path::PathBuf,
        upload: Option<&UploadId>,
    ) -> Result<ToolOutput, ToolError> {
        let size = std::fs::metadata(&path).map(|m| m.len()).unwrap_or_default();
        let shown = args.nrows.unwrap_or(FIRST_ROWS).min(MAX_ROWS);
        let request = ReadRequest {
            path,
            filename: name.to_owned(),
            owner: ctx.owner.to_string(),
            format: Some(args.format.clone()).filter(|f| f != "auto"),
            encoding: args.encoding.clone(),
            sheet: args.sheet_name.as_ref().map(SheetName::text),
            nrows: args.nrows,
            preview: u32::try_from(shown).unwrap_or(u32::MAX),
        };
        let read = self.sandbox()?.read(request).await.map_err(ToolFailure::from)?;
        if !read.profile.tables.is_empty() && (read.text.is_none() || args.means_a_table()) {
            // The reader picked the sheet of a workbook; the tables of a document are all there.
            let at = if read.text.is_some() { pick(&read.profile, args.sheet_name.as_ref())? } else { 0 };
            let mut output = self.table(ctx, args, name, &read.kind, &read.profile, at, None).await?;
            output.resources = resources(&read.usage);
            output.data_notes =
                upload.map(|id| DataNote::of(id, &read.profile.tables[at])).unwrap_or_default();
            facts::prefer_keys(&mut output, name, size, &read.profile);
            return Ok(output);
        }
        let text = read.text.unwrap_or_default();
        let language = facts::language(&read.kind);
        let facts = match (read.kind.as_str(), language) {
            ("json", _) => FileFacts::Json { name: name.to_owned(), size, keys: read.profile.keys.clone() },
            (_, Some(language)) => facts::code(name, language, &text),
            (kind, None) => FileFacts::Other { name: name.to_owned(), file_type: kind.to_owned(), size },
        };
        let lines = read.profile.lines.unwrap_or(text.lines().count() as u64);
        let shown_size = ba_protocol::text::human_size(size);
        let summary = format!("{name} ({}, {lines} lines, {shown_size})", read.kind);
        let said = Said::new("file_text").with("name", name).with("kind", read.kind.as_str());
        let said = said.with("lines", lines).with("size", shown_size);
        let limited = match args.nrows {
            Some(n) => {
                text.lines().take(usize::try_from(n).unwrap_or(usize::MAX)).collect::<Vec<_>>().join("\n")
            }
            None => text.clone(),
        };
        let body = match language {
            Some(language) => Body::Code { language: language.to_owned(), text: limited },
            None => Body::Text(limited),
        };
        let mut output = ToolOutput::new(summary, body).saying(said);
        output.resources = resources(&read.usage);
        output.file_facts = Some(facts);
        output.data = Some(StoredData { bytes: text.into_bytes(), extension: "txt" });
        if !read.profile.tables.is_empty() {
            let shown = read.profile.tables.iter().take(12).enumerate();
            let found: Vec<String> =
                shown.map(|(i, t)| format!("{i}: {} ({} rows)", t.name, t.rows)).collect();
            output.notes.push(format!(
                "the document holds tables, read with sheet_name or SQL: {}",
                found.join(", ")
            ));
        }
        Ok(output)
    }

    #[expect(clippy::too_many_arguments, reason = "one private function that puts a table's answer together")]
    async fn table(
        &self,
        ctx: &ToolContext,
        args: &FileReaderArgs,
        name: &str,
        format: &str,
        profile: &FileProfile,
        at: usize,
        parquet: Option<std::path::PathBuf>,
    ) -> Result<ToolOutput, ToolError> {
        let table = &profile.tables[at];
        let columns: Vec<Column> = table.columns.iter().map(|c| Column::new(&c.name, &c.kind)).collect();
        let wanted = match args.nrows {
            _ if args.parse_metadata => 0,
            Some(n) => n.min(MAX_ROWS),
            None if ctx.level.is_full() || table.rows <= WHOLE_ROWS => MAX_ROWS,
            None => FIRST_ROWS,
        };
        let have = table.preview.len() as u64;
        let (rows, used) = match parquet.filter(|_| wanted.min(table.rows) > have) {
            Some(parquet) => self.rows(ctx, parquet, wanted).await?,
            None => {
                let most = usize::try_from(wanted).unwrap_or(usize::MAX);
                (table.preview.iter().take(most).cloned().collect(), ResourceUse::default())
            }
        };
        let mut summary = format!("{name}: {} rows × {} columns", table.rows, columns.len());
        let mut said = Said::new("file_table").with("rows", table.rows).with("columns", columns.len());
        let at_sheet = table.sheet.as_ref().map(|sheet| format!("{name} · {sheet}"));
        said = said.with("name", at_sheet.unwrap_or_else(|| name.to_owned()));
        if let Some(sheet) = &table.sheet {
            summary.push_str(&format!(", sheet `{sheet}`"));
        }
        let csv = table::encode(&columns, &rows);
        let shown = rows.len() as u64;
        if shown < table.rows && !args.parse_metadata {
            said = Said { code: "file_table_part".to_owned(), ..said }.with("shown", shown);
            // Also said of the stored data, which holds no more.
            summary.push_str(&format!("; the first {shown} of them are here"));
        }
        let total_rows = (shown < table.rows).then_some(table.rows);
        let body = if args.parse_metadata {
            // Programs read the raw form; models the compact one.
            Body::Text(match ctx.level {
                OutputLevel::Raw => metadata(profile, table),
                _ => ba_data::dossier::profile(table, profile.encoding.as_deref()),
            })
        } else {
            let head = Body::Table { columns: column_header(), rows: column_rows(table), total_rows: None };
            let sample = Body::Table { columns: columns.clone(), rows, total_rows };
            Body::Parts(vec![("Columns:".to_owned(), head), (format!("First {shown} rows:"), sample)])
        };
        let mut output = ToolOutput::new(summary, body).saying(said);
        output.evidence = facts::table(table, args.parse_metadata);
        output.notes = notes(profile, table, at);
        output.file_facts = Some(FileFacts::Table {
            name: name.to_owned(),
            format: format.to_owned(),
            rows: table.rows,
            columns: columns.into_iter().map(|c| c.name).collect(),
        });
        if !args.parse_metadata {
            output.data = Some(StoredData { bytes: csv.into_bytes(), extension: "csv" });
        }
        output.resources = used;
        Ok(output)
    }

    async fn rows(
        &self,
        ctx: &ToolContext,
        parquet: std::path::PathBuf,
        n: u64,
    ) -> Result<(Vec<Vec<Value>>, ResourceUse), ToolFailure> {
        let most = u32::try_from(n.max(1)).unwrap_or(u32::MAX);
        let found = self.sandbox()?.first_rows(ctx.owner.as_str(), parquet, most).await?;
        Ok((found.rows, resources(&found.usage)))
    }
}

/// The table that `sheet_name` means.
fn pick(profile: &FileProfile, sheet: Option<&SheetName>) -> Result<usize, ToolFailure> {
    let Some(sheet) = sheet else { return Ok(0) };
    let text = sheet.text();
    let names: Vec<&str> = profile.tables.iter().map(|t| t.sheet.as_deref().unwrap_or(&t.name)).collect();
    let by_name = names.iter().position(|n| n.trim().eq_ignore_ascii_case(text.trim()));
    let by_index = text.trim().parse::<usize>().ok().filter(|i| *i < names.len());
    by_name.or(by_index).ok_or_else(|| {
        let known: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
        ToolFailure::not_found("NO_SUCH_SHEET", format!("no sheet `{text}`; there are: {}", known.join(", ")))
    })
}

fn column_header() -> Vec<Column> {
    ["column", "type", "nulls", "distinct", "min", "max"].map(|n| Column::new(n, "")).to_vec()
}

fn column_rows(table: &TableProfile) -> Vec<Vec<Value>> {
    let row = |c: &ba_protocol::file::ColumnProfile| {
        let kind = c.unit.as_ref().map_or_else(|| c.kind.clone(), |u| format!("{} [{u}]", c.kind));
        let (min, max) = (c.min.clone().unwrap_or_default(), c.max.clone().unwrap_or_default());
        vec![json!(c.name), json!(kind), json!(c.nulls), json!(c.distinct), min, max]
    };
    table.columns.iter().map(row).collect()
}

fn metadata(profile: &FileProfile, table: &TableProfile) -> String {
    let mut shown = table.clone();
    shown.preview.clear();
    shown.parquet.clear();
    (shown.keys, shown.joins) = (Vec::new(), Vec::new());
    for column in &mut shown.columns {
        (column.std, column.q1, column.median, column.q3) = (None, None, None, None);
    }
    let value = json!({"encoding": profile.encoding, "table": shown});
    serde_json::to_string(&value).unwrap_or_default()
}

fn notes(profile: &FileProfile, table: &TableProfile, at: usize) -> Vec<String> {
    let (doubts, steps): (Vec<&Note>, Vec<&Note>) =
        table.notes.iter().partition(|n| n.level == NoteLevel::Warn);
    let mut notes: Vec<String> = doubts.iter().take(12).map(|n| n.text.clone()).collect();
    if !steps.is_empty() {
        let numbered = steps.iter().take(16).enumerate().map(|(i, n)| format!("({}) {}", i + 1, n.text));
        notes.push(format!("cleaning done: {}", numbered.collect::<Vec<_>>().join("; ")));
    }
    if profile.tables.len() > 1 {
        let others = profile.tables.iter().enumerate().filter(|(i, _)| *i != at);
        let others: Vec<String> = others
            .map(|(i, t)| format!("{i}: {} ({} rows)", t.sheet.as_deref().unwrap_or(&t.name), t.rows))
            .collect();
        notes.push(format!("other sheets (sheet_name): {}", others.join(", ")));
    }
    notes
}
