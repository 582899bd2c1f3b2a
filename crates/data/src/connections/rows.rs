//! Where rows of a database go as they come: into memory up to a limit, or into a file up to another. Counts bytes while
//! they arrive, so that no answer grows this process; cuts long cells and says so.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use ba_protocol::table::Column;
use serde::Serializer;
use serde_json::Value;

use super::scrub;
use crate::DataError;

/// An answer larger than this is refused: it would not fit a context anyway.
pub(crate) const MAX_ANSWER_BYTES: usize = 64 << 20;
/// What one row, or one message of an error, may take of this process on its way in, whichever engine sends it.
pub(crate) const MAX_ROW_BYTES: usize = 64 << 20;
/// Longer cells come cut.
pub(crate) const MAX_CELL_CHARS: usize = 100_000;
pub(crate) const MAX_KEPT_ROWS: usize = 1_000_000;
pub(crate) const MAX_KEPT_BYTES: usize = 256 << 20;

/// Whether more rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    More,
    Enough,
}

pub(super) struct Rows {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Value>>,
    /// Rows that came, those in the file included.
    pub count: usize,
    /// There is more than was taken.
    pub more: bool,
    /// Cells that were cut.
    pub cut: usize,
    /// The rows tell of the database itself, and may hold passwords of other servers.
    pub hide_secrets: bool,
    max_rows: usize,
    bytes: usize,
    file: Option<BufWriter<File>>,
    stopped_by_bytes: bool,
}

impl Rows {
    pub(super) fn in_memory(max_rows: usize) -> Self {
        Self {
            columns: Vec::new(),
            rows: Vec::new(),
            count: 0,
            more: false,
            cut: 0,
            hide_secrets: false,
            max_rows,
            bytes: 0,
            file: None,
            stopped_by_bytes: false,
        }
    }

    /// All rows go into the file as JSON lines, the first ones stay to be shown.
    pub(super) fn in_file(path: &Path, shown: usize) -> Result<Self, DataError> {
        let file = File::create(path).map_err(|e| DataError::internal("the kept rows", e))?;
        Ok(Self { file: Some(BufWriter::new(file)), ..Self::in_memory(shown) })
    }

    /// These rows, to be filled elsewhere and put back.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::in_memory(0))
    }

    /// Rows to ask for: one more than wanted tells that there are more.
    pub(super) fn to_ask(&self) -> usize {
        self.row_limit() + 1
    }

    fn row_limit(&self) -> usize {
        if self.file.is_some() { MAX_KEPT_ROWS } else { self.max_rows }
    }

    /// The longest cell: less where a row has so many that together they would be too much.
    pub(super) fn cell_limit(&self) -> usize {
        cell_limit(self.columns.len())
    }

    /// Rows may still be under way on the connection.
    pub(super) fn left_early(&self) -> bool {
        self.stopped_by_bytes
    }

    pub(super) fn push(&mut self, mut row: Vec<Value>) -> Result<Flow, DataError> {
        if self.count >= self.row_limit() {
            self.more = true;
            return Ok(Flow::Enough);
        }
        let limit = self.cell_limit();
        for cell in &mut row {
            if let Value::String(text) = cell
                && self.hide_secrets
            {
                *text = scrub::secrets(text);
            }
            self.cut += usize::from(cut(cell, limit));
        }
        self.bytes += row.iter().map(size).sum::<usize>();
        let most = if self.file.is_some() { MAX_KEPT_BYTES } else { MAX_ANSWER_BYTES };
        if self.bytes > most {
            self.stopped_by_bytes = true;
            self.more = true;
            return if self.file.is_some() { Ok(Flow::Enough) } else { Err(too_large()) };
        }
        self.count += 1;
        if let Some(file) = &mut self.file {
            write_line(file, &row).map_err(|e| DataError::internal("the kept rows", e))?;
        }
        if self.rows.len() < self.max_rows && self.bytes <= MAX_ANSWER_BYTES {
            self.rows.push(row);
        }
        Ok(Flow::More)
    }

    /// Everything is on disk.
    pub(super) fn finish(&mut self) -> Result<(), DataError> {
        match &mut self.file {
            Some(file) => file.flush().map_err(|e| DataError::internal("the kept rows", e)),
            None => Ok(()),
        }
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.cut > 0 {
            let (cells, limit) = (self.cut, self.cell_limit());
            notes.push(format!("{cells} value(s) are longer than {limit} characters and were cut"));
        }
        notes
    }
}

