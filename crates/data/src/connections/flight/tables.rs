//! What a Flight SQL server holds: asked by the protocol's own command, and by SQL where a server does not know that.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;
use bytes::Bytes;
use futures::StreamExt;
use serde_json::Value;
use tonic::Code;

use super::batches::{self, Batches};
use super::client::failed;
use super::{Flight, messages, values};
use crate::DataError;
use crate::connections::rows::{MAX_ANSWER_BYTES, Rows, too_large};
use crate::connections::schema::{self, ColumnInfo, TableInfo};
use crate::guard::{Dialect, FileTable};

/// Tables that are described one by one where a server has no list with columns.
const MAX_ASKED: usize = 500;
const ASKED_AT_ONCE: usize = 4;
const MAX_ROWS: usize = 60_000;

pub(super) async fn list(flight: &Flight) -> Result<Vec<TableInfo>, DataError> {
    match flight.client.info(messages::tables()).await {
        Ok(info) => {
            let mut found = Vec::new();
            for endpoint in info.endpoints {
                for batch in part(flight, endpoint).await? {
                    read(&batch, &mut found);
                }
            }
            Ok(found)
        }
        // Sail has no such command, and says so with either.
        Err(status)
            if matches!(status.code(), Code::Unimplemented | Code::Internal | Code::InvalidArgument) =>
        {
            match flight.dialect {
                Dialect::Spark => by_show(flight).await,
                _ => by_catalog(flight).await,
            }
        }
        Err(status) => Err(failed(&status)),
    }
}

/// Folders of files, each with the columns that the engine finds in it.
pub(super) async fn of_files(flight: &Flight, files: &[FileTable]) -> Result<Vec<TableInfo>, DataError> {
    let described: Vec<_> = files
        .iter()
        .map(|file| async move {
            let sql = format!("SELECT * FROM parquet.{} LIMIT 0", flight.dialect.quoted_name(&file.url));
            let told = flight.begun(messages::statement(&sql)).await.map_err(|s| failed(&s))?;
            let columns = told.schema().map(|s| columns(&s)).unwrap_or_default();
            let name = file.names.first().cloned().unwrap_or_default();
            Ok(TableInfo { name, kind: "table".into(), columns, ..TableInfo::default() })
        })
        .collect();
    let all: Vec<Result<TableInfo, DataError>> =
        futures::stream::iter(described).buffered(ASKED_AT_ONCE).collect().await;
    all.into_iter().collect()
}

async fn part(flight: &Flight, endpoint: messages::Endpoint) -> Result<Vec<RecordBatch>, DataError> {
    let Some(ticket) = endpoint.ticket else { return Ok(Vec::new()) };
    let mut stream = flight.client.rows(ticket).await.map_err(|s| failed(&s))?;
    let (mut batches, mut all, mut size) = (Batches::default(), Vec::new(), 0);
    while let Some(data) = stream.message().await.map_err(|s| failed(&s))? {
        size += data.body.len() + data.header.len();
        if size > MAX_ANSWER_BYTES {
            return Err(too_large());
        }
        all.extend(batches.take(&data)?);
    }
    Ok(all)
}

/// Rows of `catalog_name`, `db_schema_name`, `table_name`, `table_type`, `table_schema`.
fn read(batch: &RecordBatch, found: &mut Vec<TableInfo>) {
    let text = |name: &str, row: usize| {
        let column = batch.column_by_name(name)?.as_string_opt::<i32>()?;
        (!column.is_null(row)).then(|| column.value(row).to_owned())
    };
    for row in 0..batch.num_rows().min(MAX_ROWS) {
        let Some(name) = text("table_name", row) else { continue };
        let schema = text("db_schema_name", row).unwrap_or_default();
        let kind = text("table_type", row).unwrap_or_default().to_lowercase();
        if is_of_the_system(&schema) || kind.contains("system") {
            continue;
        }
        let told = batch.column_by_name("table_schema").and_then(|c| c.as_binary_opt::<i32>());
        let told = told.filter(|c| !c.is_null(row)).map(|c| Bytes::copy_from_slice(c.value(row)));
        let columns =
            told.and_then(|told| batches::schema_of(&told)).map(|s| columns(&s)).unwrap_or_default();
        let name = if schema.is_empty() { name } else { format!("{schema}.{name}") };
        found.push(TableInfo { name, kind: kind_of(&kind), columns, ..TableInfo::default() });
    }
}

