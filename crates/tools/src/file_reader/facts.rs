//! What is known of a file beside its content: for its synopsis (SPEC X2), and for the audit of figures (SPEC V).

use ba_agent::tool::{Body, ToolOutput};
use ba_data::outline;
use ba_protocol::file::{FileProfile, TableProfile};
use ba_protocol::table::Column;
use ba_protocol::{CodeFile, FileFacts};
use serde_json::{Value, json};

pub(super) fn code(name: &str, language: &str, text: &str) -> FileFacts {
    let found = outline::outline(language, text);
    FileFacts::Code {
        name: name.to_owned(),
        language: language.to_owned(),
        lines: text.lines().count() as u64,
        functions: found.functions,
        classes: found.classes,
        code_id: None,
        chars: text.chars().count() as u64,
    }
}

/// The same of code that was saved under an id.
pub(super) fn saved_code(file: &CodeFile, text: &str) -> FileFacts {
    let mut facts = code(&file.filename(), &file.language, text);
    if let FileFacts::Code { code_id, .. } = &mut facts {
        *code_id = Some(file.code_id.clone());
    }
    facts
}

/// A JSON document that only holds a table among other things is known by its keys (SPEC X2).
pub(super) fn prefer_keys(output: &mut ToolOutput, name: &str, size: u64, profile: &FileProfile) {
    if let Some(FileFacts::Table { format, columns, .. }) = &output.file_facts
        && format == "json"
        && profile.keys.len() > 1
        && profile.keys != *columns
    {
        output.file_facts = Some(FileFacts::Json { name: name.to_owned(), size, keys: profile.keys.clone() });
    }
}

/// The language of a kind of file, when it is code.
pub(super) fn language(kind: &str) -> Option<&'static str> {
    let found = ba_store::languages::find(kind)?;
    (!matches!(found.name, "markdown" | "json" | "yaml" | "xml" | "html")).then_some(found.name)
}

/// A table's profile as evidence: its size, and a row of facts for every column. `preview` adds the rows that a
/// profile does not show.
pub(super) fn table(table: &TableProfile, preview: bool) -> Vec<Body> {
    let names = [
        "column",
        "rows 行数",
        "nulls 空值",
        "distinct 不同值",
        "min 最小",
        "max 最大",
        "mean 平均",
        "std 标准差",
        "q1 下四分位",
        "median 中位数",
        "q3 上四分位",
    ];
    let fact = |value: &Option<Value>| value.clone().unwrap_or_default();
    let row = |c: &ba_protocol::file::ColumnProfile| {
        let filled = table.rows.saturating_sub(c.nulls);
        let figure = |f: Option<f64>| f.map_or(Value::Null, Value::from);
        vec![
            json!(c.name),
            json!(filled),
            json!(c.nulls),
            json!(c.distinct),
            fact(&c.min),
            fact(&c.max),
            figure(c.mean),
            figure(c.std),
            figure(c.q1),
            figure(c.median),
            figure(c.q3),
        ]
    };
    let mut facts = vec![
        Body::Text(format!("rows 行: {}\ncolumns 列: {}", table.rows, table.columns.len())),
        Body::Table {
            columns: names.map(|n| Column::new(n, "")).to_vec(),
            rows: table.columns.iter().map(row).collect(),
            total_rows: None,
        },
    ];
    for column in table.columns.iter().filter(|c| !c.top.is_empty()) {
        facts.push(Body::Table {
            columns: vec![Column::new(&column.name, ""), Column::new("count 数量", "")],
            rows: column.top.iter().map(|t| vec![json!(t.value), json!(t.count)]).collect(),
            total_rows: Some(column.distinct),
        });
    }
    if preview {
        facts.push(Body::Table {
            columns: table.columns.iter().map(|c| Column::new(&c.name, &c.kind)).collect(),
            rows: table.preview.clone(),
            total_rows: Some(table.rows),
        });
    }
    facts
}
