//! Which tables a statement or a piece of code names. A guess from its words: one too many does no harm, as it only adds
//! a note; nothing is run or refused by it.

use ba_protocol::{DataNote, Upload};

use crate::conversation_tables::KnownTable;

/// Notes on the tables that a statement names.
pub(crate) fn in_sql(sql: &str, known: &[KnownTable]) -> Vec<DataNote> {
    let text = sql.to_lowercase();
    let named =
        known.iter().filter(|t| t.source.names.iter().any(|name| places(&text, name).next().is_some()));
    named.flat_map(|t| t.notes.clone()).collect()
}

/// Notes on the uploads that code names: by file name or id anywhere, by a table's name where a name of data stands.
pub(crate) fn in_code(code: &str, uploads: &[Upload]) -> Vec<DataNote> {
    let text = code.to_lowercase();
    let mut notes = Vec::new();
    for upload in uploads {
        let whole = [upload.file_id.as_str(), &upload.filename];
        let all = whole.iter().any(|name| places(&text, name).next().is_some());
        for table in upload.profile.iter().flat_map(|p| &p.tables) {
            if all || places(&text, &table.name).any(|at| is_data_name(&text[..at])) {
                notes.extend(DataNote::of(&upload.file_id, table));
            }
        }
    }
    notes
}

/// Where a name stands by itself in lower-case text.
fn places<'t>(text: &'t str, name: &str) -> impl Iterator<Item = usize> + 't {
    let name = name.to_lowercase();
    let length = name.len();
    let found: Vec<usize> =
        if name.is_empty() { Vec::new() } else { text.match_indices(&name).map(|(at, _)| at).collect() };
    let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    found
        .into_iter()
        .filter(move |at| !word(text[..*at].chars().next_back()) && !word(text[at + length..].chars().next()))
}

/// After a quote, or after FROM or JOIN: there `data` is a table and not a variable.
fn is_data_name(before: &str) -> bool {
    let last_word = before.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    before.ends_with(['\'', '"', '`'])
        || (before.ends_with(char::is_whitespace) && ["from", "join"].contains(&last_word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn upload(number: u32, filename: &str, table: &str) -> Upload {
        serde_json::from_value(json!({"file_id": format!("upload_{number:03}"), "conversation_id": "conv_a87365d8983d",
            "filename": filename, "file_type": "csv", "size": 1, "sha256": "0", "created_at": "2026-01-01T00:00:00Z",
            "status": "ready", "profile": {"tables": [{"name": table, "rows": 1, "columns": [],
                "notes": [{"code": "unit_mixed", "level": "warn", "text": "units are mixed"}]}]}}))
        .unwrap()
    }

    #[test]
    fn code_names_uploads_by_file_id_or_table() {
        let uploads = [upload(1, "销售.csv", "销售"), upload(2, "data.csv", "data")];
        let named = |code: &str| -> Vec<String> {
            in_code(code, &uploads).iter().map(|n| n.file_id.as_ref().unwrap().to_string()).collect()
        };
        assert_eq!(named("pd.read_csv('销售.csv')"), ["upload_001"]);
        assert_eq!(named("load(\"UPLOAD_002\")"), ["upload_002"]);
        assert_eq!(named("tables['data'].merge(tables[\"销售\"])"), ["upload_001", "upload_002"]);
        assert_eq!(named("duckdb.sql('select 1 from data')"), ["upload_002"]);
        assert_eq!(named("data = 1\nmetadata_x = upload_0023"), [""; 0]);
    }

    #[test]
    fn sql_names_tables_as_whole_words() {
        let known = |name: &str, number: u32| {
            let upload = upload(number, "x.csv", name);
            let table = &upload.profile.as_ref().unwrap().tables[0];
            KnownTable {
                source: ba_data::TableSource { names: vec![name.into()], parquet: "x".into() },
                profile: None,
                about: "",
                notes: DataNote::of(&upload.file_id, table),
                filename: upload.filename.clone(),
            }
        };
        let tables = [known("orders", 1), known("orders_2024", 2), known("销售数据.csv", 3)];
        let named = |sql: &str| -> Vec<String> {
            in_sql(sql, &tables).iter().map(|n| n.file_id.as_ref().unwrap().to_string()).collect()
        };
        assert_eq!(named("SELECT sum(x) FROM Orders"), ["upload_001"]);
        assert_eq!(named("SELECT * FROM orders_2024 o"), ["upload_002"]);
        assert_eq!(named("SELECT * FROM \"销售数据.csv\""), ["upload_003"]);
        assert_eq!(named("SELECT 1"), [""; 0]);
    }
}