/// One object per line: the columns by their places, so that any name and the same name twice will do.
fn write_line(file: &mut BufWriter<File>, row: &[Value]) -> std::io::Result<()> {
    let cells = row.iter().enumerate().filter(|(_, cell)| !cell.is_null());
    serde_json::Serializer::new(&mut *file).collect_map(cells.map(|(i, cell)| (format!("c{i}"), cell)))?;
    file.write_all(b"\n")
}

pub(super) fn too_large() -> DataError {
    DataError::Query {
        code: "RESULT_TOO_LARGE".into(),
        message: format!("the answer is larger than {} MB", MAX_ANSWER_BYTES >> 20),
        hint: Some("select fewer columns or rows, or left(column, n)".into()),
    }
}

/// One row, or the server's own words, did not fit.
pub(super) fn row_too_large() -> DataError {
    DataError::Query {
        code: "RESULT_TOO_LARGE".into(),
        message: format!(
            "one row of the answer, or the error it ended with, is larger than {} MB",
            MAX_ROW_BYTES >> 20
        ),
        hint: Some("select fewer columns, or left(column, n)".into()),
    }
}

pub(super) fn cell_limit(columns: usize) -> usize {
    MAX_CELL_CHARS.min(MAX_ANSWER_BYTES / 4 / columns.max(1))
}

/// A text of the driver's buffer, copied no further than shows that it is too long.
pub(super) fn clip(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    text.char_indices().nth(limit + 1).map_or(text, |(end, _)| &text[..end])
}

fn cut(cell: &mut Value, limit: usize) -> bool {
    let long = match cell {
        Value::String(text) => {
            let end = (text.len() > limit).then(|| text.char_indices().nth(limit)).flatten();
            let Some((end, _)) = end else { return false };
            text.truncate(end);
            return true;
        }
        Value::Array(_) | Value::Object(_) if size(cell) > limit => cell.to_string(),
        _ => return false,
    };
    if long.chars().count() <= limit {
        return false;
    }
    *cell = Value::from(long.chars().take(limit).collect::<String>());
    true
}

fn size(cell: &Value) -> usize {
    match cell {
        Value::String(text) => text.len() + 8,
        Value::Array(items) => items.iter().map(size).sum::<usize>() + 8,
        Value::Object(map) => map.iter().map(|(k, v)| k.len() + size(v)).sum::<usize>() + 8,
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_bytes_are_counted_as_they_come() {
        let mut rows = Rows::in_memory(2);
        for i in 0..2 {
            assert_eq!(rows.push(vec![Value::from(i)]).unwrap(), Flow::More);
        }
        assert_eq!(rows.push(vec![Value::from(3)]).unwrap(), Flow::Enough);
        assert!(rows.more && rows.rows.len() == 2 && !rows.left_early());

        let mut rows = Rows::in_memory(10_000);
        let long = Value::from("长".repeat(MAX_CELL_CHARS + 5));
        let refused = (0..1_000).find_map(|_| rows.push(vec![long.clone()]).err()).unwrap();
        assert!(matches!(&refused, DataError::Query { code, .. } if code == "RESULT_TOO_LARGE"));
        assert!(rows.left_early() && rows.count < 1_000 && rows.cut == rows.count + 1);
        let kept = rows.rows[0][0].as_str().unwrap();
        assert_eq!(kept.chars().count(), MAX_CELL_CHARS);
    }

    #[test]
    fn a_file_takes_more_than_is_shown_and_no_more_than_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows");
        let mut rows = Rows::in_file(&path, 1).unwrap();
        let row = || vec![Value::from("x".repeat(90_000)), Value::Null, Value::from(1)];
        while rows.push(row()).unwrap() == Flow::More {}
        rows.finish().unwrap();
        assert_eq!((rows.rows.len(), rows.more, rows.left_early()), (1, true, true));
        let written = std::fs::metadata(&path).unwrap().len() as usize;
        assert!((200 << 20..MAX_KEPT_BYTES + (1 << 20)).contains(&written), "{written}");
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), rows.count);
    }

    #[test]
    fn clipping_copies_one_character_too_many_at_most() {
        assert_eq!(clip("销售额", 2), "销售额");
        assert_eq!(clip("销售额度", 2), "销售额");
        assert_eq!(clip("ab", 2), "ab");
    }
}