fn columns(schema: &Schema) -> Vec<ColumnInfo> {
    let column = |f: &arrow_schema::FieldRef| ColumnInfo {
        name: f.name().clone(),
        kind: values::kind(f.data_type()),
        comment: f.metadata().get("comment").cloned().unwrap_or_default(),
        ..ColumnInfo::default()
    };
    schema.fields().iter().map(column).collect()
}

fn kind_of(told: &str) -> String {
    if told.contains("view") { "view".to_owned() } else { "table".to_owned() }
}

fn is_of_the_system(schema: &str) -> bool {
    let schema = schema.to_lowercase();
    ["information_schema", "sys", "system", "pg_catalog", "mysql"].contains(&schema.as_str())
}

/// Spark's own statements: databases, their tables, and each table's columns from an empty answer.
async fn by_show(flight: &Flight) -> Result<Vec<TableInfo>, DataError> {
    let name = |text: &str| flight.dialect.quoted_name(text);
    let mut found: Vec<(String, String)> = Vec::new();
    for database in texts(flight, "SHOW DATABASES").await?.iter().filter_map(|row| row.first().cloned()) {
        for row in texts(flight, &format!("SHOW TABLES IN {}", name(&database))).await? {
            let [schema, table, ..] = row.as_slice() else { continue };
            if !found.iter().any(|(_, known)| schema.is_empty() && known == table) {
                found.push((schema.clone(), table.clone()));
            }
        }
    }
    found.truncate(MAX_ASKED);
    let described: Vec<_> = found
        .into_iter()
        .map(|(schema, table)| async move {
            let full =
                if schema.is_empty() { name(&table) } else { format!("{}.{}", name(&schema), name(&table)) };
            let told = flight.begun(messages::statement(&format!("SELECT * FROM {full} LIMIT 0"))).await;
            let known = told.ok().and_then(|told| told.schema());
            let shown =
                if matches!(schema.as_str(), "" | "default") { table } else { format!("{schema}.{table}") };
            // A view has no rows of its own that a sample should read; Spark does not tell one from a table here.
            TableInfo {
                name: shown,
                kind: if schema.is_empty() { "view".into() } else { "table".into() },
                columns: known.map(|s| columns(&s)).unwrap_or_default(),
                ..TableInfo::default()
            }
        })
        .collect();
    Ok(futures::stream::iter(described).buffered(ASKED_AT_ONCE).collect().await)
}

async fn by_catalog(flight: &Flight) -> Result<Vec<TableInfo>, DataError> {
    let sql = "SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns \
               ORDER BY table_schema, table_name, ordinal_position LIMIT 60000";
    let mut tables = Vec::new();
    for row in texts(flight, sql).await? {
        let [schema, table, column, kind] = row.as_slice() else { continue };
        if is_of_the_system(schema) {
            continue;
        }
        let table =
            TableInfo { name: format!("{schema}.{table}"), kind: "table".into(), ..TableInfo::default() };
        let column = ColumnInfo { name: column.clone(), kind: kind.clone(), ..ColumnInfo::default() };
        schema::add_column(&mut tables, table, column);
    }
    Ok(tables)
}

async fn texts(flight: &Flight, sql: &str) -> Result<Vec<Vec<String>>, DataError> {
    let mut rows = Rows::in_memory(MAX_ROWS);
    flight.run(messages::statement(sql), &mut rows).await?;
    let text = |value: Value| match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    };
    Ok(rows.rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect())
}
