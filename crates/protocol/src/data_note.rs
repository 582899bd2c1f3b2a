//! Notes on tables that travel with every answer made from them (SPEC B1), whatever the model says.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::file::{Note, NoteLevel, TableProfile};
use crate::ids::UploadId;

/// More than these are no help to anybody.
pub const MAX_DATA_NOTES: usize = 20;

/// Cleaning that is sure, and still changes what a sum means.
const TOLD_STEPS: [&str; 2] = ["totals_left_out", "filled_down"];

/// A note, and the table it is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DataNote {
    pub file_id: UploadId,
    /// Name under which SQL sees it.
    pub table: String,
    #[serde(flatten)]
    pub note: Note,
}

impl DataNote {
    /// What has to be told with figures of this table.
    pub fn of(file_id: &UploadId, table: &TableProfile) -> Vec<DataNote> {
        let told = |n: &&Note| n.level == NoteLevel::Warn || TOLD_STEPS.contains(&n.code.as_str());
        let with_table =
            |n: &Note| DataNote { file_id: file_id.clone(), table: table.name.clone(), note: n.clone() };
        table.notes.iter().filter(told).map(with_table).collect()
    }

    /// `sales: 1 total row left out`; a column that the words do not name is named.
    pub fn line(&self) -> String {
        let Note { text, column, .. } = &self.note;
        match column {
            Some(column) if !text.contains(column.as_str()) => format!("{}: {column}: {text}", self.table),
            _ => format!("{}: {text}", self.table),
        }
    }
}

/// Adds those that are not there yet, up to `MAX_DATA_NOTES`.
pub fn merge(all: &mut Vec<DataNote>, new: &[DataNote]) {
    for note in new {
        if all.len() < MAX_DATA_NOTES && !all.contains(note) {
            all.push(note.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table() -> TableProfile {
        serde_json::from_value(json!({"name": "sales", "rows": 3, "columns": [], "notes": [
            {"code": "delimiter", "level": "step", "text": "delimiter ;"},
            {"code": "totals_left_out", "level": "step", "text": "1 total row left out", "values": {"count": 1}},
            {"code": "unit_mixed", "level": "warn", "text": "金额: units are mixed", "column": "金额"},
        ]}))
        .unwrap()
    }

    #[test]
    fn doubts_and_totals_are_told_and_plain_steps_are_not() {
        let notes = DataNote::of(&UploadId::numbered(1), &table());
        assert_eq!(
            serde_json::to_value(&notes).unwrap(),
            json!([
                {"file_id": "upload_001", "table": "sales", "code": "totals_left_out", "level": "step",
                 "text": "1 total row left out", "values": {"count": 1}},
                {"file_id": "upload_001", "table": "sales", "code": "unit_mixed", "level": "warn",
                 "text": "金额: units are mixed", "column": "金额"},
            ])
        );
        let again: Vec<DataNote> = serde_json::from_value(serde_json::to_value(&notes).unwrap()).unwrap();
        assert_eq!(again, notes);
        assert_eq!(notes[0].line(), "sales: 1 total row left out");
        assert_eq!(notes[1].line(), "sales: 金额: units are mixed");
        let mut unnamed = notes[1].clone();
        unnamed.note.text = "units are mixed".into();
        assert_eq!(unnamed.line(), "sales: 金额: units are mixed");
    }

    #[test]
    fn each_note_comes_once_and_there_is_a_cap() {
        let notes = DataNote::of(&UploadId::numbered(1), &table());
        let mut all = Vec::new();
        merge(&mut all, &notes);
        merge(&mut all, &notes);
        assert_eq!(all, notes);
        for n in 2..100 {
            merge(&mut all, &DataNote::of(&UploadId::numbered(n), &table()));
        }
        assert_eq!(all.len(), MAX_DATA_NOTES);
    }
}
