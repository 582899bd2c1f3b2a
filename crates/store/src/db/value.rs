//! Values in and out of the database: integers and text only, so that both engines agree on every type.

use ba_protocol::{CodeId, ConversationId, RunId, UploadId, UserId};
use jiff::Timestamp;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef as SqliteValue};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Column, Decode, Row as _, Type, TypeInfo, ValueRef};

use crate::error::{Result, StoreError};

/// A bound parameter. Nulls are typed, as PostgreSQL wants.
#[derive(Debug, Clone)]
pub(crate) enum Param {
    Int(Option<i64>),
    Text(Option<String>),
}

impl From<i64> for Param {
    fn from(v: i64) -> Self {
        Self::Int(Some(v))
    }
}
impl From<u32> for Param {
    fn from(v: u32) -> Self {
        Self::Int(Some(i64::from(v)))
    }
}
impl From<u64> for Param {
    fn from(v: u64) -> Self {
        Self::Int(Some(i64::try_from(v).unwrap_or(i64::MAX)))
    }
}
impl From<bool> for Param {
    fn from(v: bool) -> Self {
        Self::Int(Some(i64::from(v)))
    }
}
impl From<Timestamp> for Param {
    fn from(v: Timestamp) -> Self {
        Self::Int(Some(v.as_microsecond()))
    }
}
impl From<Option<i64>> for Param {
    fn from(v: Option<i64>) -> Self {
        Self::Int(v)
    }
}
impl From<&str> for Param {
    fn from(v: &str) -> Self {
        Self::Text(Some(without_nul(v.to_owned())))
    }
}
impl From<String> for Param {
    fn from(v: String) -> Self {
        Self::Text(Some(without_nul(v)))
    }
}
impl From<Option<String>> for Param {
    fn from(v: Option<String>) -> Self {
        Self::Text(v.map(without_nul))
    }
}

macro_rules! id_param {
    ($($id:ty),*) => { $(
        impl From<&$id> for Param {
            fn from(v: &$id) -> Self {
                Self::Text(Some(v.as_str().to_owned()))
            }
        }
    )* };
}
id_param!(ConversationId, RunId, UserId, UploadId, CodeId);

/// PostgreSQL's TEXT cannot hold NUL; both engines keep the replacement character instead.
fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

/// One row, decoded.
#[derive(Debug, Clone)]
pub(crate) struct Row(Vec<Cell>);

#[derive(Debug, Clone)]
enum Cell {
    Null,
    Int(i64),
    Text(String),
}

impl Row {
    pub(crate) fn int(&self, column: usize) -> Result<i64> {
        match self.0.get(column) {
            Some(Cell::Int(v)) => Ok(*v),
            other => Err(unexpected(column, "an integer", other)),
        }
    }

    /// A count or size: never negative in a sound database.
    pub(crate) fn unsigned(&self, column: usize) -> Result<u64> {
        u64::try_from(self.int(column)?)
            .map_err(|_| StoreError::Corrupt(format!("column {column} is negative")))
    }

    pub(crate) fn u32(&self, column: usize) -> Result<u32> {
        u32::try_from(self.int(column)?)
            .map_err(|_| StoreError::Corrupt(format!("column {column} is out of range")))
    }

    pub(crate) fn flag(&self, column: usize) -> Result<bool> {
        Ok(self.int(column)? != 0)
    }

    pub(crate) fn text(&self, column: usize) -> Result<&str> {
        match self.0.get(column) {
            Some(Cell::Text(v)) => Ok(v),
            other => Err(unexpected(column, "text", other)),
        }
    }

    pub(crate) fn string(&self, column: usize) -> Result<String> {
        self.text(column).map(str::to_owned)
    }

    pub(crate) fn is_null(&self, column: usize) -> bool {
        matches!(self.0.get(column), Some(Cell::Null))
    }

    pub(crate) fn optional_string(&self, column: usize) -> Result<Option<String>> {
        if self.is_null(column) { Ok(None) } else { self.string(column).map(Some) }
    }

