//! What a call produced, before the pipeline decides how much of it the model sees.

use std::collections::BTreeMap;

use ba_protocol::{Artifact, DataNote, FileFacts, Said};
use serde_json::Value;

pub use ba_protocol::table::Column;

#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// The key fact in one line: all of the brief level, and the page's summary. `Found 10 items`
    pub summary: String,
    /// The same for the page, as a code with values.
    pub said: Option<Said>,
    pub body: Body,
    /// A few words of the body for the brief level, where the key fact alone says too little (a page's beginning).
    pub brief: Option<String>,
    /// Said after the body at every level but brief: truncation, guesses, resets.
    pub notes: Vec<String>,
    pub artifacts: Vec<Artifact>,
    /// Set when a file was read (SPEC X2).
    pub file_facts: Option<FileFacts>,
    /// What must be told with figures of the tables the call used (SPEC B1).
    pub data_notes: Vec<DataNote>,
    /// Facts for the audit of figures that the body does not show (SPEC V); never shown to the model.
    pub evidence: Vec<Body>,
    /// The whole result, to be kept when it is large or the level is full (SPEC E4).
    pub data: Option<StoredData>,
    /// Text from outside (the web): marked as untrusted in the observation, with its source.
    pub untrusted_source: Option<String>,
    /// The body is an approved skill in its own tags, which no other tool may show.
    pub is_skill: bool,
    pub resources: ResourceUse,
    pub metrics: BTreeMap<String, f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    Empty,
    Table {
        columns: Vec<Column>,
        rows: Vec<Vec<Value>>,
        /// Rows there are in all, when more than `rows`.
        total_rows: Option<u64>,
    },
    Text(String),
    /// Lines of source with elision at standard level (SPEC C6).
    Code {
        language: String,
        text: String,
    },
    List(Vec<String>),
    /// Several parts one after the other, each with a title.
    Parts(Vec<(String, Body)>),
}

/// Bytes kept under `tool_data/`.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredData {
    pub bytes: Vec<u8>,
    /// `json`, `csv`, `txt`, `md` …
    pub extension: &'static str,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ResourceUse {
    pub memory_mb: f64,
    pub cpu_percent: f64,
}

impl ToolOutput {
    pub fn new(summary: impl Into<String>, body: Body) -> Self {
        Self {
            summary: summary.into(),
            said: None,
            body,
            brief: None,
            notes: Vec::new(),
            artifacts: Vec::new(),
            file_facts: None,
            data_notes: Vec::new(),
            evidence: Vec::new(),
            data: None,
            untrusted_source: None,
            is_skill: false,
            resources: ResourceUse::default(),
            metrics: BTreeMap::new(),
        }
    }

    pub fn text(summary: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(summary, Body::Text(text.into()))
    }

    pub fn saying(mut self, said: Said) -> Self {
        self.said = Some(said);
        self
    }

    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}
