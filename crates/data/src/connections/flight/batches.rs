//! The messages of an Arrow stream, one after the other, into rows. The decoder checks what a server sends; a batch that is
//! not sound ends the answer with an error, and one that makes the decoder itself fail ends only the thread that reads it.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{MessageHeader, convert, root_as_message};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use ba_protocol::table::Column;
use bytes::Bytes;

use super::messages::Data;
use super::values;
use crate::DataError;
use crate::connections::rows::{Flow, Rows};
use crate::connections::zone::Zone;

/// What a stream has told so far.
#[derive(Default)]
pub(super) struct Batches {
    schema: Option<SchemaRef>,
    dictionaries: HashMap<i64, ArrayRef>,
}

impl Batches {
    /// Takes one message in; a batch when it held rows.
    pub(super) fn take(&mut self, data: &Data) -> Result<Option<RecordBatch>, DataError> {
        self.decode(data).map_err(|error| unsound(&error))
    }

    fn decode(&mut self, data: &Data) -> Result<Option<RecordBatch>, ArrowError> {
        if data.header.is_empty() {
            return Ok(None);
        }
        let odd = |what: &str| ArrowError::IpcError(format!("{what} cannot be read"));
        let message = root_as_message(&data.header).map_err(|e| ArrowError::IpcError(e.to_string()))?;
        let body = Buffer::from(data.body.clone());
        let schema = || self.schema.clone().ok_or_else(|| odd("rows before their columns"));
        match message.header_type() {
            MessageHeader::Schema => {
                let schema = message.header_as_schema().ok_or_else(|| odd("the columns"))?;
                self.schema = Some(Arc::new(convert::try_fb_to_schema(schema)?));
                Ok(None)
            }
            MessageHeader::DictionaryBatch => {
                let batch = message.header_as_dictionary_batch().ok_or_else(|| odd("a dictionary"))?;
                let schema = schema()?;
                read_dictionary(&body, batch, &schema, &mut self.dictionaries, &message.version())?;
                Ok(None)
            }
            MessageHeader::RecordBatch => {
                let batch = message.header_as_record_batch().ok_or_else(|| odd("the rows"))?;
                let schema = schema()?;
                read_record_batch(&body, batch, schema, &self.dictionaries, None, &message.version())
                    .map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(super) fn columns(&self) -> Option<Vec<Column>> {
        self.schema.as_deref().map(columns)
    }
}

pub(super) fn columns(schema: &Schema) -> Vec<Column> {
    schema.fields().iter().map(|f| Column::new(f.name(), values::kind(f.data_type()))).collect()
}

/// The columns that a server tells beforehand; none where it does not.
pub(super) fn schema_of(told: &Bytes) -> Option<Schema> {
    convert::try_schema_from_ipc_buffer(told).ok()
}

pub(super) fn push(batch: &RecordBatch, zone: Option<&Zone>, rows: &mut Rows) -> Result<Flow, DataError> {
    for row in 0..batch.num_rows() {
        let cells: Result<Vec<_>, String> =
            batch.columns().iter().map(|column| values::cell(column, row, zone)).collect();
        let cells = cells.map_err(|what| {
            let hint = "CAST it to a text in the query".to_owned();
            DataError::Query {
                code: "TYPE_UNKNOWN".into(),
                message: format!("{what} cannot be shown"),
                hint: Some(hint),
            }
        })?;
        if rows.push(cells)? == Flow::Enough {
            return Ok(Flow::Enough);
        }
    }
    Ok(Flow::More)
}

fn unsound(error: &ArrowError) -> DataError {
    let why = ba_protocol::text::shorten(&error.to_string(), 300);
    DataError::query("BAD_ANSWER", format!("the server's rows cannot be read: {why}"))
}
