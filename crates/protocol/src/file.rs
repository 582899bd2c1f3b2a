//! Files of a conversation: uploads, code, artifacts, and the facts known about each when it was read.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::ids::{CodeId, ConversationId, UploadId};
use crate::said::Said;

/// How far the ingest of an upload has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum IngestStatus {
    Processing,
    Ready,
    Failed,
}

/// A file a person gave us (SPEC F1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Upload {
    pub file_id: UploadId,
    pub conversation_id: ConversationId,
    pub filename: String,
    pub file_type: String,
    pub size: u64,
    pub sha256: String,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    #[serde(default)]
    pub description: String,
    pub status: IngestStatus,
    /// Why the ingest failed, in words for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The same as a code with values, one of [`crate::said::PROBLEMS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Said>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<FileProfile>,
    /// How it is read, as far as a person chose (SPEC B8).
    #[serde(default, skip_serializing_if = "IngestOptions::is_default")]
    pub ingest_options: IngestOptions,
}

/// Why a file was not read: words for people, and what a page says them by in another language.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unread {
    pub message: String,
    pub said: Said,
}

/// What ingest found in a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FileProfile {
    #[serde(default)]
    pub encoding: Option<String>,
    #[serde(default)]
    pub tables: Vec<TableProfile>,
    /// For files without tables: number of lines of text.
    #[serde(default)]
    pub lines: Option<u64>,
    /// Top-level keys of a JSON object, or functions and classes of code.
    #[serde(default)]
    pub keys: Vec<String>,
}

/// One table (a CSV, or one sheet of a workbook).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TableProfile {
    /// Name under which SQL sees it.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    pub rows: u64,
    pub columns: Vec<ColumnProfile>,
    /// What was done to the table, in order, and what is doubtful about it (SPEC B1, B6).
    #[serde(default)]
    pub notes: Vec<Note>,
    /// First rows, as shown to people.
    #[serde(default)]
    #[schema(value_type = Vec<Vec<Object>>)]
    pub preview: Vec<Vec<Value>>,
    /// Sets of columns whose values name each row once, the narrowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<Vec<String>>,
    /// Columns that were tried against those of the conversation's other tables after ingest (SPEC W1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joins: Vec<TestedJoin>,
    /// Key of the Parquet blob that holds the typed table.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parquet: String,
    /// The same with total rows left in and flagged in `_is_total` (SPEC B2); only where there are such rows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub with_totals: String,
}

impl TableProfile {
    /// The Parquet files it consists of.
    pub fn files(&self) -> Vec<&str> {
        let both = [self.parquet.as_str(), self.with_totals.as_str()];
        both.into_iter().filter(|name| !name.is_empty()).collect()
    }
}

/// Two columns with values in common, counted row by row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TestedJoin {
    pub column: String,
    pub other_file: UploadId,
    pub other_table: String,
    pub other_column: String,
    /// Share of this table's rows that find a partner.
    pub covered: f64,
    /// Share of the other table's rows that find one here.
    pub other_covered: f64,
    /// Most rows of the other table that one row of this one meets.
    pub fan_out: u64,
    /// Most rows of this table that one row of the other meets.
    pub other_fan_out: u64,
}

/// One thing ingest did to a table, or found doubtful. The code is stable and the values are what the words hold, so that
/// a page can say it in the reader's language.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(from = "NoteWire")]
pub struct Note {
    pub code: String,
    pub level: NoteLevel,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub values: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum NoteLevel {
    /// Cleaning that was done and is sure.
    #[default]
    Step,
    /// A figure of this table could be wrong because of it: shown with every answer that uses the table.
    Warn,
}

/// Profiles stored before notes had codes hold plain sentences.
#[derive(Deserialize)]
#[serde(untagged)]
enum NoteWire {
    Words(String),
    Coded {
        code: String,
        #[serde(default)]
        level: NoteLevel,
        text: String,
        #[serde(default)]
        column: Option<String>,
        #[serde(default)]
        values: Map<String, Value>,
    },
}

impl From<NoteWire> for Note {
    fn from(wire: NoteWire) -> Self {
        match wire {
            NoteWire::Words(text) => {
                Note { code: "note".into(), level: NoteLevel::Step, text, column: None, values: Map::new() }
            }
            NoteWire::Coded { code, level, text, column, values } => {
                Note { code, level, text, column, values }
            }
        }
    }
}

/// What a person chose about how a file is read (SPEC B8); what is not chosen is found out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IngestOptions {
    /// A codec's name, e.g. `big5`.
    #[schema(example = "big5")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Counted from 1 as in a spreadsheet; 0 says that there is no header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header_row: Option<u32>,
    /// Only this sheet, by name or index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// Column name → what it holds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, ColumnChoice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ColumnChoice {
    Text,
    Number,
    Date,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ColumnProfile {
    pub name: String,
    /// DuckDB type name.
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub nulls: u64,
    #[serde(default)]
    pub distinct: u64,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub min: Option<Value>,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub max: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Of a sample (n − 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub std: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q1: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q3: Option<f64>,
    #[serde(default)]
    pub top: Vec<TopValue>,
    #[serde(default)]
    pub examples: Vec<String>,
    /// Unit found in the cells, e.g. `%` or `¥`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TopValue {
    pub value: String,
    pub count: u64,
}

/// Saved code (SPEC C4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CodeFile {
    pub code_id: CodeId,
    pub conversation_id: ConversationId,
    pub version: u32,
    pub language: String,
    pub description: String,
    /// `data/{code_id}.{ext}`
    pub file_path: String,
    pub line_count: u64,
    pub char_count: u64,
    pub size: u64,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
}

impl CodeFile {
    /// The name people see: `sales_analysis.py`.
    pub fn filename(&self) -> String {
        let ext = self.file_path.rsplit_once('.').map_or("txt", |(_, e)| e);
        format!("{}.{ext}", self.code_id.as_str().trim_start_matches("code_"))
    }
}

/// A file a tool produced (SPEC F3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Artifact {
    pub name: String,
    pub file_type: String,
    pub size: u64,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
}

/// Facts kept when a file was read, from which its synopsis is made (SPEC X2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FileFacts {
    Code {
        name: String,
        language: String,
        lines: u64,
        functions: Vec<String>,
        classes: Vec<String>,
        /// Of saved code: which (SPEC M4, `code_retrieved`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code_id: Option<CodeId>,
        #[serde(default)]
        chars: u64,
    },
    Table {
        name: String,
        format: String,
        rows: u64,
        columns: Vec<String>,
    },
    Json {
        name: String,
        size: u64,
        keys: Vec<String>,
    },
    Other {
        name: String,
        file_type: String,
        size: u64,
    },
}
