//! Notes on tables that travel with every answer made from them (SPEC B1), whatever the model says; and what checks found
//! in the result of one call (SPEC W3).

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
    /// Absent where the note is about the result of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<UploadId>,
    /// Name under which SQL sees it; empty for a result.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub table: String,
    #[serde(flatten)]
    pub note: Note,
}

impl DataNote {
    /// What has to be told with figures of this table.
    pub fn of(file_id: &UploadId, table: &TableProfile) -> Vec<DataNote> {
        let told = |n: &&Note| n.level == NoteLevel::Warn || TOLD_STEPS.contains(&n.code.as_str());
        let with_table = |n: &Note| DataNote {
            file_id: Some(file_id.clone()),
            table: table.name.clone(),
            note: n.clone(),
        };
        table.notes.iter().filter(told).map(with_table).collect()
    }

    /// What a check found in the result of a call.
    pub fn of_result(note: Note) -> DataNote {
        DataNote { file_id: None, table: String::new(), note }
    }

    /// `sales: 1 total row left out`; a column that the words do not name is named.
    pub fn line(&self) -> String {
        let Note { text, column, .. } = &self.note;
        if self.table.is_empty() {
            return text.clone();
        }
        match column {
            Some(column) if !text.contains(column.as_str()) => format!("{}: {column}: {text}", self.table),
            _ => format!("{}: {text}", self.table),
        }
    }
}

/// Adds those that are not there yet, up to `MAX_DATA_NOTES`. What is said of a result for the model's next step only is
/// not for people.
pub fn merge(all: &mut Vec<DataNote>, new: &[DataNote]) {
    for note in new.iter().filter(|n| n.file_id.is_some() || n.note.level == NoteLevel::Warn) {
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
    fn of_a_result_only_what_makes_a_figure_doubtful_reaches_people() {
        let note = |level| Note {
            code: "join_multiplied".into(),
            level,
            text: "the join multiplied rows".into(),
            column: None,
            values: Default::default(),
        };
        let mut all = Vec::new();
        let found = [NoteLevel::Step, NoteLevel::Warn].map(|level| DataNote::of_result(note(level)));
        merge(&mut all, &found);
        assert_eq!(all, found[1..]);
        assert_eq!(all[0].line(), "the join multiplied rows");
        let wire = serde_json::to_value(&all[0]).unwrap();
        assert!(wire.get("file_id").is_none() && wire.get("table").is_none());
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