    pub(crate) fn time(&self, column: usize) -> Result<Timestamp> {
        Timestamp::from_microsecond(self.int(column)?)
            .map_err(|e| StoreError::Corrupt(format!("column {column} is no time: {e}")))
    }

    pub(crate) fn optional_time(&self, column: usize) -> Result<Option<Timestamp>> {
        if self.is_null(column) { Ok(None) } else { self.time(column).map(Some) }
    }

    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self, column: usize) -> Result<T> {
        Ok(serde_json::from_str(self.text(column)?)?)
    }

    pub(crate) fn optional_json<T: serde::de::DeserializeOwned>(&self, column: usize) -> Result<Option<T>> {
        if self.is_null(column) { Ok(None) } else { self.json(column).map(Some) }
    }

    /// An id as we stored it.
    pub(crate) fn id<T: std::str::FromStr>(&self, column: usize) -> Result<T>
    where
        T::Err: std::fmt::Display,
    {
        self.text(column)?.parse().map_err(|e| StoreError::Corrupt(format!("a stored id is damaged: {e}")))
    }

    pub(super) fn from_sqlite(row: &rusqlite::Row<'_>) -> Result<Self> {
        let cells = (0..row.as_ref().column_count()).map(|column| {
            match row.get_ref(column).map_err(super::sqlite::sqlite_error)? {
                SqliteValue::Null => Ok(Cell::Null),
                SqliteValue::Integer(v) => Ok(Cell::Int(v)),
                SqliteValue::Text(bytes) => String::from_utf8(bytes.to_vec())
                    .map(Cell::Text)
                    .map_err(|e| StoreError::Corrupt(format!("a stored value cannot be read: {e}"))),
                other => Err(StoreError::Corrupt(format!("unexpected column type {}", other.data_type()))),
            }
        });
        cells.collect::<Result<Vec<_>>>().map(Self)
    }

    pub(super) fn from_postgres(row: &PgRow) -> Result<Self> {
        let cells = row.columns().iter().map(|column| {
            let raw = row.try_get_raw(column.ordinal()).map_err(super::database_error)?;
            if raw.is_null() {
                return Ok(Cell::Null);
            }
            match column.type_info().name() {
                "INT8" => decode::<i64, sqlx::Postgres>(raw).map(Cell::Int),
                "INT4" => decode::<i32, sqlx::Postgres>(raw).map(|v| Cell::Int(i64::from(v))),
                "BOOL" => decode::<bool, sqlx::Postgres>(raw).map(|v| Cell::Int(i64::from(v))),
                "TEXT" | "VARCHAR" => decode::<String, sqlx::Postgres>(raw).map(Cell::Text),
                other => Err(StoreError::Corrupt(format!("unexpected column type {other}"))),
            }
        });
        cells.collect::<Result<Vec<_>>>().map(Self)
    }
}

fn decode<'r, T, D>(raw: D::ValueRef<'r>) -> Result<T>
where
    D: sqlx::Database,
    T: Decode<'r, D> + Type<D>,
{
    T::decode(raw).map_err(|e| StoreError::Corrupt(format!("a stored value cannot be read: {e}")))
}

fn unexpected(column: usize, wanted: &str, found: Option<&Cell>) -> StoreError {
    let found = match found {
        None => "nothing",
        Some(Cell::Null) => "null",
        Some(Cell::Int(_)) => "an integer",
        Some(Cell::Text(_)) => "text",
    };
    StoreError::Corrupt(format!("column {column} holds {found}, expected {wanted}"))
}

impl ToSql for Param {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Int(v) => v.to_sql(),
            Self::Text(v) => v.to_sql(),
        }
    }
}

pub(super) fn bind_postgres(
    sql: &'static str,
    params: Vec<Param>,
) -> Query<'static, sqlx::Postgres, PgArguments> {
    params.into_iter().fold(sqlx::query(sql), |query, param| match param {
        Param::Int(v) => query.bind(v),
        Param::Text(v) => query.bind(v),
    })
}
