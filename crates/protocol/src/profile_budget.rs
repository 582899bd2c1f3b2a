//! How much of a file's profile is kept: a cell of a megabyte is data, not a description of it (SPEC H1).

use serde_json::Value;

use crate::file::{ColumnProfile, FileProfile, TableProfile};
use crate::text::shorten;

/// Characters of one shown value: a cell of the preview, a smallest or largest value, an example.
pub const PROFILE_CELL_CHARS: usize = 300;
/// Bytes of one profile as JSON; over it, previews and examples go.
pub const PROFILE_BYTES: usize = 1024 * 1024;
/// Rows of a preview that stay when a profile is too large.
const FEW_ROWS: usize = 3;

impl FileProfile {
    /// The profile as it is kept: long values cut, and the whole within its budget.
    pub fn within_budget(&self) -> Self {
        let mut kept = self.clone();
        kept.keys.iter_mut().for_each(cut);
        kept.tables.iter_mut().for_each(cut_table);
        if size(&kept) > PROFILE_BYTES {
            kept.tables.iter_mut().for_each(|table| table.preview.truncate(FEW_ROWS));
        }
        if size(&kept) > PROFILE_BYTES {
            for table in &mut kept.tables {
                table.preview.clear();
                for column in &mut table.columns {
                    column.examples.clear();
                    column.top.clear();
                }
            }
        }
        kept
    }
}

fn size(profile: &FileProfile) -> usize {
    serde_json::to_string(profile).map_or(0, |text| text.len())
}

fn cut_table(table: &mut TableProfile) {
    table.preview.iter_mut().flatten().for_each(cut_value);
    table.columns.iter_mut().for_each(cut_column);
    for note in &mut table.notes {
        cut(&mut note.text);
        note.values.values_mut().for_each(cut_value);
    }
}

fn cut_column(column: &mut ColumnProfile) {
    column.min.iter_mut().chain(&mut column.max).for_each(cut_value);
    column.examples.iter_mut().for_each(cut);
    column.top.iter_mut().for_each(|top| cut(&mut top.value));
}

fn cut(text: &mut String) {
    if text.len() > PROFILE_CELL_CHARS {
        *text = shorten(text, PROFILE_CELL_CHARS);
    }
}

fn cut_value(value: &mut Value) {
    match value {
        Value::String(text) => cut(text),
        Value::Array(items) => items.iter_mut().for_each(cut_value),
        Value::Object(fields) => fields.values_mut().for_each(cut_value),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn megabyte_cells_and_thousands_of_columns_fit_the_budget() {
        let column = ColumnProfile {
            name: "说明".into(),
            max: Some(Value::from("z".repeat(900_000))),
            examples: vec!["例".repeat(300_000)],
            ..ColumnProfile::default()
        };
        let row = vec![Value::from("x".repeat(900_000)), serde_json::json!({"a": ["y".repeat(900_000)]})];
        let table = TableProfile { columns: vec![column], preview: vec![row; 20], ..TableProfile::default() };
        let kept = FileProfile { tables: vec![table.clone()], ..FileProfile::default() }.within_budget();
        assert!(size(&kept) < 64 * 1024, "{}", size(&kept));
        assert_eq!(kept.tables[0].preview.len(), 20);
        assert_eq!(kept.tables[0].columns[0].name, "说明");
        let many = FileProfile { tables: vec![kept.tables[0].clone(); 500], ..FileProfile::default() };
        assert!(size(&many.within_budget()) <= PROFILE_BYTES);
    }
}
